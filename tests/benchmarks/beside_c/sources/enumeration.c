/* The sum over all worlds as a person would write it in C, for the model of enumeration_speed.py:
 * people A..D, atoms S(x), C(x), F(x,y), G, H in this order from bit 0; log Z and every atom's marginal. */
#include <math.h>
#include <stdint.h>

#define N 4
#define S(w, x) ((w) >> (x) & 1)
#define C(w, x) ((w) >> (N + (x)) & 1)
#define F(w, x, y) ((w) >> (2 * N + N * (x) + (y)) & 1)

double sum_over_worlds(int atoms, const double *weights, double *marginals) {
    double z = 0;
    int shift = 0;
    for (int a = 0; a < atoms; a++) marginals[a] = 0;
    for (uint64_t w = 0; w < (uint64_t)1 << atoms; w++) {
        int n[5] = {0, 0, 0, 0, 0};
        int g = atoms > 2 * N + N * N ? (int)(w >> (2 * N + N * N) & 1) : 0;
        for (int x = 0; x < N; x++) {
            n[0] += !S(w, x) | C(w, x);
            n[3] += !g | S(w, x);
            for (int y = 0; y < N; y++) {
                n[1] += !F(w, x, y) | (S(w, x) == S(w, y));
                n[2] += F(w, x, y);
                for (int v = 0; v < N; v++) n[4] += !(F(w, x, y) & F(w, y, v)) | F(w, x, v);
            }
        }
        double weight = 0;
        for (int i = 0; i < 5; i++) weight += weights[i] * n[i];
        double p = exp(weight - 100 - shift);
        z += p;
        for (int a = 0; a < atoms; a++)
            if (w >> a & 1) marginals[a] += p;
    }
    for (int a = 0; a < atoms; a++) marginals[a] /= z;
    return log(z) + 100;
}
