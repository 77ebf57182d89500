/* The contexts: for each instruction set, one flat table of the kernels that are the best on it.
   tools/building/kernel_list.py says what each kernel is compiled for; where longer vectors gain nothing, a context has
   the kernel of an older set. */

#include "context.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(DML_HAS_AMX)
#include <sys/syscall.h>
#endif

#include "common/amx.h"
#include "common/declarations.h"

/* Kernels that gain nothing by the longest vectors are those of the `narrow` instruction set. */
#define DML_KERNELS(narrow, wide)                                                                                      \
    .conv = &dml_conv_table_##wide,                                                                                    \
    .depthwise_pool = &dml_depthwise_pool_table_##wide,                                                                \
    .elementwise = &dml_elementwise_table_##wide,                                                                      \
    .fill = &dml_fill_table_##narrow,                                                                                  \
    .gather_scatter_nd = &dml_gather_scatter_nd_table_##narrow,                                                        \
    .half = &dml_half_table_##wide,                                                                                    \
    .matmul = &dml_matmul_table_##wide,                                                                                \
    .move = &dml_move_table_##narrow,                                                                                  \
    .nonzero = &dml_nonzero_table_##narrow,                                                                            \
    .reduce = &dml_reduce_table_##narrow,                                                                              \
    .reduce_float32 = &dml_reduce_float32_table_##wide,                                                                \
    .resample = &dml_resample_table_##wide,                                                                            \
    .scan = &dml_scan_table_##narrow,                                                                                  \
    .softmax_norm = &dml_softmax_norm_table_##wide,                                                                    \
    .top_k = &dml_top_k_table_##narrow

static const dml_context dml_context_baseline = {
    .isa = "baseline",
    .conv_bytes = &dml_conv_bytes_table_baseline,
    DML_KERNELS(baseline, baseline),
};

/* The build defines DML_HAS_... for an instruction set that the compiler knows. */
#if defined(__x86_64__) && defined(DML_HAS_AVX2)
static const dml_context dml_context_avx2 = {
    .isa = "avx2",
    .conv_bytes = &dml_conv_bytes_table_avx2,
    DML_KERNELS(avx2, avx2),
};

static int dml_supports_avx2(void)
{
    /* clang does not know the feature f16c by name. */
    unsigned int a, b, c = 0, d;
    __get_cpuid(1, &a, &b, &c, &d);
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && (c & bit_F16C);
}
#endif

#if defined(__x86_64__) && defined(DML_HAS_AVX512)
static const dml_context dml_context_avx512 = {
    .isa = "avx512",
    .conv_bytes = &dml_conv_bytes_table_avx512,
    DML_KERNELS(avx2, avx512),
};

static int dml_supports_avx512(void)
{
    return dml_supports_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}
#endif

#if defined(__x86_64__) && defined(DML_HAS_VNNI)
static const dml_context dml_context_vnni = {
    .isa = "avx512",
    .conv_bytes = &dml_conv_bytes_table_vnni,
    DML_KERNELS(avx2, avx512),
};

static int dml_supports_vnni(void)
{
    return dml_supports_avx512() && __builtin_cpu_supports("avx512vnni");
}
#endif

#if defined(__x86_64__) && defined(DML_HAS_AMX)
static const dml_context dml_context_amx = {
    .isa = "amx",
    .conv_bytes = &dml_conv_bytes_table_vnni,
    .conv_multiply_bytes = dml_conv_multiply_bytes_amx,
    DML_KERNELS(avx2, avx512),
};

/* The bits of leaf 7 of CPUID for AMX. */
enum { DML_AMX_TILE_BIT = 24, DML_AMX_INT8_BIT = 25 };

static int dml_supports_amx(void)
{
    unsigned int a, b, c, d;
    uint64_t saved = 0;
    return dml_supports_vnni() && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d >> DML_AMX_TILE_BIT & 1) &&
           (d >> DML_AMX_INT8_BIT & 1) && syscall(SYS_arch_prctl, DML_AMX_SUPPORTED, &saved) == 0 &&
           (saved >> DML_AMX_TILES & 1);
}
#endif
#undef DML_KERNELS

/* The contexts, the best first, and whether the processor supports them, as it does the last one. Of several with one
   name, the first that is supported is chosen. */
static const struct {
    const dml_context *context;
    int (*is_supported)(void);
} dml_contexts[] = {
#if defined(__x86_64__) && defined(DML_HAS_AMX)
    {&dml_context_amx, dml_supports_amx},
#endif
#if defined(__x86_64__) && defined(DML_HAS_VNNI)
    {&dml_context_vnni, dml_supports_vnni},
#endif
#if defined(__x86_64__) && defined(DML_HAS_AVX512)
    {&dml_context_avx512, dml_supports_avx512},
#endif
#if defined(__x86_64__) && defined(DML_HAS_AVX2)
    {&dml_context_avx2, dml_supports_avx2},
#endif
    {&dml_context_baseline, NULL},
};
enum { DML_CONTEXT_COUNT = sizeof dml_contexts / sizeof *dml_contexts };

const dml_context *dml_dispatch = &dml_context_baseline;
int64_t dml_stream_bytes = 8 << 20;

int dml_use_isa(const char *name)
{
    for (int i = 0; i < DML_CONTEXT_COUNT; i++) {
        const dml_context *context = dml_contexts[i].context;
        int (*is_supported)(void) = dml_contexts[i].is_supported;
        if ((!name || strcmp(context->isa, name) == 0) && (!is_supported || is_supported())) {
            dml_dispatch = context;
            return 1;
        }
    }
    return 0;
}

int64_t dml_set_stream_bytes(int64_t bytes)
{
    int64_t before = dml_stream_bytes;
    dml_stream_bytes = bytes;
    return before;
}

__attribute__((constructor)) static void dml_choose_isa(void)
{
#if defined(_SC_LEVEL3_CACHE_SIZE)
    /* A larger cache is shared by many cores: far from each of them, and full of other data. */
    int64_t last_cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    if (last_cache > 0 && last_cache <= 64 << 20)
        dml_stream_bytes = last_cache / 2;
#endif
#if defined(__x86_64__)
    __builtin_cpu_init();
#endif
    dml_use_isa(NULL);
}

const char *dml_chosen_isa(void)
{
    return dml_dispatch->isa;
}
