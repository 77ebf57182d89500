/* The sum of products of words, wherever they begin, with keys. */
static uint64_t LOOP(fingerprint_products)(const char *words, const uint64_t *keys, int64_t count)
{
    uint64_t sum = 0;
    for (int64_t i = 0; i < count; i++) {
        uint64_t word;
        memcpy(&word, words + 8 * i, 8);
        sum += word * keys[i];
    }
    return sum;
}

static const dml_fingerprint_table LOOP(fingerprint_table) = {LOOP(fingerprint_products)};
