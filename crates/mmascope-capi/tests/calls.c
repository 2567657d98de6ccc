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
    EXPECT(mmascope_interface() == 2 && strlen(mmascope_version()) >= 5);
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
    REFUSED(mmascope_dot(unit, 1, a, b, &c, NULL, NULL, &d), "a[0] is 0x10000; a word of f16 is at most 0xffff");
    EXPECT(d == 7);
    a[0] = 0xf000;
    REFUSED(mmascope_dot(unit, 1, NULL, b, &c, NULL, NULL, &d), "a is NULL");
    REFUSED(mmascope_dot(unit, 1, a, b, &c, NULL, NULL, NULL), "d is NULL");
    REFUSED(mmascope_dot(unit, 1, (const uint64_t *)((const char *)a + 1), b, &c, NULL, NULL, &d), "misaligned");
    REFUSED(mmascope_dot(unit, SIZE_MAX / 2, a, b, &c, NULL, NULL, &d), "more elements than memory");
    /* One row and one column: a tile is a dot product. */
    uint64_t tile = 0;
    EXPECT(mmascope_tile(unit, 1, 1, a, b, &c, NULL, NULL, &tile) == 0 && tile == 0xbf400000);
    EXPECT(mmascope_tile(unit, 0, 1, NULL, b, NULL, NULL, NULL, NULL) == 0);
    /* Scales that nobody would read are another unit's. */
    REFUSED(mmascope_dot(unit, 1, a, b, &c, a, NULL, &d), "scale_a is given, but the unit has no scales");
    REFUSED(mmascope_tile(unit, 1, 1, a, b, &c, NULL, b, &d), "scale_b is given, but the unit has no scales");
    mmascope_unit_free(unit);
}

/* Arrays of packed elements at odd addresses give what words give. */
static void packed_dots(void) {
    enum { N = 3, K = 32 };
    uint64_t a[N * K], b[N * K], c[N], scale_a[N], scale_b[N], d[N], tile[N * N], b_tile[K * N], scale_tile[N], c_tile[N * N];
    uint8_t packed[4 * N * K + 64], *a8 = packed + 1, *b8 = a8 + N * K, *scale_a8 = b8 + N * K, *scale_b8 = scale_a8 + N,
                                    *c8 = scale_b8 + N, *d8 = c8 + 4 * N;
    uint8_t b_tile8[K * N], c_tile8[4 * N * N], d_tile8[4 * N * N];
    mmascope_unit *unit = NULL;
    EXPECT(mmascope_unit_parse("a=e4m3 b=e5m2 c=f32 d=f32 k=32 scale=ue8m0 block=32",
                               "st-fdpa L=32 F=25 e0=-133 -> rz f32", &unit) == 0);
    for (int i = 0; i < N; i++)
        EXPECT(mmascope_case(unit, "normal", 3, (uint64_t)i, a + i * K, b + i * K, c + i, scale_a + i, scale_b + i) == 0);
    EXPECT(mmascope_dot(unit, N, a, b, c, scale_a, scale_b, d) == 0);
    for (int i = 0; i < N * K; i++) a8[i] = (uint8_t)a[i], b8[i] = (uint8_t)b[i];
    for (int i = 0; i < N; i++) {
        scale_a8[i] = (uint8_t)scale_a[i], scale_b8[i] = (uint8_t)scale_b[i];
        memcpy(c8 + 4 * i, &c[i], 4);
    }
    EXPECT(mmascope_dot_packed(unit, N, a8, b8, c8, scale_a8, scale_b8, d8) == 0);
    for (int i = 0; i < N; i++) EXPECT(memcmp(d8 + 4 * i, &d[i], 4) == 0);
    /* The questions' outputs are the diagonal of a tile. */
    for (int i = 0; i < N; i++) {
        scale_tile[i] = scale_b[i];
        for (int k = 0; k < K; k++) b_tile[k * N + i] = b[i * K + k], b_tile8[k * N + i] = (uint8_t)b[i * K + k];
        for (int j = 0; j < N; j++) {
            c_tile[i * N + j] = c[i];
            memcpy(c_tile8 + 4 * (i * N + j), &c[i], 4);
        }
    }
    EXPECT(mmascope_tile(unit, N, N, a, b_tile, c_tile, scale_a, scale_tile, tile) == 0);
    EXPECT(mmascope_tile_packed(unit, N, N, a8, b_tile8, c_tile8, scale_a8, scale_b8, d_tile8) == 0);
    for (int i = 0; i < N; i++) EXPECT(tile[i * N + i] == d[i]);
    for (int i = 0; i < N * N; i++) EXPECT(memcmp(d_tile8 + 4 * i, &tile[i], 4) == 0);
    REFUSED(mmascope_dot_packed(unit, N, a8, b8, c8, NULL, scale_b8, d8), "scale_a is NULL");
    REFUSED(mmascope_tile_packed(unit, N, N, a8, b_tile8, c_tile8, scale_a8, scale_b8, NULL), "d is NULL");
    mmascope_unit_free(unit);
    /* A code of 4 bits that has 5. */
    EXPECT(mmascope_unit_parse("a=e2m1 b=e2m1 c=f32 d=f32 k=2", "t-fdpa L=2 F=25 e0=-133 -> rz f32", &unit) == 0);
    const uint8_t four[2] = {8, 8}, five[2] = {8, 0x13};
    EXPECT(mmascope_dot_packed(unit, 1, four, four, c, NULL, NULL, d8) == 0);
    REFUSED(mmascope_dot_packed(unit, 1, four, five, c, NULL, NULL, d8), "b[1] is 0x13");
    mmascope_unit_free(unit);
}

/* Sizes that fit no memory: their bytes overflow, or are 2^50. No operand is read. */
static void sizes(void) {
    const size_t half = SIZE_MAX / 2 + 1, far = (size_t)1 << 50, side = (size_t)1 << 25;
    uint64_t word = 0, d = 7;
    float value = 0;
    uint8_t byte = 0;
    mmascope_unit *unit = NULL;
    EXPECT(mmascope_unit_find("ampere", F16, &unit) == 0);
#define TOO_LARGE(call) REFUSED(call, "memory")
    TOO_LARGE(mmascope_dot(unit, far, &word, &word, &word, NULL, NULL, &d));
    TOO_LARGE(mmascope_dot(unit, half, &word, &word, &word, NULL, NULL, &d));
    TOO_LARGE(mmascope_dot_packed(unit, far, &word, &word, &word, NULL, NULL, &d));
    TOO_LARGE(mmascope_tile(unit, side, side, &word, &word, &word, NULL, NULL, &d));
    TOO_LARGE(mmascope_tile(unit, half, half, &word, &word, &word, NULL, NULL, &d));
    TOO_LARGE(mmascope_tile_packed(unit, side, side, &word, &word, &word, NULL, NULL, &d));
    TOO_LARGE(mmascope_matmul(unit, NULL, 0, side, side, 1, &word, &word, NULL, NULL, NULL, &d, 1));
    TOO_LARGE(mmascope_matmul(unit, NULL, 0, half, half, 1, &word, &word, NULL, NULL, NULL, &d, 1));
    TOO_LARGE(mmascope_matmul(unit, NULL, 0, half, 1, 1, &word, &word, NULL, NULL, NULL, &d, 1));
    TOO_LARGE(mmascope_matmul(unit, NULL, 0, 1, 1, far, &word, &word, NULL, NULL, NULL, &d, 1));
    TOO_LARGE(mmascope_matmul(unit, NULL, 0, 1, 1, SIZE_MAX, &word, &word, NULL, NULL, NULL, &d, 1));
    TOO_LARGE(mmascope_matmul(unit, "split-k=2 reduce=ascending/f32", 0, side, side, 1, &word, &word, NULL, NULL, NULL, &d, 1));
    TOO_LARGE(mmascope_matmul_words(unit, NULL, 0, side, side, 1, &word, &word, NULL, NULL, NULL, &d, 1));
    TOO_LARGE(mmascope_matmul_words(unit, NULL, 0, 1, 1, far, &word, &word, NULL, NULL, NULL, &d, 1));
    TOO_LARGE(mmascope_cast("f32", "f16", NULL, far, &word, &word));
    TOO_LARGE(mmascope_cast_packed("f32", "f16", NULL, far, &word, &d));
    TOO_LARGE(mmascope_cast("f32", "f16", NULL, SIZE_MAX, &word, &word));
    TOO_LARGE(mmascope_quantize("mxfp8-e4m3", NULL, side, side, 1, &value, &byte, &byte, &value));
    TOO_LARGE(mmascope_quantize("mxfp8-e4m3", NULL, half, half, 1, &value, &byte, &byte, &value));
    TOO_LARGE(mmascope_dequantize("mxfp8-e4m3", side, side, 1, &byte, &byte, 1.0F, &value));
    EXPECT(d == 7);
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
    /* The same of words. */
    uint64_t a64[M * K], b64[K * N], c64[M * N] = {0}, d64[M * N];
    for (int i = 0; i < M * K; i++) a64[i] = a[i];
    for (int i = 0; i < K * N; i++) b64[i] = b[i];
    for (int i = 0; i < M * N; i++) memcpy(&c64[i], &c[i], 4);
    EXPECT(mmascope_matmul_words(unit, NULL, 0, M, N, K, a64, b64, c64, NULL, NULL, d64, 1) == 0);
    for (int i = 0; i < M * N; i++) EXPECT(memcmp(&d64[i], &d[i], 4) == 0 && d64[i] >> 32 == 0);
    a64[7] = 0x12345;
    REFUSED(mmascope_matmul_words(unit, NULL, 0, M, N, K, a64, b64, c64, NULL, NULL, d64, 1), "a[7] is 0x12345");
    REFUSED(mmascope_matmul_words(unit, NULL, 0, M, N, K, (const uint64_t *)((const char *)a64 + 1), b64, c64, NULL,
                                  NULL, d64, 1), "a is misaligned");
    REFUSED(mmascope_matmul(unit, NULL, 0, M, N, K, a, b, c, a, NULL, other, 1), "scale_a is given");
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
    EXPECT(strstr(tree, "\"products\":32") != NULL);
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
    mmascope_cast_options options = {NULL, "satfinite", NULL, 0, 0, 0, 0, NULL};
    EXPECT(mmascope_cast("f32", "e4m3", &options, 3, words, cast) == 0);
    EXPECT(cast[0] == 0x38 && cast[1] == 0xfe && cast[2] == 0x7f);
    const mmascope_cast_options *odd = (const mmascope_cast_options *)((const char *)&options + 1);
    REFUSED(mmascope_cast("f32", "e4m3", odd, 3, words, cast), "options is misaligned");
    REFUSED(mmascope_cast("f32", "e4m4", NULL, 3, words, cast), "e4m3");
    REFUSED(mmascope_cast("f32", "e4m3", NULL, 1, &wide, cast), "words[0] is 0x100000000");
    /* Packed, and in place. */
    uint32_t packed[3] = {0x3f800000, 0xc47a0000, 0x7fc00000};
    EXPECT(mmascope_cast_packed("f32", "e4m3", &options, 3, packed, packed) == 0);
    EXPECT(memcmp(packed, "\x38\xfe\x7f", 3) == 0);
    REFUSED(mmascope_cast_packed("f32", "e4m3", &options, 3, NULL, packed), "words is NULL");
    /* 1 + 2^-11 in f16, half a unit above 1: up where the first of the discarded bits and the random bits carry. */
    const uint64_t halves[3] = {0x3f801000, 0x3f801000, 0x3f801000}, random[3] = {0x0fff, 0x1000, 0x1fff};
    const uint64_t many[3] = {0, 0, 0x2000};
    mmascope_cast_options stochastic = {"rs", NULL, NULL, 0, 0, 0, 0, random};
    EXPECT(mmascope_cast("f32", "f16", &stochastic, 3, halves, cast) == 0);
    EXPECT(cast[0] == 0x3c00 && cast[1] == 0x3c01 && cast[2] == 0x3c01);
    stochastic.rounding = NULL;
    EXPECT(mmascope_cast("f32", "f16", &stochastic, 3, halves, cast) == 0 && cast[1] == 0x3c01);
    stochastic.rounding = "rz";
    REFUSED(mmascope_cast("f32", "f16", &stochastic, 3, halves, cast), "random is given with the rounding rz");
    stochastic.rounding = "rs";
    stochastic.random = many;
    REFUSED(mmascope_cast("f32", "f16", &stochastic, 3, halves, cast), "random[2] is 0x2000");
    stochastic.random = (const uint64_t *)((const char *)random + 1);
    REFUSED(mmascope_cast("f32", "f16", &stochastic, 3, halves, cast), "random is misaligned");
    stochastic.random = NULL;
    REFUSED(mmascope_cast("f32", "f16", &stochastic, 3, halves, cast), "random is NULL");
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
    REFUSED(mmascope_case(unit, "normal", 1, 5, a, b, &c, again, NULL), "scale_a is given");
    mmascope_unit_free(unit);
}

int main(void) {
    setvbuf(stdout, NULL, _IONBF, 0); /* What is printed before a crash is seen. */
    units();
    dots();
    packed_dots();
    products();
    sizes();
    scaled();
    cases();
    /* The layouts that compiled programs rely on. */
    printf("shape %zu: %zu %zu %zu %zu %zu %zu %zu\n", sizeof(mmascope_shape), offsetof(mmascope_shape, k),
           offsetof(mmascope_shape, scales), offsetof(mmascope_shape, block), offsetof(mmascope_shape, bytes_a),
           offsetof(mmascope_shape, bytes_b), offsetof(mmascope_shape, bytes_c), offsetof(mmascope_shape, bytes_d));
    printf("options %zu: %zu %zu %zu %zu %zu %zu %zu %zu\n", sizeof(mmascope_cast_options),
           offsetof(mmascope_cast_options, rounding), offsetof(mmascope_cast_options, overflow),
           offsetof(mmascope_cast_options, policy), offsetof(mmascope_cast_options, relu),
           offsetof(mmascope_cast_options, sat), offsetof(mmascope_cast_options, ftz),
           offsetof(mmascope_cast_options, pzo), offsetof(mmascope_cast_options, random));
    printf("%d failures\n", failures);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
