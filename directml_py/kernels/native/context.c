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

#include "common/declarations.h"

static const dml_context dml_context_baseline = {
    .isa = "baseline",
    .arange = &dml_arange_table_baseline,
    .conv = &dml_conv_table_baseline,
    .conv_bytes = &dml_conv_bytes_table_baseline,
    .depthwise_pool = &dml_depthwise_pool_table_baseline,
    .elementwise = &dml_elementwise_table_baseline,
    .gather = &dml_gather_table_baseline,
    .gather_scatter_nd = &dml_gather_scatter_nd_table_baseline,
    .half = &dml_half_table_baseline,
    .matmul = &dml_matmul_table_baseline,
    .move = &dml_move_table_baseline,
    .nonzero = &dml_nonzero_table_baseline,
    .philox = &dml_philox_table_baseline,
    .reduce = &dml_reduce_table_baseline,
    .reduce_float32 = &dml_reduce_float32_table_baseline,
    .resample = &dml_resample_table_baseline,
    .scan = &dml_scan_table_baseline,
    .softmax_norm = &dml_softmax_norm_table_baseline,
    .top_k = &dml_top_k_table_baseline,
};

/* The build defines DML_HAS_... for an instruction set that the compiler knows. */
#if defined(__x86_64__) && defined(DML_HAS_AVX2)
static const dml_context dml_context_avx2 = {
    .isa = "avx2",
    .arange = &dml_arange_table_avx2,
    .conv = &dml_conv_table_avx2,
    .conv_bytes = &dml_conv_bytes_table_avx2,
    .depthwise_pool = &dml_depthwise_pool_table_avx2,
    .elementwise = &dml_elementwise_table_avx2,
    .gather = &dml_gather_table_avx2,
    .gather_scatter_nd = &dml_gather_scatter_nd_table_avx2,
    .half = &dml_half_table_avx2,
    .matmul = &dml_matmul_table_avx2,
    .move = &dml_move_table_avx2,
    .nonzero = &dml_nonzero_table_avx2,
    .philox = &dml_philox_table_avx2,
    .reduce = &dml_reduce_table_avx2,
    .reduce_float32 = &dml_reduce_float32_table_avx2,
    .resample = &dml_resample_table_avx2,
    .scan = &dml_scan_table_avx2,
    .softmax_norm = &dml_softmax_norm_table_avx2,
    .top_k = &dml_top_k_table_avx2,
};
#endif

#if defined(__x86_64__) && defined(DML_HAS_AVX512)
static const dml_context dml_context_avx512 = {
    .isa = "avx512",
    .arange = &dml_arange_table_avx2,
    .conv = &dml_conv_table_avx512,
    .conv_bytes = &dml_conv_bytes_table_avx512,
    .depthwise_pool = &dml_depthwise_pool_table_avx512,
    .elementwise = &dml_elementwise_table_avx512,
    .gather = &dml_gather_table_avx2,
    .gather_scatter_nd = &dml_gather_scatter_nd_table_avx2,
    .half = &dml_half_table_avx512,
    .matmul = &dml_matmul_table_avx512,
    .move = &dml_move_table_avx2,
    .nonzero = &dml_nonzero_table_avx2,
    .philox = &dml_philox_table_avx2,
    .reduce = &dml_reduce_table_avx2,
    .reduce_float32 = &dml_reduce_float32_table_avx512,
    .resample = &dml_resample_table_avx512,
    .scan = &dml_scan_table_avx2,
    .softmax_norm = &dml_softmax_norm_table_avx512,
    .top_k = &dml_top_k_table_avx2,
};
#endif

#if defined(__x86_64__) && defined(DML_HAS_VNNI)
static const dml_context dml_context_vnni = {
    .isa = "avx512",
    .arange = &dml_arange_table_avx2,
    .conv = &dml_conv_table_avx512,
    .conv_bytes = &dml_conv_bytes_table_vnni,
    .depthwise_pool = &dml_depthwise_pool_table_avx512,
    .elementwise = &dml_elementwise_table_avx512,
    .gather = &dml_gather_table_avx2,
    .gather_scatter_nd = &dml_gather_scatter_nd_table_avx2,
    .half = &dml_half_table_avx512,
    .matmul = &dml_matmul_table_avx512,
    .move = &dml_move_table_avx2,
    .nonzero = &dml_nonzero_table_avx2,
    .philox = &dml_philox_table_avx2,
    .reduce = &dml_reduce_table_avx2,
    .reduce_float32 = &dml_reduce_float32_table_avx512,
    .resample = &dml_resample_table_avx512,
    .scan = &dml_scan_table_avx2,
    .softmax_norm = &dml_softmax_norm_table_avx512,
    .top_k = &dml_top_k_table_avx2,
};
#endif

#if defined(__x86_64__) && defined(DML_HAS_AMX)
static const dml_context dml_context_amx = {
    .isa = "amx",
    .arange = &dml_arange_table_avx2,
    .conv = &dml_conv_table_avx512,
    .conv_bytes = &dml_conv_bytes_table_vnni,
    .conv_multiply_bytes = dml_conv_multiply_bytes_amx,
    .depthwise_pool = &dml_depthwise_pool_table_avx512,
    .elementwise = &dml_elementwise_table_avx512,
    .gather = &dml_gather_table_avx2,
    .gather_scatter_nd = &dml_gather_scatter_nd_table_avx2,
    .half = &dml_half_table_avx512,
    .matmul = &dml_matmul_table_avx512,
    .move = &dml_move_table_avx2,
    .nonzero = &dml_nonzero_table_avx2,
    .philox = &dml_philox_table_avx2,
    .reduce = &dml_reduce_table_avx2,
    .reduce_float32 = &dml_reduce_float32_table_avx512,
    .resample = &dml_resample_table_avx512,
    .scan = &dml_scan_table_avx2,
    .softmax_norm = &dml_softmax_norm_table_avx512,
    .top_k = &dml_top_k_table_avx2,
};
#endif

/* The contexts, the best first. Of several with one name, the first that the processor supports is chosen. */
typedef struct {
    const dml_context *context;
    int (*is_supported)(void);
} dml_context_entry;

/* The request by which arch_prctl says what is supported, and the bits of leaf 7 of CPUID for AMX. */
#if defined(DML_HAS_AMX)
enum { DML_AMX_SUPPORTED = 0x1021, DML_AMX_TILES = 18, DML_AMX_TILE_BIT = 24, DML_AMX_INT8_BIT = 25 };
#endif

static int dml_supports_baseline(void)
{
    return 1;
}

#if defined(__x86_64__) && defined(DML_HAS_AVX2)
static int dml_supports_avx2(void)
{
    /* clang does not know the feature f16c by name. */
    unsigned int a, b, c = 0, d;
    __get_cpuid(1, &a, &b, &c, &d);
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && (c & bit_F16C);
}
#endif

#if defined(__x86_64__) && defined(DML_HAS_AVX512)
static int dml_supports_avx512(void)
{
    return dml_supports_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}
#endif

#if defined(__x86_64__) && defined(DML_HAS_VNNI)
static int dml_supports_vnni(void)
{
    return dml_supports_avx512() && __builtin_cpu_supports("avx512vnni");
}
#endif

#if defined(__x86_64__) && defined(DML_HAS_AMX)
static int dml_supports_amx(void)
{
    unsigned int a, b, c, d;
    uint64_t saved = 0;
    return dml_supports_vnni() && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d >> DML_AMX_TILE_BIT & 1) &&
           (d >> DML_AMX_INT8_BIT & 1) && syscall(SYS_arch_prctl, DML_AMX_SUPPORTED, &saved) == 0 &&
           (saved >> DML_AMX_TILES & 1);
}
#endif

static const dml_context_entry dml_contexts[] = {
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
    {&dml_context_baseline, dml_supports_baseline},
};
enum { DML_CONTEXT_COUNT = sizeof dml_contexts / sizeof *dml_contexts };

const dml_context *dml_dispatch = &dml_context_baseline;
int64_t dml_stream_bytes = 8 << 20;

int dml_use_isa(const char *name)
{
    for (int i = 0; i < DML_CONTEXT_COUNT; i++) {
        const dml_context *context = dml_contexts[i].context;
        if ((!name || strcmp(context->isa, name) == 0) && dml_contexts[i].is_supported()) {
            dml_dispatch = context;
            return 1;
        }
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

void dml_use_baseline_isa(void)
{
    dml_use_isa("baseline");
}
