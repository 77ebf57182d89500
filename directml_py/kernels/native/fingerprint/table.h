typedef struct {
    uint64_t (*products)(const char *words, const uint64_t *keys, int64_t count);
} dml_fingerprint_table;
