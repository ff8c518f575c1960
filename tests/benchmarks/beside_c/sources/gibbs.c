/* Gibbs sampling over ground clauses: the loop of mlnlab/kernels/gibbs.py, for open atoms without tables. */
#include <math.h>
#include <stdint.h>

static inline uint64_t turned(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

static inline double uniform(uint64_t *s) {
    const uint64_t result = turned(s[0] + s[3], 23) + s[0], t = s[1] << 17;
    s[2] ^= s[0]; s[3] ^= s[1]; s[1] ^= s[2]; s[0] ^= s[3]; s[2] ^= t; s[3] = turned(s[3], 45);
    return (double)(int64_t)(result >> 11) * 0x1.0p-53;
}

void sweep(int64_t atoms, const uint32_t *restrict starts, const uint32_t *restrict occurrences,
           const double *restrict strengths, uint8_t *restrict values, uint32_t *restrict satisfied,
           uint64_t *restrict random, int64_t sweeps) {
    for (int64_t number = 0; number < sweeps; number++)
        for (int64_t atom = 0; atom < atoms; atom++) {
            const uint32_t value = values[atom], start = starts[atom], end = starts[atom + 1];
            double advantage = 0.0;
            for (uint32_t place = start; place < end; place++) {
                const uint32_t clause = occurrences[place] >> 1, negated = occurrences[place] & 1;
                if (satisfied[clause] == (value ^ negated))
                    advantage += negated ? -strengths[clause] : strengths[clause];
            }
            const double probability = advantage < -700.0 ? 0.0 : 1.0 / (1.0 + exp(-advantage));
            if ((uniform(random) < probability) == (value != 0)) continue;
            for (uint32_t place = start; place < end; place++) {
                const uint32_t clause = occurrences[place] >> 1;
                if (value ^ (occurrences[place] & 1)) satisfied[clause]--;
                else satisfied[clause]++;
            }
            values[atom] = (uint8_t)(1 - value);
        }
}
