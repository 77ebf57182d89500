#pragma once
/* The most dimensions of a tensor, and of the space that a window moves in. */
enum { DML_MAX_DIMENSIONS = 8, DML_SPATIAL_DIMENSIONS = 3 };
/* Those of images: batches, channels and spatial dimensions. */
enum { DML_IMAGE_DIMENSIONS = 5 };

/* The activation of a sum of products x with its bias: none; max(x, 0); x times a slope where x is less than 0; and
   max(low, min(x, high)), where NaN becomes `high`. Neither bound is NaN, `high` is not 0, and `low` is not -0. */
enum { DML_ACTIVATION_IDENTITY, DML_ACTIVATION_RELU, DML_ACTIVATION_LEAKY_RELU, DML_ACTIVATION_CLIP };

/* The types of elements, of which a kernel may take some. */
enum {
    DML_TYPE_FLOAT16,
    DML_TYPE_FLOAT32,
    DML_TYPE_INT8,
    DML_TYPE_INT16,
    DML_TYPE_INT32,
    DML_TYPE_INT64,
    DML_TYPE_UINT8,
    DML_TYPE_UINT16,
    DML_TYPE_UINT32,
    DML_TYPE_UINT64,
    DML_TYPE_FLOAT64,
    DML_TYPES
};

const char *dml_chosen_isa(void);
/* Chooses the context of an instruction set by its name, or the best one for NULL; returns 0 if there is none of that
   name, or the processor cannot run it. No kernel may run meanwhile. */
int dml_use_isa(const char *kind);
void dml_set_threads(int count);
int dml_get_threads(void);
/* Results of this many bytes or more are written past the caches; returns the former limit. */
int64_t dml_set_stream_bytes(int64_t bytes);

/* A dimension of two layouts that are traversed together; strides are in bytes. */
typedef struct {
    int64_t size, output, input;
} dml_dimension;

/* The number of a function, which takes a task, or an array of them. */
enum dml_launch_number {
    DML_LAUNCH_ADAM_CORRECTION_RUN,
    DML_LAUNCH_CONV_RUN,
    DML_LAUNCH_DEPTHWISE_POOL_RUN,
    DML_LAUNCH_DEPTHWISE_POOL_ADD,
    DML_LAUNCH_ELEMENTWISE_RUN,
    DML_LAUNCH_FILL_RUN,
    DML_LAUNCH_GATHER_SCATTER_ND_RUN,
    DML_LAUNCH_MATMUL_RUN,
    DML_LAUNCH_INT8_GEMV_RUN,
    DML_LAUNCH_ATTENTION_RUN,
    DML_LAUNCH_MOVE_RUN,
    DML_LAUNCH_PREPACK_RUN,
    DML_LAUNCH_RECURRENT_RUN,
    DML_LAUNCH_REDUCE_RUN,
    DML_LAUNCH_RESAMPLE_RUN,
    DML_LAUNCH_SCAN_RUN,
    DML_LAUNCH_SOFTMAX_NORM_RUN,
    DML_LAUNCH_TOP_K_RUN,
};
/* A launch: the number of a function, the address of its task or tasks, and how many of an array there are. */
typedef struct {
    uintptr_t task;
    int64_t kernel, count;
} dml_launch;
/* Runs launches in order. Returns how many have run: the others are left when so much time has passed that a signal may
   have to be handled. */
int64_t dml_run_launches(const dml_launch *launches, int64_t count);
