/* Runs ONNX models in onnxruntime.dll, a list of jobs in one process.

       runner.exe onnxruntime.dll dml|cpu [KEY=VALUE ...]

   Each line of standard input is a job's number N: N.onnx in the current folder is run on the tensors of N.in, and its
   outputs are written to N.out. A file of tensors is what tensors.py says. What becomes of a job is told on standard
   output, each line at once:

       begin N
       placed TEXT     ONNX Runtime's own message about which provider got the nodes
       done N          or: failed N, and the message on the rest of the line

   KEY=VALUE are entries of the session's configuration. ONNX Runtime's C API is a table of functions that are only
   ever added at the end; the few that are called here are declared below, by their places in it. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#define API_VERSION 17
#define MOST_TENSORS 256
#define MOST_DIMENSIONS 32

enum {
    GET_ERROR_MESSAGE = 2,
    CREATE_ENVIRONMENT = 4,
    CREATE_SESSION = 7,
    RUN = 9,
    CREATE_SESSION_OPTIONS = 10,
    DISABLE_MEMORY_PATTERNS = 17,
    SET_SESSION_LOG_SEVERITY = 22,
    SET_INTRA_OP_THREADS = 24,
    OUTPUT_COUNT = 31,
    OUTPUT_NAME = 37,
    CREATE_TENSOR = 49,
    IS_TENSOR = 50,
    TENSOR_DATA = 51,
    TENSOR_TYPE = 60,
    DIMENSION_COUNT = 61,
    DIMENSIONS = 62,
    TENSOR_INFO = 65,
    CREATE_CPU_MEMORY = 69,
    FREE = 76,
    DEFAULT_ALLOCATOR = 78,
    RELEASE_STATUS = 93,
    RELEASE_SESSION = 95,
    RELEASE_VALUE = 96,
    RELEASE_TENSOR_INFO = 99,
    RELEASE_SESSION_OPTIONS = 100,
    ADD_SESSION_CONFIGURATION = 130,
};

enum { VERBOSE = 0, ARENA_ALLOCATOR = 1, DEFAULT_MEMORY = 0 };

/* The bits of an element, by its type's number in ONNX; 0 where that has no meaning. */
static const int ELEMENT_BITS[] = {0,  32, 8,  8,   16, 16, 32, 64, 0, 8, 16, 64, 32, 64,
                                   64, 128, 16, 8, 8, 8, 8, 4, 4, 4, 8, 2, 2};

typedef void *(*Function)();

typedef struct {
    const void *(*get_api)(uint32_t version);
    const char *(*get_version)(void);
} Base;

typedef struct {
    char *name;
    int32_t type;
    uint32_t rank;
    int64_t sizes[MOST_DIMENSIONS];
    uint64_t bytes;
    void *data;
} Tensor;

typedef void *(*AppendDml)(void *options, int device);

static const Function *api;
static char error[4096];

/* Whether a call has succeeded; keeps its message otherwise. */
static int succeeded(void *status) {
    if (!status)
        return 1;
    snprintf(error, sizeof error, "%s", (const char *)api[GET_ERROR_MESSAGE](status));
    api[RELEASE_STATUS](status);
    return 0;
}

static int fail(const char *why) {
    snprintf(error, sizeof error, "%s", why);
    return 0;
}

static void tell(const char *word, const char *text) {
    printf("%s ", word);
    for (; *text; text++)
        putchar(*text == '\n' || *text == '\r' ? ' ' : *text);
    putchar('\n');
    fflush(stdout);
}

static void log_message(void *param, int severity, const char *category, const char *id, const char *place,
                        const char *message) {
    (void)param, (void)severity, (void)category, (void)id, (void)place;
    if (strstr(message, "placed on ["))
        tell("placed", message);
}

static int64_t element_count(const int64_t *sizes, size_t rank) {
    int64_t count = 1;
    for (size_t i = 0; i < rank; i++)
        count *= sizes[i];
    return count;
}

static int64_t tensor_bytes(int type, int64_t count) {
    if (type < 0 || type >= (int)(sizeof ELEMENT_BITS / sizeof *ELEMENT_BITS) || !ELEMENT_BITS[type])
        return -1;
    return (count * ELEMENT_BITS[type] + 7) / 8;
}

static int read_tensor(FILE *file, Tensor *tensor) {
    uint32_t length;
    if (fread(&length, 4, 1, file) != 1 || !(tensor->name = calloc(length + 1, 1)))
        return 0;
    if (fread(tensor->name, 1, length, file) != length || fread(&tensor->type, 4, 1, file) != 1 ||
        fread(&tensor->rank, 4, 1, file) != 1 || tensor->rank > MOST_DIMENSIONS)
        return 0;
    if (fread(tensor->sizes, 8, tensor->rank, file) != tensor->rank || fread(&tensor->bytes, 8, 1, file) != 1)
        return 0;
    tensor->data = malloc(tensor->bytes + 1);
    return tensor->data && fread(tensor->data, 1, tensor->bytes, file) == tensor->bytes;
}

static int read_tensors(const char *path, Tensor *tensors, uint32_t *count) {
    FILE *file = fopen(path, "rb");
    int right = file && fread(count, 4, 1, file) == 1 && *count <= MOST_TENSORS;
    for (uint32_t i = 0; right && i < *count; i++)
        right = read_tensor(file, &tensors[i]);
    if (file)
        fclose(file);
    return right ? 1 : fail("the runner cannot read its input file");
}

static int write_tensor(FILE *file, const char *name, void *value) {
    int is_tensor = 0, type = 0;
    size_t rank = 0;
    int64_t sizes[MOST_DIMENSIONS];
    void *info = NULL, *data = NULL;
    if (!value || !succeeded(api[IS_TENSOR](value, &is_tensor)))
        return fail("an output has no value");
    if (!is_tensor)
        return fail("an output is not a tensor");
    if (!succeeded(api[TENSOR_INFO](value, &info)))
        return 0;
    int right = succeeded(api[TENSOR_TYPE](info, &type)) && succeeded(api[DIMENSION_COUNT](info, &rank)) &&
                rank <= MOST_DIMENSIONS && succeeded(api[DIMENSIONS](info, sizes, rank));
    api[RELEASE_TENSOR_INFO](info);
    int64_t bytes = right ? tensor_bytes(type, element_count(sizes, rank)) : -1;
    if (!right || bytes < 0)
        return right ? fail("an output has elements of no fixed size") : 0;
    if (!succeeded(api[TENSOR_DATA](value, &data)))
        return 0;
    uint32_t length = strlen(name), rank32 = rank;
    fwrite(&length, 4, 1, file);
    fwrite(name, 1, length, file);
    fwrite(&type, 4, 1, file);
    fwrite(&rank32, 4, 1, file);
    fwrite(sizes, 8, rank, file);
    fwrite(&bytes, 8, 1, file);
    fwrite(data, 1, bytes, file);
    return !ferror(file) ? 1 : fail("the runner cannot write its output file");
}

static int write_tensors(const char *path, const char *const *names, void **values, uint32_t count) {
    FILE *file = fopen(path, "wb");
    if (!file)
        return fail("the runner cannot create its output file");
    fwrite(&count, 4, 1, file);
    int right = 1;
    for (uint32_t i = 0; right && i < count; i++)
        right = write_tensor(file, names[i], values[i]);
    return (fclose(file) == 0 && right) ? 1 : 0;
}

static int run_session(void *session, void *memory, void *allocator, const char *job) {
    static Tensor inputs[MOST_TENSORS];
    const char *input_names[MOST_TENSORS], *output_names[MOST_TENSORS];
    void *input_values[MOST_TENSORS] = {0}, *output_values[MOST_TENSORS] = {0};
    char path[64];
    uint32_t input_count = 0, made = 0;
    size_t output_count = 0, named = 0;
    memset(inputs, 0, sizeof inputs);
    snprintf(path, sizeof path, "%s.in", job);
    int right = read_tensors(path, inputs, &input_count) && succeeded(api[OUTPUT_COUNT](session, &output_count));
    if (right && output_count > MOST_TENSORS)
        right = fail("the model has too many outputs for the runner");
    for (; right && made < input_count; made++) {
        Tensor *tensor = &inputs[made];
        input_names[made] = tensor->name;
        right = succeeded(api[CREATE_TENSOR](memory, tensor->data, (size_t)tensor->bytes, tensor->sizes,
                                             (size_t)tensor->rank, tensor->type, &input_values[made]));
    }
    for (; right && named < output_count; named++)
        right = succeeded(api[OUTPUT_NAME](session, named, allocator, &output_names[named]));
    right = right && succeeded(api[RUN](session, NULL, input_names, input_values, (size_t)input_count, output_names,
                                        output_count, output_values));
    snprintf(path, sizeof path, "%s.out", job);
    right = right && write_tensors(path, output_names, output_values, output_count);
    for (uint32_t i = 0; i < MOST_TENSORS; i++) {
        if (output_values[i])
            api[RELEASE_VALUE](output_values[i]);
        if (input_values[i])
            api[RELEASE_VALUE](input_values[i]);
        free(inputs[i].name);
        free(inputs[i].data);
    }
    for (size_t i = 0; i < named; i++)
        succeeded(api[FREE](allocator, output_names[i]));
    return right;
}

static int configure(void *options, AppendDml append, int count, char **entries) {
    if (!succeeded(api[SET_SESSION_LOG_SEVERITY](options, VERBOSE)) ||
        !succeeded(api[SET_INTRA_OP_THREADS](options, 1)))
        return 0;
    for (int i = 0; i < count; i++) {
        char key[256];
        const char *value = strchr(entries[i], '=');
        if (!value)
            return fail("a session's configuration is KEY=VALUE");
        snprintf(key, sizeof key, "%.*s", (int)(value - entries[i]), entries[i]);
        if (!succeeded(api[ADD_SESSION_CONFIGURATION](options, key, value + 1)))
            return 0;
    }
    return !append || (succeeded(api[DISABLE_MEMORY_PATTERNS](options)) && succeeded(append(options, 0)));
}

static int run_job(void *environment, void *memory, void *allocator, AppendDml append, int count, char **entries,
                   const char *job) {
    void *options = NULL, *session = NULL;
    wchar_t path[64];
    if (!succeeded(api[CREATE_SESSION_OPTIONS](&options)))
        return 0;
    swprintf(path, sizeof path / sizeof *path, L"%hs.onnx", job);
    int right = configure(options, append, count, entries) &&
                succeeded(api[CREATE_SESSION](environment, path, options, &session)) &&
                run_session(session, memory, allocator, job);
    if (session)
        api[RELEASE_SESSION](session);
    api[RELEASE_SESSION_OPTIONS](options);
    return right;
}

int main(int argc, char **argv) {
    char job[32], line[sizeof error + 64];
    void *environment = NULL, *memory = NULL, *allocator = NULL;
    HMODULE module = argc > 2 ? LoadLibraryA(argv[1]) : NULL;
    const Base *(*base)(void) = module ? (const Base *(*)(void))(void *)GetProcAddress(module, "OrtGetApiBase") : NULL;
    if (!base) {
        fprintf(stderr, "runner: no OrtGetApiBase in %s: error %lu\n", argc > 1 ? argv[1] : "?", GetLastError());
        return 2;
    }
    api = base()->get_api(API_VERSION);
    AppendDml append = NULL;
    if (strcmp(argv[2], "dml") == 0)
        append = (AppendDml)(void *)GetProcAddress(module, "OrtSessionOptionsAppendExecutionProvider_DML");
    if (!api || (strcmp(argv[2], "dml") == 0 && !append) ||
        !succeeded(api[CREATE_ENVIRONMENT](log_message, NULL, VERBOSE, "runner", &environment)) ||
        !succeeded(api[CREATE_CPU_MEMORY](ARENA_ALLOCATOR, DEFAULT_MEMORY, &memory)) ||
        !succeeded(api[DEFAULT_ALLOCATOR](&allocator))) {
        fprintf(stderr, "runner: %s cannot be used: %s\n", argv[1], error);
        return 2;
    }
    printf("version %s\n", base()->get_version());
    while (scanf("%31s", job) == 1) {
        tell("begin", job);
        fprintf(stderr, "\n=== begin %s\n", job);
        fflush(stderr);
        error[0] = 0;
        if (run_job(environment, memory, allocator, append, argc - 3, argv + 3, job)) {
            tell("done", job);
        } else {
            snprintf(line, sizeof line, "%s %s", job, error);
            tell("failed", line);
        }
    }
    return 0;
}
