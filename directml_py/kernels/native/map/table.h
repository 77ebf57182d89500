#include "steps.h"

typedef void (*dml_map_function)(void *result, const void *const *operands, int64_t count);

enum { DML_MAP_F16, DML_MAP_F32, DML_MAP_I8, DML_MAP_I16, DML_MAP_I32, DML_MAP_U8, DML_MAP_U16, DML_MAP_U32, DML_MAP_F64, DML_MAP_TYPES };

/* The most inputs and outputs that a program has. */
#define DML_MAP_TENSORS 16

/* Memory that will be read next, and how many bytes of it for 64 that are written. */
typedef struct {
    const char *from;
    int64_t step;
} dml_map_ahead;

/* `load` makes lanes of elements that lie next to each other, `store` elements of lanes; NULL where they are the same.
   The last type is that of lanes alone, which `store_wide` rounds to the others. `stream` writes past the caches, and
   has the memory of `count` others fetched meanwhile. */
typedef struct {
    const dml_map_function *steps;
    void (*load[DML_MAP_TYPES])(void *lanes, const void *elements, int64_t count);
    void (*store[DML_MAP_TYPES])(void *elements, const void *lanes, int64_t count);
    void (*store_wide[DML_MAP_TYPES])(void *elements, const void *lanes, int64_t count);
    void (*stream)(char *output, const char *results, int64_t bytes, const dml_map_ahead *ahead, int count);
} dml_map_table;
