/* The counts of a leaf's rows as a person would write them in C: for each value of the tree's variable and
 * each bit column, over the words in which the leaf has rows; the ones of a word count 2^power each.
 * Values from 1 on have columns, the first of them `start`; rows without any of them have the value 0.
 * A leaf is counted several `times`, because a call from Python costs as much as a small leaf. */
#include <stdint.h>

static void add_ones(int64_t *counts, const uint64_t *row, int64_t columns, uint64_t mask, int64_t power) {
    for (int64_t c = 0; c < columns; c++)
        counts[c] += (int64_t)__builtin_popcountll(mask & row[c]) << power;
}

static void count_once(int64_t n, const uint32_t *words, const uint64_t *masks, const uint64_t *bits,
                const int64_t *powers, int64_t columns, int64_t start, int64_t values, int64_t *totals,
                int64_t *counts) {
    for (int64_t i = 0; i < n; i++) {
        const uint64_t *row = bits + words[i] * columns;
        int64_t power = powers[words[i]];
        uint64_t rest = masks[i];
        for (int64_t x = 0; x < values; x++) {
            uint64_t mask = x + 1 < values ? masks[i] & row[start + x] : rest;
            int64_t value = x + 1 < values ? x + 1 : 0;
            rest &= ~mask;
            if (!mask) continue;
            totals[value] += (int64_t)__builtin_popcountll(mask) << power;
            add_ones(counts + value * columns, row, columns, mask, power);
        }
    }
}

void count_leaf(int64_t times, int64_t n, const uint32_t *words, const uint64_t *masks, const uint64_t *bits,
                const int64_t *powers, int64_t columns, int64_t start, int64_t values, int64_t *totals,
                int64_t *counts) {
    for (int64_t t = 0; t < times; t++)
        count_once(n, words, masks, bits, powers, columns, start, values, totals, counts);
}
