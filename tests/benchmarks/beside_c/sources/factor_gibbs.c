/* Gibbs sampling over tables: the loop of mlnlab/kernels/factor_gibbs.py. */
#include <math.h>
#include <stdint.h>

static inline uint64_t turned(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

static inline double uniform(uint64_t *s) {
    const uint64_t result = turned(s[0] + s[3], 23) + s[0], t = s[1] << 17;
    s[2] ^= s[0]; s[3] ^= s[1]; s[1] ^= s[2]; s[0] ^= s[3]; s[2] ^= t; s[3] = turned(s[3], 45);
    return (double)(int64_t)(result >> 11) * 0x1.0p-53;
}

static inline int64_t drawn_value(double *restrict scores, int64_t size, uint64_t *restrict random) {
    double most = -INFINITY, total = 0.0;
    int64_t last = 0;
    for (int64_t value = 0; value < size; value++) most = scores[value] > most ? scores[value] : most;
    for (int64_t value = 0; value < size; value++) {
        const double worth = exp(scores[value] - most);
        if (worth > 0.0) last = value;
        total += worth;
        scores[value] = total;
    }
    const double target = uniform(random) * total;
    for (int64_t value = 0; value < size; value++)
        if (target < scores[value]) return value;
    return last;
}

void sweep_tables(int64_t variables, const uint32_t *restrict value_starts, const uint32_t *restrict near_starts,
                  const uint32_t *restrict near_tables, const uint32_t *restrict near_strides,
                  const uint32_t *restrict cell_starts, const double *restrict logs, uint32_t *restrict values,
                  uint32_t *restrict cells, uint64_t *restrict random, double *restrict scores, int64_t sweeps) {
    for (int64_t number = 0; number < sweeps; number++)
        for (int64_t variable = 0; variable < variables; variable++) {
            const int64_t size = (int64_t)value_starts[variable + 1] - value_starts[variable];
            if (size == 1) continue;
            const int64_t old = values[variable], start = near_starts[variable], end = near_starts[variable + 1];
            for (int64_t value = 0; value < size; value++) scores[value] = 0.0;
            for (int64_t place = start; place < end; place++) {
                const int64_t table = near_tables[place], stride = near_strides[place];
                const int64_t first = (int64_t)cell_starts[table] + cells[table] - old * stride;
                for (int64_t value = 0; value < size; value++) scores[value] += logs[first + value * stride];
            }
            const int64_t drawn = drawn_value(scores, size, random);
            if (drawn == old) continue;
            for (int64_t place = start; place < end; place++)
                cells[near_tables[place]] += (uint32_t)((drawn - old) * (int64_t)near_strides[place]);
            values[variable] = (uint32_t)drawn;
        }
}
