/* The native kernels, one translation unit. Every folder beside this file but `common` and `threads` is a kernel: its
   kernels.inc is compiled once for each ISA variant, and the best that the processor can run is chosen when the library
   is loaded. tools/building/native_kernels.py lists the folders: in DML_FOR_KERNELS, and as files that include one part
   of each. */

/* Tells the files that follow that all they need is here: one that is opened alone includes common/editor.h. */
#define DML_UNIT
#include "common/compiler.h"
#include "common/assert.h"
#include "common/dimensions.h"
#include "common/log.h"
#include "threads/team.h"
#include "threads/helpers.h"
#include "threads/parallel.h"
#include "threads/barrier.h"
#include "threads/work_stack.h"

/* A dispatch table for each kernel, by which its C file calls the chosen variant of its kernels.inc. */
#include DML_TABLES
#define DML_MEMBER(kernel) const dml_##kernel##_table *kernel;
typedef struct {
    DML_FOR_KERNELS(DML_MEMBER)
} dml_dispatch_table;
#define DML_ENTRY(kernel) .kernel = &KERNEL(kernel##_table),

#define DML_SUFFIX _baseline
#include DML_KERNELS
static const dml_dispatch_table KERNEL(dml_dispatch_table) = {DML_FOR_KERNELS(DML_ENTRY)};
#undef DML_SUFFIX

#if defined(__x86_64__)
#define DML_HAS_AVX2 1
#define DML_AVX2 1
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c")
#endif
#define DML_SUFFIX _avx2
#include DML_KERNELS
static const dml_dispatch_table KERNEL(dml_dispatch_table) = {DML_FOR_KERNELS(DML_ENTRY)};
#undef DML_SUFFIX
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#define DML_AVX512 1
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c,avx512f,avx512dq,avx512bw,avx512vl"))), \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c,avx512f,avx512dq,avx512bw,avx512vl")
#endif
#define DML_SUFFIX _avx512
#include DML_AVX512_KERNELS
#undef DML_SUFFIX
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

/* Products of bytes, four at a time. */
#define DML_VNNI 1
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c,avx512f,avx512dq,avx512bw,avx512vl,avx512vnni"))), \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c,avx512f,avx512dq,avx512bw,avx512vl,avx512vnni")
#endif
#define DML_SUFFIX _vnni
#include "conv/int8.inc"
#undef DML_SUFFIX
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

/* The same in tiles. */
#if defined(__linux__) && (defined(__clang__) ? __clang_major__ >= 12 : __GNUC__ >= 11)
#define DML_HAS_AMX 1
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,amx-tile,amx-int8"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,amx-tile,amx-int8")
#endif
#include "conv/amx.h"
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
#undef DML_VNNI
#undef DML_AVX512
#undef DML_AVX2

static dml_dispatch_table dml_dispatch_table_avx512;
static dml_conv_table dml_conv_avx512;
static dml_reduce_table dml_reduce_avx512;
static dml_reduce_kernel dml_reduce_kernels_avx512[DML_FOLDS][DML_TYPES];
static dml_dispatch_table dml_dispatch_table_amx;
static dml_conv_table dml_conv_amx;
static dml_conv_bytes_table dml_conv_bytes_amx;
#endif

static const dml_dispatch_table *dml_dispatch = &dml_dispatch_table_baseline;
static const char *dml_isa_name = "baseline";

/* The ISA variants, the best first. */
typedef struct {
    const char *name;
    const dml_dispatch_table *kernels;
} dml_isa;
static const dml_isa dml_isas[] = {
#if defined(DML_HAS_AVX2)
    {"amx", &dml_dispatch_table_amx},
    {"avx512", &dml_dispatch_table_avx512},
    {"avx2", &dml_dispatch_table_avx2},
#endif
    {"baseline", &dml_dispatch_table_baseline},
};
enum { DML_ISA_COUNT = sizeof dml_isas / sizeof *dml_isas };

/* How many of the variants, from the last on, the processor can run. */
static int dml_supported_isas(void)
{
    int able = 1;
#if defined(DML_HAS_AVX2)
    /* clang does not know the feature f16c by name. */
    unsigned int a, b, c = 0, d;
    __builtin_cpu_init();
    __get_cpuid(1, &a, &b, &c, &d);
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && (c & bit_F16C))
        able = 2;
    if (able == 2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        able = 3;
#if defined(DML_HAS_AMX)
    uint64_t saved = 0;
    if (able == 3 && __builtin_cpu_supports("avx512vnni") && __get_cpuid_count(7, 0, &a, &b, &c, &d) &&
        (d >> DML_AMX_TILE_BIT & 1) && (d >> DML_AMX_INT8_BIT & 1) &&
        syscall(SYS_arch_prctl, DML_AMX_SUPPORTED, &saved) == 0 && (saved >> DML_AMX_TILES & 1))
        able = 4;
#endif
#endif
    return able;
}

int dml_use_isa(const char *name)
{
    for (int i = DML_ISA_COUNT - dml_supported_isas(); i < DML_ISA_COUNT; i++)
        if (!name || strcmp(dml_isas[i].name, name) == 0) {
            dml_dispatch = dml_isas[i].kernels;
            dml_isa_name = dml_isas[i].name;
            return 1;
        }
    return 0;
}

void dml_set_stream_bytes(int64_t bytes)
{
    dml_stream_bytes = bytes;
}

int64_t dml_get_stream_bytes(void)
{
    return dml_stream_bytes;
}

__attribute__((constructor)) static void dml_choose_isa(void)
{
#if defined(_SC_LEVEL3_CACHE_SIZE)
    /* A larger one is that of many cores: far from each, and full of what others have there. */
    int64_t last_cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    if (last_cache > 0 && last_cache <= 64 << 20)
        dml_stream_bytes = last_cache / 2;
#endif
#if defined(DML_HAS_AVX2)
    __builtin_cpu_init();
    dml_dispatch_table_avx512 = dml_dispatch_table_avx2;
#define DML_SET_AVX512(kernel) dml_dispatch_table_avx512.kernel = &kernel##_table_avx512;
    DML_FOR_AVX512_KERNELS(DML_SET_AVX512)
#undef DML_SET_AVX512
    memcpy(dml_reduce_kernels_avx512, reduce_table_avx2.kernels, sizeof dml_reduce_kernels_avx512);
    dml_reduce_kernels_avx512[DML_REDUCE_SUM][DML_TYPE_FLOAT32] = reduce_sum_avx512;
    dml_reduce_kernels_avx512[DML_REDUCE_EXP][DML_TYPE_FLOAT32] = reduce_exp_avx512;
    dml_reduce_avx512 = reduce_table_avx2;
    dml_reduce_avx512.logs = reduce_logs_avx512;
    dml_reduce_avx512.kernels = (const dml_reduce_kernel(*)[DML_TYPES])dml_reduce_kernels_avx512;
    dml_dispatch_table_avx512.reduce = &dml_reduce_avx512;
    if (__builtin_cpu_supports("avx512vnni")) {
        dml_conv_avx512 = conv_table_avx512;
        dml_conv_avx512.bytes = &conv_bytes_table_vnni;
        dml_dispatch_table_avx512.conv = &dml_conv_avx512;
    }
    dml_dispatch_table_amx = dml_dispatch_table_avx512;
#if defined(DML_HAS_AMX)
    dml_conv_bytes_amx = conv_bytes_table_vnni;
    dml_conv_bytes_amx.multiply = dml_amx_multiply;
    dml_conv_amx = conv_table_avx512;
    dml_conv_amx.bytes = &dml_conv_bytes_amx;
    dml_dispatch_table_amx.conv = &dml_conv_amx;
#endif
#endif
    dml_use_isa(NULL);
}

const char *dml_chosen_isa(void)
{
    return dml_isa_name;
}

void dml_use_baseline_isa(void)
{
    dml_use_isa("baseline");
}

#include DML_SOURCES
#include "common/launch.h"
