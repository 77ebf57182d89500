/* Two sums of products of `size` bytes, as words of 64 bits, with `keys`: over the words from the first byte on, and over
   those from the fifth on. The sums of blocks, of as many words as there are keys, are digits to the base of `step`. */
void dml_fingerprint(const char *content, int64_t size, const uint64_t *keys, int64_t block, uint64_t step,
                     uint64_t *sums);
