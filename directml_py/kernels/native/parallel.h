void dml_set_threads(int count);
int dml_get_threads(void);
