/* Lines that repeat one item, and lines whose items are not contiguous. */

#pragma once

#include "../common/compiler.h"

#include "dispatch.h"
#include "copy.h"
#include "narrow_transpose.h"

/* Repeats one item in each line. */
DML_INLINE void fill(const dml_span *span, int stream, const int64_t item)
{
    char pattern[64];
    if (item < 8 && span->length * item <= 8 && span->output_line == span->length * item && span->input_line == item) {
        together[item](span->output, span->input, 0, span->length, span->lines, stream);
        return;
    }
    for (int64_t line = 0; line < span->lines; line++) {
        char *output = span->output + line * span->output_line;
        const char *input = span->input + line * span->input_line;
        int64_t done = 0, count = span->length;
        if (count * item >= 128) {
            for (int64_t i = 0; i < 64; i += item)
                memcpy(pattern + i, input, (size_t)item);
#if defined(__x86_64__)
            /* `rep stos` writes memory without reading it first, as streaming stores do. Zen 4 streams zeros twice as
               fast, and only zeros. */
            if (stream && item <= 8) {
                int64_t word, words = count * item / 8;
                char *end = output, *const limit = output + count * item - 63;
                memcpy(&word, pattern, sizeof word);
                if (word != 0 || (uintptr_t)output % 64 != 0)
                    __asm__ volatile("rep stosq" : "+D"(end), "+c"(words) : "a"(word) : "memory");
                for (; end < limit; end += 64)
                    for (uintptr_t i = 0; i < 64; i += sizeof(item_vector))
                        DML_STREAM(end + i, (item_vector){0});
                done = (end - output) / item;
            }
#endif
            for (; done + 64 / item <= count; done += 64 / item)
                memcpy(output + done * item, pattern, 64);
        }
        for (; done < count; done++)
            memcpy(output + done * item, input, (size_t)item);
    }
}

DML_INLINE void strided(const dml_span *span, int stream, const int64_t item)
{
    int64_t reach = span->length * span->input_stride, ahead = span->input_line;
    /* For a line shorter than two vectors, it would take longer to prepare these. */
    int packs = span->output_stride == item && span->length * item >= 64;
    if (reach < -4096 || reach > 4096)
        ahead = reach < 0 ? -DML_AHEAD : DML_AHEAD;
    for (int64_t line = 0; line < span->lines; line++) {
        char *output = span->output + line * span->output_line;
        const char *input = span->input + line * span->input_line;
        if (packs)
            apart[item](output, 0, input, span->input_stride, ahead, 1, span->length, stream);
        else
            strided_line(output, span->output_stride, input, span->input_stride, span->length, item);
    }
}
