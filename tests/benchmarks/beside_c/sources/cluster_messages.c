/* Messages between clusters: the loops of mlnlab/kernels/messages/cluster_messages.py, in logarithms, and of
 * allowed_cells.py, the sums of allowed cells. */
#include <math.h>
#include <stdint.h>

static void score_cells(const int64_t *restrict cell_starts, const double *restrict logs,
                        const int64_t *restrict message_starts, const int64_t *restrict heard_starts,
                        const int64_t *restrict heard, const int64_t *restrict place_starts,
                        const uint32_t *restrict places, const double *restrict messages, double *restrict scores,
                        int64_t cluster, int64_t but) {
    const int64_t first = cell_starts[cluster], number = cell_starts[cluster + 1] - first;
    for (int64_t cell = 0; cell < number; cell++) scores[cell] = logs[first + cell];
    for (int64_t at = heard_starts[cluster]; at < heard_starts[cluster + 1]; at++) {
        const int64_t message = heard[at];
        if (message == but) continue;
        const double *own = messages + message_starts[message];
        const uint32_t *places_of_cells = places + place_starts[message];
        for (int64_t cell = 0; cell < number; cell++) scores[cell] += own[places_of_cells[cell]];
    }
}

/* Send all messages forward, cluster after cluster, and then back, undamped. */
void sweep_clusters(int64_t clusters, const int64_t *restrict cell_starts, const double *restrict logs,
                    const int64_t *restrict message_starts, const int64_t *restrict sources,
                    const int64_t *restrict heard_starts, const int64_t *restrict heard,
                    const int64_t *restrict place_starts, const uint32_t *restrict places,
                    double *restrict messages, double *restrict next, double *restrict sums,
                    double *restrict scores) {
    for (int back = 0; back < 2; back++)
        for (int64_t turn = 0; turn < clusters; turn++) {
            const int64_t cluster = back ? clusters - 1 - turn : turn;
            for (int64_t at = heard_starts[cluster]; at < heard_starts[cluster + 1]; at++) {
                const int64_t answer = heard[at], message = answer ^ 1, start = message_starts[message];
                if ((message & 1) != back) continue;
                const int64_t size = message_starts[message + 1] - start;
                const int64_t number = cell_starts[cluster + 1] - cell_starts[cluster];
                const uint32_t *own = places + place_starts[answer];
                score_cells(cell_starts, logs, message_starts, heard_starts, heard, place_starts, places, messages,
                            scores, cluster, answer);
                for (int64_t value = 0; value < size; value++) next[start + value] = -INFINITY, sums[value] = 0.0;
                for (int64_t cell = 0; cell < number; cell++)
                    if (scores[cell] > next[start + own[cell]]) next[start + own[cell]] = scores[cell];
                for (int64_t cell = 0; cell < number; cell++)
                    if (scores[cell] > -INFINITY) sums[own[cell]] += exp(scores[cell] - next[start + own[cell]]);
                double most = -INFINITY;
                for (int64_t value = 0; value < size; value++) {
                    if (sums[value] > 0.0) next[start + value] += log(sums[value]);
                    if (next[start + value] > most) most = next[start + value];
                }
                for (int64_t value = start; value < start + size; value++)
                    messages[value] = next[value] = most > -INFINITY ? next[value] - most : -INFINITY;
            }
        }
}

static double sum_row(const uint8_t *restrict allowed, const double *restrict weights, double *restrict terms,
                      int64_t length) {
    int64_t left = length / 8;
    const int64_t n = left;
    double total = 0.0;
    for (int64_t at = 0; at < n; at++) {
        double low = weights[at] * allowed[at] + weights[at + n] * allowed[at + n];
        low += weights[at + 2 * n] * allowed[at + 2 * n] + weights[at + 3 * n] * allowed[at + 3 * n];
        double high = weights[at + 4 * n] * allowed[at + 4 * n] + weights[at + 5 * n] * allowed[at + 5 * n];
        high += weights[at + 6 * n] * allowed[at + 6 * n] + weights[at + 7 * n] * allowed[at + 7 * n];
        terms[at] = low + high;
    }
    for (int64_t at = 8 * n; at < length; at++) total += weights[at] * allowed[at];
    while (left > 4) {
        const int64_t half = left / 2, behind = left - half;
        for (int64_t at = 0; at < half; at++) terms[at] += terms[behind + at];
        left -= half;
    }
    for (int64_t at = 0; at < left; at++) total += terms[at];
    return total;
}

/* Make all sums of a message afresh, of a cluster of two variables that hears one other message. */
void sum_message(const uint8_t *restrict allowed, int64_t rows, int64_t length, const double *restrict heard,
                 int64_t heard_along, double *restrict sums, double *restrict weights, double *restrict terms) {
    for (int64_t place = 0; place < (heard_along ? rows : length); place++) sums[place] = 0.0;
    for (int64_t cell = 0; cell < length; cell++) weights[cell] = heard_along ? heard[cell] : 1.0;
    for (int64_t row = 0; row < rows; row++) {
        const double factor = heard_along ? 1.0 : heard[row];
        if (factor == 0.0) continue;
        if (heard_along)
            sums[row] += factor * sum_row(allowed + row * length, weights, terms, length);
        else
            for (int64_t cell = 0; cell < length; cell++)
                sums[cell] += factor * weights[cell] * allowed[row * length + cell];
    }
}
