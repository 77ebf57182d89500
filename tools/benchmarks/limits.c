/* The machine's memory bandwidth: a read and a copy with wide loads and streaming stores, by the requested number of
   threads. */

#define _GNU_SOURCE
#include <immintrin.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *source;
    char *target;
    size_t size;
    uint64_t sum;
} share;

static void *read_share(void *pointer)
{
    share *s = pointer;
    __m256i a = _mm256_setzero_si256(), b = a, c = a, d = a;
    for (size_t i = 0; i + 128 <= s->size; i += 128) {
        a = _mm256_xor_si256(a, _mm256_loadu_si256((const void *)(s->source + i)));
        b = _mm256_xor_si256(b, _mm256_loadu_si256((const void *)(s->source + i + 32)));
        c = _mm256_xor_si256(c, _mm256_loadu_si256((const void *)(s->source + i + 64)));
        d = _mm256_xor_si256(d, _mm256_loadu_si256((const void *)(s->source + i + 96)));
    }
    a = _mm256_xor_si256(_mm256_xor_si256(a, b), _mm256_xor_si256(c, d));
    s->sum = (uint64_t)_mm256_extract_epi64(a, 0) ^ (uint64_t)_mm256_extract_epi64(a, 3);
    return NULL;
}

static void *copy_share(void *pointer)
{
    share *s = pointer;
    for (size_t i = 0; i + 128 <= s->size; i += 128)
        for (size_t j = i; j < i + 128; j += 32)
            _mm256_stream_si256((void *)(s->target + j), _mm256_loadu_si256((const void *)(s->source + j)));
    _mm_sfence();
    return NULL;
}

static void *plain_copy_share(void *pointer)
{
    share *s = pointer;
    memcpy(s->target, s->source, s->size);
    return NULL;
}

static uint64_t spread(void *(*body)(void *), const void *source, void *target, size_t size, int threads)
{
    share shares[64];
    pthread_t others[64];
    uint64_t sum = 0;
    cpu_set_t elsewhere;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    /* A new thread would often start on the processor of this one. */
    if (sched_getaffinity(0, sizeof elsewhere, &elsewhere) == 0) {
        CPU_CLR(sched_getcpu(), &elsewhere);
        if (CPU_COUNT(&elsewhere) > 0)
            pthread_attr_setaffinity_np(&attributes, sizeof elsewhere, &elsewhere);
    }
    for (int i = 0; i < threads; i++) {
        size_t begin = size / 128 * i / threads * 128, end = size / 128 * (i + 1) / threads * 128;
        shares[i] = (share){(const char *)source + begin, (char *)target + begin, end - begin, 0};
        if (i > 0)
            pthread_create(&others[i], &attributes, body, &shares[i]);
    }
    body(&shares[0]);
    for (int i = 0; i < threads; i++) {
        if (i > 0)
            pthread_join(others[i], NULL);
        sum ^= shares[i].sum;
    }
    return sum;
}

uint64_t limit_read(const void *source, size_t size, int threads)
{
    return spread(read_share, source, NULL, size, threads);
}

void limit_stream(const void *source, void *target, size_t size, int threads)
{
    spread(copy_share, source, target, size, threads);
}

void limit_copy(const void *source, void *target, size_t size, int threads)
{
    spread(plain_copy_share, source, target, size, threads);
}
