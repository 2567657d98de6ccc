/* The same dot product on three architectures: c = 2^23 and the products -2^23, -1/2, -1/4, -1/8. */
#include <inttypes.h>
#include <mmascope.h>
#include <stdio.h>

static int show(const char *architecture, const char *instruction) {
    const uint64_t a[8] = {0xf000, 0xb800, 0xb400, 0xb000}, b[8] = {0x6400, 0x3c00, 0x3c00, 0x3c00};
    const uint64_t c = 0x4b000000;
    uint64_t d;
    mmascope_unit *unit;
    if (mmascope_unit_find(architecture, instruction, &unit) != 0 ||
        mmascope_dot(unit, 1, a, b, &c, NULL, NULL, &d) != 0) {
        fprintf(stderr, "%s\n", mmascope_last_error());
        return 1;
    }
    mmascope_unit_free(unit);
    printf("%-8s %08" PRIx64 "\n", architecture, d);
    return 0;
}

int main(void) {
    return show("turing", "mma.m16n8k8.f32.f16.f16.f32") | show("hopper", "mma.m16n8k8.f32.f16.f16.f32") |
           show("MI100", "v_mfma_f32_32x32x8_f16");
}
