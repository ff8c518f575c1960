/* SampleSAT over ground clauses: the loop of mlnlab/kernels/sample_sat.py, for open atoms without tables. */
#include <math.h>
#include <stdint.h>

static inline uint64_t turned(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

static inline double uniform(uint64_t *s) {
    const uint64_t result = turned(s[0] + s[3], 23) + s[0], t = s[1] << 17;
    s[2] ^= s[0]; s[3] ^= s[1]; s[1] ^= s[2]; s[0] ^= s[3]; s[2] ^= t; s[3] = turned(s[3], 45);
    return (double)(int64_t)(result >> 11) * 0x1.0p-53;
}

/* The bound is looked at as well, so that a wrong generator gives wrong results and not a crash. */
static inline int64_t below(uint64_t *s, int64_t bound) {
    const int64_t drawn = (int64_t)(uniform(s) * (double)bound);
    return drawn < bound ? drawn : bound - 1;
}

typedef struct {
    const uint32_t *starts, *occurrences, *clause_starts, *literals;
    const uint8_t *asked; /* 3: of the component in hand */
    const uint8_t *frozen; /* atoms that keep their truth */
    const uint32_t *members; /* the atoms of the component */
    uint8_t *values;
    uint32_t *satisfied, *broken, *places;
    uint64_t *random;
    int64_t number; /* of broken clauses */
} World;

static inline int64_t breaks(const World *w, uint32_t atom) {
    int64_t number = 0;
    for (uint32_t place = w->starts[atom]; place < w->starts[atom + 1]; place++)
        if (w->values[atom] ^ (w->occurrences[place] & 1)) {
            const uint32_t clause = w->occurrences[place] >> 1;
            number += w->satisfied[clause] == 1 && w->asked[clause] == 3;
        }
    return number;
}

static inline int64_t change_by(const World *w, uint32_t atom) {
    int64_t number = 0;
    for (uint32_t place = w->starts[atom]; place < w->starts[atom + 1]; place++) {
        const uint32_t clause = w->occurrences[place] >> 1, is_true = w->values[atom] ^ (w->occurrences[place] & 1);
        if (w->satisfied[clause] == is_true && w->asked[clause] == 3) number += is_true ? 1 : -1;
    }
    return number;
}

static inline void flip(World *w, uint32_t atom) {
    for (uint32_t place = w->starts[atom]; place < w->starts[atom + 1]; place++) {
        const uint32_t clause = w->occurrences[place] >> 1;
        if (w->values[atom] ^ (w->occurrences[place] & 1)) {
            if (--w->satisfied[clause] == 0 && w->asked[clause] == 3) {
                w->broken[w->number] = clause;
                w->places[clause] = (uint32_t)++w->number;
            }
        } else if (w->satisfied[clause]++ == 0 && w->asked[clause] == 3) {
            const uint32_t other = w->broken[--w->number], hole = w->places[clause];
            w->broken[hole - 1] = other;
            w->places[other] = hole;
            w->places[clause] = 0;
        }
    }
    w->values[atom] = (uint8_t)(1 - w->values[atom]);
}

static inline void walk(World *w) {
    const uint32_t clause = w->broken[below(w->random, w->number)];
    const int any = uniform(w->random) < 0.5;
    int64_t fewest = INT64_MAX, ties = 0;
    uint32_t best = 0;
    for (uint32_t place = w->clause_starts[clause]; place < w->clause_starts[clause + 1]; place++) {
        if (w->frozen[w->literals[place] >> 1]) continue;
        const int64_t number = any ? 0 : breaks(w, w->literals[place] >> 1);
        if (number < fewest) { fewest = number; best = place; ties = 1; }
        else if (number == fewest && below(w->random, ++ties) == 0) best = place;
    }
    flip(w, w->literals[best] >> 1);
}

static inline void wander(World *w, int64_t atoms, double acceptance) {
    const uint32_t atom = w->members[below(w->random, atoms)];
    const int64_t change = change_by(w, atom);
    if (change > 0) {
        double probability = 1.0;
        for (int64_t k = 0; k < change; k++) probability *= acceptance;
        if (uniform(w->random) >= probability) return;
    }
    flip(w, atom);
}

int64_t search(int64_t atoms, const uint32_t *starts, const uint32_t *occurrences, const uint32_t *clause_starts,
               const uint32_t *literals, const uint8_t *asked, const uint8_t *frozen, const uint32_t *members,
               uint8_t *values, uint32_t *satisfied, uint32_t *broken, uint32_t *places, uint64_t *random, int64_t number, double walking, double acceptance, int64_t moves) {
    World w = {starts, occurrences, clause_starts, literals, asked, frozen, members,
               values, satisfied, broken, places, random, number};
    for (int64_t done = 0; done < moves && w.number; done++) {
        if (uniform(random) < walking) walk(&w);
        else wander(&w, atoms, acceptance);
    }
    return w.number;
}
