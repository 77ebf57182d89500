/* Philox 4x32-10, for several values of the counter at a time. */

#pragma once

#include "../common/compiler.h"

#include "dispatch.h"

DML_INLINE void philox_lanes(uint32_t *words, uint64_t low, uint64_t high, uint32_t key_low, uint32_t key_high,
                             const int count)
{
    enum { LANES = 16, ROUNDS = 10 };
    /* Words are kept in 64 bits, so that nothing is widened between the rounds. */
    uint64_t a[LANES], b[LANES], c[LANES], d[LANES];
    for (int i = 0; i < LANES; i++) {
        uint64_t number = low + (uint64_t)i, above = high + (number < low);
        a[i] = number & 0xffffffffu;
        b[i] = number >> 32;
        c[i] = above & 0xffffffffu;
        d[i] = above >> 32;
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < LANES; i++) {
            uint64_t left = (uint64_t)(uint32_t)a[i] * 0xd2511f53u, right = (uint64_t)(uint32_t)c[i] * 0xcd9e8d57u;
            a[i] = (right >> 32) ^ b[i] ^ key_low;
            c[i] = (left >> 32) ^ d[i] ^ key_high;
            b[i] = right & 0xffffffffu;
            d[i] = left & 0xffffffffu;
        }
        key_low += 0x9e3779b9u;
        key_high += 0xbb67ae85u;
    }
    for (int i = 0; i < count; i++) {
        words[4 * i] = (uint32_t)a[i];
        words[4 * i + 1] = (uint32_t)b[i];
        words[4 * i + 2] = (uint32_t)c[i];
        words[4 * i + 3] = (uint32_t)d[i];
    }
}

static void fill_philox(void *elements, const dml_fill *task, int64_t number, int64_t count)
{
    uint32_t *words = elements;
    uint64_t low = task->start + (uint64_t)number / 4, high = task->high + (low < task->start);
    int64_t i = 0, blocks = (count + 3) / 4;
    for (; i + 16 <= blocks; i += 16, low += 16) {
        philox_lanes(words + 4 * i, low, high, task->key[0], task->key[1], 16);
        high += low > UINT64_MAX - 16;
    }
    philox_lanes(words + 4 * i, low, high, task->key[0], task->key[1], (int)(blocks - i));
}
