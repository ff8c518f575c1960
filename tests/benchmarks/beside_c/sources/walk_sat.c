/* MaxWalkSAT over ground clauses: the loop of mlnlab/kernels/walk_sat.py, for open atoms without tables.

   numbers: how many clauses are broken, moves so far, length of the trail. costs: now, of the best world. */
#include <math.h>
#include <stdint.h>

static inline uint64_t turned(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

static inline double uniform(uint64_t *s) {
    const uint64_t result = turned(s[0] + s[3], 23) + s[0], t = s[1] << 17;
    s[2] ^= s[0]; s[3] ^= s[1]; s[1] ^= s[2]; s[0] ^= s[3]; s[2] ^= t; s[3] = turned(s[3], 45);
    return (double)(int64_t)(result >> 11) * 0x1.0p-53;
}

static inline int64_t turn(uint32_t *broken, uint32_t *places, int64_t number, uint32_t clause, double worse) {
    if (worse > 0) {
        broken[number] = clause;
        places[clause] = (uint32_t)(++number);
    } else if (worse < 0) {
        const uint32_t place = places[clause] - 1, moved = broken[--number];
        broken[place] = moved;
        places[moved] = place + 1;
    }
    return number;
}

void walk(int64_t choices, const uint32_t *restrict starts, const uint32_t *restrict literals,
          const uint32_t *restrict atom_starts, const uint32_t *restrict occurrences,
          const double *restrict strengths, uint8_t *restrict values, uint32_t *restrict satisfied,
          uint32_t *restrict chosen, uint64_t *restrict random, uint32_t *restrict broken,
          uint32_t *restrict places, int64_t *restrict changed, uint32_t *restrict best,
          uint32_t *restrict trail, int64_t *restrict numbers, double *restrict costs,
          int64_t most, double noise, int64_t tabu, double target) {
    for (int64_t step = 0; step < most; step++) {
        if (numbers[0] == 0 || costs[1] <= target) return;
        const uint32_t constraint = broken[(int64_t)(uniform(random) * (double)numbers[0])];
        const int by_noise = uniform(random) < noise;
        const int64_t moves = numbers[1]++, since = moves - tabu;
        const uint32_t start = starts[constraint], end = starts[constraint + 1];
        const int unwanted = strengths[constraint] < 0;
        uint32_t place = start + (uint32_t)(uniform(random) * (double)(end - start)), atom = UINT32_MAX;
        double least = INFINITY;
        for (uint32_t seen = start; seen < end; seen++) {
            const uint32_t literal = literals[place], candidate = literal >> 1, value = values[candidate];
            place = place + 1 < end ? place + 1 : start;
            if ((unwanted && !(value ^ (literal & 1))) || (changed[candidate] >= since && !by_noise)) continue;
            double change = 0.0;
            for (uint32_t spot = atom_starts[candidate]; spot < atom_starts[candidate + 1]; spot++) {
                const uint32_t clause = occurrences[spot] >> 1, truth = value ^ (occurrences[spot] & 1);
                if (satisfied[clause] == truth) change += truth ? strengths[clause] : -strengths[clause];
            }
            if (change < least) {
                atom = candidate;
                least = change;
                if (by_noise) break;
            }
        }
        if (atom == UINT32_MAX) continue;
        const uint32_t value = values[atom];
        int64_t number = numbers[0];
        for (uint32_t spot = atom_starts[atom]; spot < atom_starts[atom + 1]; spot++) {
            const uint32_t clause = occurrences[spot] >> 1;
            if (value ^ (occurrences[spot] & 1)) {
                if (--satisfied[clause] == 0) number = turn(broken, places, number, clause, strengths[clause]);
            } else {
                if (++satisfied[clause] == 1) number = turn(broken, places, number, clause, -strengths[clause]);
            }
        }
        numbers[0] = number;
        values[atom] = (uint8_t)(1 - value);
        changed[atom] = moves;
        chosen[atom] = value;
        costs[0] += least;
        if (numbers[2] < choices) trail[numbers[2]++] = atom;
        if (costs[0] < costs[1] - 1e-12 * (1.0 + fabs(costs[1]))) {
            costs[1] = costs[0];
            if (numbers[2] < choices)
                for (int64_t spot = 0; spot < numbers[2]; spot++) best[trail[spot]] = chosen[trail[spot]];
            else
                for (int64_t spot = 0; spot < choices; spot++) best[spot] = chosen[spot];
            numbers[2] = 0;
        }
    }
}
