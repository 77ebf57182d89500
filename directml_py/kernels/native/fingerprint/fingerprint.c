void dml_fingerprint(const char *content, int64_t size, const uint64_t *keys, int64_t block, uint64_t step,
                     uint64_t *sums)
{
    int64_t sizes[2] = {size, size > 4 ? size - 4 : 0};
    const char *starts[2] = {content, content + size - sizes[1]};
    sums[0] = (uint64_t)sizes[0];
    sums[1] = (uint64_t)sizes[1];
    /* Both block by block, so that the second finds in the cache what the first has read. */
    for (int64_t begin = 0; begin < size / 8; begin += block) {
        for (int which = 0; which < 2; which++) {
            int64_t left = sizes[which] / 8 - begin, count = left < block ? left : block;
            if (count > 0)
                sums[which] = sums[which] * step
                              + dml_loop->fingerprint->products(starts[which] + 8 * begin, keys, count);
        }
    }
    for (int which = 0; which < 2; which++) {
        uint64_t rest = 0;
        memcpy(&rest, starts[which] + sizes[which] / 8 * 8, (size_t)(sizes[which] % 8));
        sums[which] = sums[which] * step + rest;
    }
}
