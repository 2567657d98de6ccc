/* Every function of mmascope.h, with right and wrong arguments. Prints what differs; tests/c.rs runs it. */
#include <math.h>
#include <mmascope.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

#define EXPECT(condition)                                                                                    \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            printf("line %d: %s (last error: %s)\n", __LINE__, #condition, mmascope_last_error());            \
            failures++;                                                                                      \
        }                                                                                                    \
    } while (0)

/* A status of 2, and a message that has the words. */
#define REFUSED(call, words)                                                                                 \
    do {                                                                                                     \
        EXPECT((call) == 2);                                                                                 \
        EXPECT(strstr(mmascope_last_error(), words) != NULL);                                                \
    } while (0)

static const char *const F16 = "mma.m16n8k16.f32.f16.f16.f32";

static void units(void) {
    mmascope_unit *unit = NULL;
    mmascope_shape shape;
    char text[400];
    size_t needed = 0;
    EXPECT(mmascope_unit_find("h100", F16, &unit) == 0);
    EXPECT(mmascope_unit_shape(unit, &shape) == 0);
    EXPECT(shape.k == 16 && shape.scales == 0 && shape.bytes_a == 2 && shape.bytes_d == 4);
    EXPECT(mmascope_unit_text(unit, NULL, 0, &needed) == 0 && needed > 40 && needed < sizeof text);
    EXPECT(mmascope_unit_text(unit, text, sizeof text, NULL) == 0 && strlen(text) + 1 == needed);
    REFUSED(mmascope_unit_text(unit, text, needed - 1, NULL), "needs");
    /* What is printed reads as the same unit. */
    char *program = strchr(text, '\n');
    EXPECT(program != NULL);
    if (program != NULL) {
        mmascope_unit *same = NULL;
        char again[400];
        *program++ = 0;
        again[0] = 0;
        EXPECT(mmascope_unit_parse(text, program, &same) == 0);
        EXPECT(mmascope_unit_text(same, again, sizeof again, NULL) == 0);
        EXPECT(strchr(again, '\n') != NULL && strcmp(strchr(again, '\n') + 1, program) == 0);
        mmascope_unit_free(same);
    }
    mmascope_unit_free(unit);
    mmascope_unit_free(NULL);
    REFUSED(mmascope_unit_find("hoper", F16, &unit), "hopper");
    REFUSED(mmascope_unit_find(NULL, F16, &unit), "architecture is NULL");
    REFUSED(mmascope_unit_find("\xff", F16, &unit), "UTF-8");
    REFUSED(mmascope_unit_find("hopper", F16, NULL), "out is NULL");
    REFUSED(mmascope_unit_parse("a=f16 b=f16 c=f32 d=f32 k=16", "t-fdpa L=16", &unit), "F");
    REFUSED(mmascope_unit_shape(NULL, &shape), "unit is NULL");
    REFUSED(mmascope_unit_shape((const mmascope_unit *)((const char *)&shape + 1), &shape), "unit is misaligned");
    REFUSED(mmascope_unit_load("nonsense\n", "mine", F16, &unit), "isa:1:1");
    EXPECT(mmascope_unit_load("", "hopper", F16, &unit) == 0);
    mmascope_unit_free(unit);
    EXPECT(mmascope_interface() == 1 && strlen(mmascope_version()) >= 5);
}

static void dots(void) {
    uint64_t a[8] = {0xf000, 0xb800, 0xb400, 0xb000}, b[8] = {0x6400, 0x3c00, 0x3c00, 0x3c00};
    uint64_t c = 0x4b000000, d = 7;
    mmascope_unit *unit = NULL;
    EXPECT(mmascope_unit_find("hopper", "mma.m16n8k8.f32.f16.f16.f32", &unit) == 0);
    EXPECT(mmascope_dot(unit, 1, a, b, &c, NULL, NULL, &d) == 0 && d == 0xbf400000);
    EXPECT(mmascope_dot(unit, 0, NULL, NULL, NULL, NULL, NULL, NULL) == 0);
    d = 7;
    a[0] = 0x10000;
    REFUSED(mmascope_dot(unit, 1, a, b, &c, NULL, NULL, &d), "10000");
    EXPECT(d == 7);
    a[0] = 0xf000;
    REFUSED(mmascope_dot(unit, 1, NULL, b, &c, NULL, NULL, &d), "a is NULL");
    REFUSED(mmascope_dot(unit, 1, a, b, &c, NULL, NULL, NULL), "d is NULL");
    REFUSED(mmascope_dot(unit, 1, (const uint64_t *)((const char *)a + 1), b, &c, NULL, NULL, &d), "misaligned");
    REFUSED(mmascope_dot(unit, SIZE_MAX / 2, a, b, &c, NULL, NULL, &d), "more elements than memory");
    /* One row and one column: a tile is a dot product. */
    uint64_t tile = 0;
    EXPECT(mmascope_tile(unit, 1, 1, a, b, &c, NULL, NULL, &tile) == 0 && tile == 0xbf400000);
    mmascope_unit_free(unit);
}

static void products(void) {
    enum { M = 3, N = 5, K = 40 };
    uint16_t a[M * K], b[K * N], transposed[N * K];
    float c[M * N], d[M * N], one[M * N], other[M * N];
    mmascope_unit *unit = NULL;
    char tree[8000];
    EXPECT(mmascope_unit_find("ampere", F16, &unit) == 0);
    for (int i = 0; i < M * K; i++) a[i] = (uint16_t)(0x3c00 + i * 37 % 900);
    for (int i = 0; i < K * N; i++) b[i] = (uint16_t)(0xb400 + i * 53 % 900);
    for (int k = 0; k < K; k++)
        for (int j = 0; j < N; j++) transposed[j * K + k] = b[k * N + j];
    for (int i = 0; i < M * N; i++) c[i] = (float)i;
    EXPECT(mmascope_matmul(unit, NULL, 0, M, N, K, a, b, c, NULL, NULL, d, 1) == 0);
    EXPECT(mmascope_matmul(unit, NULL, MMASCOPE_TRANSPOSE_B, M, N, K, a, transposed, c, NULL, NULL, one, 2) == 0);
    EXPECT(memcmp(d, one, sizeof d) == 0);
    /* Output (2, 4) by the instruction, step by step. */
    uint64_t sum = 0;
    memcpy(&sum, &c[2 * N + 4], 4);
    for (int step = 0; step < 3; step++) {
        uint64_t x[16] = {0}, y[16] = {0}, before = sum;
        for (int k = 0; k < 16 && step * 16 + k < K; k++) {
            x[k] = a[2 * K + step * 16 + k];
            y[k] = b[(step * 16 + k) * N + 4];
        }
        EXPECT(mmascope_dot(unit, 1, x, y, &before, NULL, NULL, &sum) == 0);
    }
    EXPECT(memcmp(&sum, &d[2 * N + 4], 4) == 0);
    /* Another schedule rounds elsewhere. */
    EXPECT(mmascope_matmul(unit, "split-k=2 reduce=ascending/f32", 0, M, N, K, a, b, c, NULL, NULL, other, 1) == 0);
    EXPECT(memcmp(d, other, sizeof d) != 0);
    REFUSED(mmascope_matmul(unit, "splat", 0, M, N, K, a, b, c, NULL, NULL, other, 1), "spl");
    REFUSED(mmascope_matmul(unit, NULL, 4, M, N, K, a, b, c, NULL, NULL, other, 1), "flags is 4");
    REFUSED(mmascope_matmul(unit, NULL, 0, 0, N, K, a, b, c, NULL, NULL, other, 1), "m, n and k");
    REFUSED(mmascope_matmul(unit, NULL, 0, M, N, K, a, b, c, NULL, NULL, other, 0), "threads is 0");
    REFUSED(mmascope_matmul(unit, NULL, 0, M, N, K, a, b, c, NULL, NULL, other, 1025), "1 to 1024 are allowed");
    REFUSED(mmascope_matmul(unit, NULL, 0, M, N, K, NULL, b, c, NULL, NULL, other, 1), "a is NULL");
    EXPECT(mmascope_tree(unit, NULL, 32, tree, sizeof tree, NULL) == 0 && strstr(tree, "\"fused\"") != NULL);
    REFUSED(mmascope_tree(unit, NULL, 33, tree, sizeof tree, NULL), "multiple of 16");
    REFUSED(mmascope_tree(unit, NULL, (size_t)1 << 52, tree, sizeof tree, NULL), "are supported");
    mmascope_unit_free(unit);
}

static void scaled(void) {
    float values[2 * 64], back[2 * 64], tensor = 0;
    uint8_t codes[2 * 64], scales[2 * 2];
    for (int i = 0; i < 128; i++) values[i] = (float)(i % 7) * 0.25F;
    EXPECT(mmascope_quantize("mxfp8-e4m3", NULL, 2, 64, 1, values, codes, scales, &tensor) == 0 && tensor == 1.0F);
    EXPECT(mmascope_dequantize("mxfp8-e4m3", 2, 64, 1, codes, scales, tensor, back) == 0);
    EXPECT(memcmp(values, back, sizeof values) == 0);
    REFUSED(mmascope_quantize("mxfp9", NULL, 2, 64, 1, values, codes, scales, &tensor), "mxfp9");
    REFUSED(mmascope_quantize("mxfp8-e4m3", NULL, 2, 64, 2, values, codes, scales, &tensor), "axis is 2");
    REFUSED(mmascope_dequantize("mxfp8-e4m3", 2, 64, 1, codes, scales, NAN, back), "scale");
    const uint64_t words[3] = {0x3f800000, 0xc47a0000, 0x7fc00000}, wide = 0x100000000;
    uint64_t cast[3];
    mmascope_cast_options options = {NULL, "satfinite", NULL, 0, 0, 0, 0};
    EXPECT(mmascope_cast("f32", "e4m3", &options, 3, words, cast) == 0);
    EXPECT(cast[0] == 0x38 && cast[1] == 0xfe && cast[2] == 0x7f);
    const mmascope_cast_options *odd = (const mmascope_cast_options *)((const char *)&options + 1);
    REFUSED(mmascope_cast("f32", "e4m3", odd, 3, words, cast), "options is misaligned");
    REFUSED(mmascope_cast("f32", "e4m4", NULL, 3, words, cast), "e4m3");
    REFUSED(mmascope_cast("f32", "e4m3", NULL, 1, &wide, cast), "words[0]");
    options.rounding = "up";
    REFUSED(mmascope_cast("f32", "e4m3", &options, 3, words, cast), "up");
}

static void cases(void) {
    uint64_t a[16], b[16], c, again[16];
    mmascope_unit *unit = NULL;
    EXPECT(mmascope_unit_find("h100", F16, &unit) == 0);
    EXPECT(mmascope_case(unit, "normal", 1, 5, a, b, &c, NULL, NULL) == 0);
    EXPECT(mmascope_case(unit, "normal", 1, 5, again, b, &c, NULL, NULL) == 0 && memcmp(a, again, sizeof a) == 0);
    EXPECT(mmascope_case(unit, "normal", 2, 5, again, b, &c, NULL, NULL) == 0 && memcmp(a, again, sizeof a) != 0);
    REFUSED(mmascope_case(unit, "norml", 1, 5, a, b, &c, NULL, NULL), "normal");
    REFUSED(mmascope_case(unit, "normal", 1, 5, a, NULL, &c, NULL, NULL), "b is NULL");
    mmascope_unit_free(unit);
}

int main(void) {
    setvbuf(stdout, NULL, _IONBF, 0); /* What is printed before a crash is seen. */
    units();
    dots();
    products();
    scaled();
    cases();
    /* The layouts that compiled programs rely on. */
    printf("shape %zu: %zu %zu %zu %zu %zu %zu %zu\n", sizeof(mmascope_shape), offsetof(mmascope_shape, k),
           offsetof(mmascope_shape, scales), offsetof(mmascope_shape, block), offsetof(mmascope_shape, bytes_a),
           offsetof(mmascope_shape, bytes_b), offsetof(mmascope_shape, bytes_c), offsetof(mmascope_shape, bytes_d));
    printf("options %zu: %zu %zu %zu %zu %zu %zu %zu\n", sizeof(mmascope_cast_options),
           offsetof(mmascope_cast_options, rounding), offsetof(mmascope_cast_options, overflow),
           offsetof(mmascope_cast_options, policy), offsetof(mmascope_cast_options, relu),
           offsetof(mmascope_cast_options, sat), offsetof(mmascope_cast_options, ftz),
           offsetof(mmascope_cast_options, pzo));
    printf("%d failures\n", failures);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
