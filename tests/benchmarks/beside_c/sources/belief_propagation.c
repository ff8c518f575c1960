/* Messages of clauses, one clause after the other: the loop of mlnlab/kernels/belief_propagation.py. */
#include <math.h>
#include <stdint.h>

static inline double without(const double *beliefs, const double *bans, int64_t value, double own) {
    if (own == -INFINITY) return bans[value] < 1.5 ? beliefs[value] : -INFINITY;
    return bans[value] < 0.5 ? beliefs[value] - own : -INFINITY;
}

static inline void hear(double *beliefs, double *bans, int64_t value, double count, double before, double now) {
    if (before > -INFINITY && now > -INFINITY) { beliefs[value] += count * (now - before); return; }
    if (before > -INFINITY) beliefs[value] -= count * before; else bans[value] -= count;
    if (now > -INFINITY) beliefs[value] += count * now; else bans[value] += count;
}

static inline double difference(double now, double old) {
    if (now == old) return 0.0;
    if (now == -INFINITY || old == -INFINITY) return 1e6;
    const double change = fabs(now - old);
    return change > 2e-15 * fabs(now) ? change : 0.0;
}

/* Return the largest change of a message; not a number where one would have to be computed by logarithms. */
double sweep_clauses(int64_t clauses, int64_t values, const uint32_t *restrict value_starts,
                     const uint32_t *restrict clause_starts, const uint32_t *restrict choices,
                     const uint32_t *restrict bit_starts, const uint8_t *restrict bits,
                     const double *restrict if_falsified, const double *restrict counts, double *restrict clause,
                     double *restrict beliefs, double *restrict bans, double *restrict changes,
                     double *restrict told_clause, double *restrict falsifying, double *restrict satisfying,
                     double damping) {
    const int64_t edges = clause_starts[clauses];
    for (int64_t value = 0; value < values; value++) beliefs[value] = bans[value] = 0.0;
    for (int64_t edge = 0; edge < edges; edge++) {
        const int64_t start = value_starts[choices[edge]], options = value_starts[choices[edge] + 1] - start;
        for (int64_t option = 0; option < options; option++)
            if (bits[bit_starts[edge] + option])
                hear(beliefs, bans, start + option, counts[edge], 0.0, clause[edge]);
    }
    double largest = 0.0;
    for (int64_t number = 0; number < clauses; number++) {
        const int64_t first = clause_starts[number], end = clause_starts[number + 1];
        for (int64_t edge = first; edge < end; edge++) {
            const int64_t start = value_starts[choices[edge]], bit = bit_starts[edge];
            const int64_t options = value_starts[choices[edge] + 1] - start;
            const double own = clause[edge];
            double most = -INFINITY, falsified = 0.0, satisfied = 0.0;
            for (int64_t option = 0; option < options; option++) {
                const double worth = without(beliefs, bans, start + option, bits[bit + option] ? own : 0.0);
                most = worth > most ? worth : most;
            }
            for (int64_t option = 0; option < options; option++) {
                const int falsifies = bits[bit + option] != 0;
                const double worth = exp(without(beliefs, bans, start + option, falsifies ? own : 0.0) - most);
                falsified += falsifies ? worth : 0.0;
                satisfied += falsifies ? 0.0 : worth;
            }
            const double total = falsified + satisfied;
            falsifying[edge] = falsified / total;
            satisfying[edge] = satisfied / total;
        }
        double all_false = 1.0, some_true = 0.0, change = 0.0;
        for (int64_t edge = first; edge < end; edge++) {
            double others = all_false, worth = some_true;
            for (int64_t other = edge + 1; other < end; other++) {
                worth += others * satisfying[other];
                others *= falsifying[other];
            }
            worth += others * if_falsified[number];
            if (!(1e-280 < worth && worth < 1e280)) return NAN;
            double told = log(worth);
            if (told != -INFINITY && clause[edge] != -INFINITY)
                told = (1.0 - damping) * told + damping * clause[edge];
            told_clause[edge] = told;
            const double moved = difference(told, clause[edge]);
            change = moved > change ? moved : change;
            some_true += all_false * satisfying[edge];
            all_false *= falsifying[edge];
        }
        changes[number] = change;
        largest = change > largest ? change : largest;
        for (int64_t edge = first; edge < end; edge++) {
            const int64_t start = value_starts[choices[edge]], options = value_starts[choices[edge] + 1] - start;
            for (int64_t option = 0; option < options; option++)
                if (bits[bit_starts[edge] + option])
                    hear(beliefs, bans, start + option, counts[edge], clause[edge], told_clause[edge]);
            clause[edge] = told_clause[edge];
        }
    }
    return largest;
}
