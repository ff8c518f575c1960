/* Arithmetic circuits in C: the loops of mlnlab/kernels/circuits/upward_passes.py over the same arrays. */

#include <stdint.h>

#define SUM 2
#define LANES 8

void raise_values(int64_t runs, const uint8_t *kinds, const uint32_t *arities, const uint32_t *starts,
                  const uint32_t *edges, const uint32_t *children, double *values) {
    for (int64_t run = 0; run < runs; run++) {
        int64_t edge = edges[run], arity = arities[run];
        if (arity == 2 && kinds[run] == SUM) {
            for (int64_t node = starts[run]; node < starts[run + 1]; node++, edge += 2)
                values[node] = values[children[edge]] + values[children[edge + 1]];
        } else if (arity == 2) {
            for (int64_t node = starts[run]; node < starts[run + 1]; node++, edge += 2)
                values[node] = values[children[edge]] * values[children[edge + 1]];
        } else if (kinds[run] == SUM) {
            for (int64_t node = starts[run]; node < starts[run + 1]; node++, edge += arity) {
                double total = 0.0;
                for (int64_t place = edge; place < edge + arity; place++) total += values[children[place]];
                values[node] = total;
            }
        } else {
            for (int64_t node = starts[run]; node < starts[run + 1]; node++, edge += arity) {
                double total = 1.0;
                for (int64_t place = edge; place < edge + arity; place++) total *= values[children[place]];
                values[node] = total;
            }
        }
    }
}

void raise_blocks(int64_t runs, const uint8_t *kinds, const uint32_t *arities, const uint32_t *starts,
                  const uint32_t *edges, const uint32_t *children, double *values) {
    for (int64_t run = 0; run < runs; run++) {
        int64_t edge = edges[run], arity = arities[run];
        for (int64_t node = starts[run]; node < starts[run + 1]; node++, edge += arity) {
            double *out = values + node * LANES, total[LANES];
            const double *one = values + (int64_t)children[edge] * LANES;
            for (int lane = 0; lane < LANES; lane++) total[lane] = one[lane];
            for (int64_t place = edge + 1; place < edge + arity; place++) {
                const double *more = values + (int64_t)children[place] * LANES;
                if (kinds[run] == SUM)
                    for (int lane = 0; lane < LANES; lane++) total[lane] += more[lane];
                else
                    for (int lane = 0; lane < LANES; lane++) total[lane] *= more[lane];
            }
            for (int lane = 0; lane < LANES; lane++) out[lane] = total[lane];
        }
    }
}
