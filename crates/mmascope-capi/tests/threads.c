/* Eight threads share one handle: each computes, makes mistakes of its own, and reads its own last error. Prints what
 * differs; tests/c.rs runs it, with the sanitiser for threads too. */
#include <mmascope.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 8, ROUNDS = 20, M = 5, N = 3, K = 48, STEP = 16, CASES = 7 };

static const mmascope_unit *unit;
static uint64_t a[CASES * STEP], b[CASES * STEP], c[CASES], alone[CASES], tile_alone[4];
static uint16_t a_matrix[M * K], b_matrix[K * N];
static uint32_t d_alone[M * N];
static atomic_int failures;

#define EXPECT(condition)                                                                                    \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            printf("line %d: %s (last error: %s)\n", __LINE__, #condition, mmascope_last_error());            \
            failures++;                                                                                      \
        }                                                                                                    \
    } while (0)

/* What every call gives, on whatever thread. */
static void answers(void) {
    uint64_t d[CASES], tile[4], case_a[STEP], case_b[STEP], case_c, cast[2];
    const uint64_t words[2] = {0x3f800000, 0x40000000};
    uint32_t product[M * N];
    EXPECT(mmascope_dot(unit, CASES, a, b, c, NULL, NULL, d) == 0 && memcmp(d, alone, sizeof d) == 0);
    EXPECT(mmascope_tile(unit, 2, 2, a, b, c, NULL, NULL, tile) == 0 && memcmp(tile, tile_alone, sizeof tile) == 0);
    EXPECT(mmascope_matmul(unit, NULL, 0, M, N, K, a_matrix, b_matrix, NULL, NULL, NULL, product, 2) == 0);
    EXPECT(memcmp(product, d_alone, sizeof product) == 0);
    EXPECT(mmascope_cast("f32", "f16", NULL, 2, words, cast) == 0 && cast[0] == 0x3c00 && cast[1] == 0x4000);
    EXPECT(mmascope_case(unit, "normal", 1, 0, case_a, case_b, &case_c, NULL, NULL) == 0);
    EXPECT(memcmp(case_a, a, sizeof case_a) == 0 && case_c == c[0]);
}

static void *work(void *argument) {
    const int index = *(const int *)argument;
    mmascope_unit *own = NULL;
    char name[20], text[400];
    EXPECT(mmascope_last_error()[0] == 0);
    snprintf(name, sizeof name, "chip-%d-", index);
    for (int round = 0; round < ROUNDS; round++) {
        EXPECT(mmascope_unit_find(name, "mma", &own) == 2 && strstr(mmascope_last_error(), name) != NULL);
        const char *before = mmascope_last_error();
        answers();
        /* Neither calls that succeed nor mistakes on other threads change it. */
        EXPECT(mmascope_last_error() == before && strstr(before, name) != NULL);
        EXPECT(mmascope_unit_text(unit, text, sizeof text, NULL) == 0 && strstr(text, "k=16") != NULL);
    }
    EXPECT(mmascope_unit_find("hopper", "mma.m16n8k16.f32.f16.f16.f32", &own) == 0);
    mmascope_unit_free(own);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    int indices[THREADS];
    mmascope_unit *found = NULL;
    setvbuf(stdout, NULL, _IONBF, 0);
    /* The threads themselves are the first to read the catalogue but for this notation. */
    EXPECT(mmascope_unit_parse("a=f16 b=f16 c=f32 d=f32 k=16", "t-fdpa L=16 F=24 e0=-133 -> rz f32", &found) == 0);
    unit = found;
    for (int i = 0; i < CASES; i++)
        EXPECT(mmascope_case(unit, "normal", 1, (uint64_t)i, a + i * STEP, b + i * STEP, c + i, NULL, NULL) == 0);
    for (int i = 0; i < M * K; i++) a_matrix[i] = (uint16_t)a[i % (CASES * STEP)];
    for (int i = 0; i < K * N; i++) b_matrix[i] = (uint16_t)b[i % (CASES * STEP)];
    EXPECT(mmascope_dot(unit, CASES, a, b, c, NULL, NULL, alone) == 0);
    EXPECT(mmascope_tile(unit, 2, 2, a, b, c, NULL, NULL, tile_alone) == 0);
    EXPECT(mmascope_matmul(unit, NULL, 0, M, N, K, a_matrix, b_matrix, NULL, NULL, NULL, d_alone, 1) == 0);
    for (int i = 0; i < THREADS; i++) {
        indices[i] = i;
        EXPECT(pthread_create(&threads[i], NULL, work, &indices[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) EXPECT(pthread_join(threads[i], NULL) == 0);
    mmascope_unit_free(found);
    printf("%d threads, %d failures\n", THREADS, atomic_load(&failures));
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
