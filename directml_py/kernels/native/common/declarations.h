const char *dml_chosen_loops(void);
/* Chooses the loops for a kind of processor, the best for NULL; gives 0 if there are none, or this processor cannot
   run them. While they are chosen none may run. */
int dml_use_loops(const char *kind);
void dml_use_baseline_loops(void);
void dml_set_threads(int count);
int dml_get_threads(void);

/* A dimension of two layouts that are gone through together: strides are in bytes. */
typedef struct {
    int64_t size, output, input;
} dml_dimension;

/* A task of a loop, at `task`, and the number of the function that runs it; of DML_TURN_MOVE there are `count`. */
enum {
    DML_TURN_BLEND,
    DML_TURN_BYTE_ROW,
    DML_TURN_CONV,
    DML_TURN_FOLD,
    DML_TURN_MAP,
    DML_TURN_MOVE,
    DML_TURN_PICK,
    DML_TURN_PLACES,
    DML_TURN_PRODUCT,
    DML_TURN_ROWS,
    DML_TURN_SCAN,
    DML_TURN_SLIDE,
    DML_TURN_TOP
};
typedef struct {
    uintptr_t task;
    int64_t function, count;
} dml_turn;
/* Gives how many have run: others are left when it has taken so long that somebody may want to interrupt it. */
int64_t dml_run_in_turn(const dml_turn *turns, int64_t count);
