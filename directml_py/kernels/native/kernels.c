/* The native loops, one translation unit. Every folder beside this file but `common` and `threads` is a loop: its
   kernels.inc is compiled once for each kind of processor, and the best that the processor at hand can run is chosen
   when the library is loaded. tools/building/native_kernels.py lists the folders: in DML_FOR_LOOPS, and as files that
   include one part of each. */

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

/* What the rest of a loop calls its kernels.inc by: the table of the chosen processor. */
#include DML_TABLES
#define DML_MEMBER(loop) const dml_##loop##_table *loop;
typedef struct {
    DML_FOR_LOOPS(DML_MEMBER)
} dml_loops;
#define DML_ENTRY(loop) .loop = &LOOP(loop##_table),

#define DML_SUFFIX _baseline
#include DML_LOOPS
static const dml_loops LOOP(dml_loops) = {DML_FOR_LOOPS(DML_ENTRY)};
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
#include DML_LOOPS
static const dml_loops LOOP(dml_loops) = {DML_FOR_LOOPS(DML_ENTRY)};
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
#include DML_AVX512_LOOPS
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

static dml_loops dml_loops_avx512;
static dml_conv_table dml_conv_avx512;
static dml_reduce_table dml_reduce_avx512;
static dml_reduce_kernel dml_reduce_kernels_avx512[DML_FOLDS][DML_TYPES];
static dml_loops dml_loops_amx;
static dml_conv_table dml_conv_amx;
static dml_conv_bytes_table dml_conv_bytes_amx;
#endif

static const dml_loops *dml_loop = &dml_loops_baseline;
static const char *dml_processor = "baseline";

/* The kinds of processors, the best first, and the loops that were made for them. */
typedef struct {
    const char *name;
    const dml_loops *loops;
} dml_kind;
static const dml_kind dml_kinds[] = {
#if defined(DML_HAS_AVX2)
    {"amx", &dml_loops_amx},
    {"avx512", &dml_loops_avx512},
    {"avx2", &dml_loops_avx2},
#endif
    {"baseline", &dml_loops_baseline},
};
enum { DML_KINDS = sizeof dml_kinds / sizeof *dml_kinds };

/* How many of the kinds, from the last on, the processor at hand can run. */
static int dml_able(void)
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

int dml_use_loops(const char *kind)
{
    for (int i = DML_KINDS - dml_able(); i < DML_KINDS; i++)
        if (!kind || strcmp(dml_kinds[i].name, kind) == 0) {
            dml_loop = dml_kinds[i].loops;
            dml_processor = dml_kinds[i].name;
            return 1;
        }
    return 0;
}

__attribute__((constructor)) static void dml_choose_loops(void)
{
#if defined(DML_HAS_AVX2)
    __builtin_cpu_init();
    dml_loops_avx512 = dml_loops_avx2;
#define DML_LONG(loop) dml_loops_avx512.loop = &loop##_table_avx512;
    DML_FOR_AVX512_LOOPS(DML_LONG)
#undef DML_LONG
    memcpy(dml_reduce_kernels_avx512, reduce_table_avx2.kernels, sizeof dml_reduce_kernels_avx512);
    dml_reduce_kernels_avx512[DML_REDUCE_SUM][DML_TYPE_FLOAT32] = reduce_sum_avx512;
    dml_reduce_kernels_avx512[DML_REDUCE_EXP][DML_TYPE_FLOAT32] = reduce_exp_avx512;
    dml_reduce_avx512 = reduce_table_avx2;
    dml_reduce_avx512.logs = reduce_logs_avx512;
    dml_reduce_avx512.kernels = (const dml_reduce_kernel(*)[DML_TYPES])dml_reduce_kernels_avx512;
    dml_loops_avx512.reduce = &dml_reduce_avx512;
    if (__builtin_cpu_supports("avx512vnni")) {
        dml_conv_avx512 = conv_table_avx512;
        dml_conv_avx512.bytes = &conv_bytes_table_vnni;
        dml_loops_avx512.conv = &dml_conv_avx512;
    }
    dml_loops_amx = dml_loops_avx512;
#if defined(DML_HAS_AMX)
    dml_conv_bytes_amx = conv_bytes_table_vnni;
    dml_conv_bytes_amx.multiply = dml_amx_multiply;
    dml_conv_amx = conv_table_avx512;
    dml_conv_amx.bytes = &dml_conv_bytes_amx;
    dml_loops_amx.conv = &dml_conv_amx;
#endif
#endif
    dml_use_loops(NULL);
}

const char *dml_chosen_loops(void)
{
    return dml_processor;
}

void dml_use_baseline_loops(void)
{
    dml_use_loops("baseline");
}

#include DML_SOURCES
#include "common/launch.h"
