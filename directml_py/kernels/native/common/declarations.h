const char *dml_chosen_loops(void);
void dml_use_baseline_loops(void);
