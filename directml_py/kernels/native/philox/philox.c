void dml_philox(uintptr_t words, uint64_t low, uint64_t high, uint32_t key_low, uint32_t key_high, int64_t count)
{
    dml_loop->philox->words((uint32_t *)words, low, high, key_low, key_high, count);
}
