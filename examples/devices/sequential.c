/* A device under test in C: d = c + sum of a[k] * b[k] with k descending, in float arithmetic.
 *
 *   cc -O2 -ffp-contract=off -shared -fPIC -I crates/mmascope-host/include -o sequential.so examples/devices/sequential.c
 *   mmascope eval --subject plugin:sequential.so questions.jsonl
 */
#include "mmascope_plugin.h"

#include <string.h>

enum { K = 8 };

static float value(uint64_t word) {
    uint32_t bits = (uint32_t)word;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

uint32_t mmascope_abi(void) { return 1; }

const char *mmascope_signature(void) { return "a=f32 b=f32 c=f32 d=f32 k=8"; }

int mmascope_run(size_t n, const uint64_t *a, const uint64_t *b, const uint64_t *c,
                 const uint64_t *scale_a, const uint64_t *scale_b, uint64_t *d) {
    (void)scale_a;
    (void)scale_b;
    for (size_t i = 0; i < n; i++) {
        float sum = value(c[i]);
        for (int k = K - 1; k >= 0; k--) {
            float product = value(a[i * K + k]) * value(b[i * K + k]);
            sum = sum + product;
        }
        uint32_t bits;
        memcpy(&bits, &sum, sizeof bits);
        d[i] = bits;
    }
    return 0;
}
