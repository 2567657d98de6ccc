/* What mmascope_pkg.sv imports: libmmascope's functions on open arrays of a simulator. C11 or C++. */
#include <mmascope.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <svdpi.h>

#ifdef __cplusplus
extern "C" {
#define THREAD thread_local
#else
#define THREAD _Thread_local
#endif

/* The words of an error that is found here; empty where the last one is the library's. */
static THREAD char own_error[160];
static THREAD char unit_words[4096];

enum { REFUSED = 2 };

/* An open array, copied: simulators lay arrays out as they like. */
typedef struct {
    const char *name;
    svOpenArrayHandle handle;
    size_t count;
    uint64_t *words; /* NULL where the unit has no such operand */
} operand;

static int refused(const char *name, size_t count, size_t wanted) {
    snprintf(own_error, sizeof own_error, "%s has %zu elements, not %zu", name, count, wanted);
    return REFUSED;
}

/* Takes an array of so many elements. */
static int take(operand *it, const char *name, svOpenArrayHandle handle, size_t wanted) {
    it->name = name;
    it->handle = handle;
    it->count = (size_t)svSize(handle, 1);
    if (it->count != wanted) return refused(name, it->count, wanted);
    it->words = (uint64_t *)calloc(wanted ? wanted : 1, sizeof *it->words);
    if (!it->words) {
        snprintf(own_error, sizeof own_error, "%s: no memory for %zu elements", name, wanted);
        return REFUSED;
    }
    for (size_t i = 0; i < wanted; i++)
        memcpy(&it->words[i], svGetArrElemPtr1(handle, svLow(handle, 1) + (int)i), sizeof it->words[i]);
    return 0;
}

/* Gives the simulator what has been computed. */
static void give(const operand *it) {
    if (!it->words) return;
    for (size_t i = 0; i < it->count; i++)
        memcpy(svGetArrElemPtr1(it->handle, svLow(it->handle, 1) + (int)i), &it->words[i], sizeof it->words[i]);
}

enum { A, B, C, SCALE_A, SCALE_B, D, OPERANDS };

static void release(operand *all) {
    for (int i = 0; i < OPERANDS; i++) free(all[i].words);
}

static const mmascope_unit *unit_of(void *handle) { return (const mmascope_unit *)handle; }

/* The shape of a unit. The library says what is wrong with NULL. */
static int shape_of(void *unit, mmascope_shape *shape) {
    own_error[0] = 0;
    return mmascope_unit_shape(unit_of(unit), shape);
}

/* Takes all operands of so many rows of A and columns of B; those whose handles are NULL are left out. */
static int take_all(operand *all, const mmascope_shape *shape, size_t rows, size_t columns, size_t results,
                    const svOpenArrayHandle *handles) {
    static const char *const names[OPERANDS] = {"a", "b", "c", "scale_a", "scale_b", "d"};
    const size_t wanted[OPERANDS] = {rows * shape->k,      columns * shape->k,      results,
                                     rows * shape->scales, columns * shape->scales, results};
    memset(all, 0, OPERANDS * sizeof *all);
    for (int i = 0; i < OPERANDS; i++) {
        int status = handles[i] ? take(&all[i], names[i], handles[i], wanted[i]) : 0;
        if (status) {
            release(all);
            return status;
        }
        /* Scales of a unit without any: empty arrays, which the library takes as NULL. */
        if (wanted[i] == 0 && (i == SCALE_A || i == SCALE_B)) {
            free(all[i].words);
            all[i].words = NULL;
        }
    }
    return 0;
}

int mmascope_dpi_unit_find(const char *architecture, const char *instruction, void **found) {
    own_error[0] = 0;
    return mmascope_unit_find(architecture, instruction, (mmascope_unit **)found);
}

int mmascope_dpi_unit_load(const char *isa, const char *architecture, const char *instruction, void **found) {
    own_error[0] = 0;
    return mmascope_unit_load(isa, architecture, instruction, (mmascope_unit **)found);
}

int mmascope_dpi_unit_parse(const char *signature, const char *arithmetic, void **found) {
    own_error[0] = 0;
    return mmascope_unit_parse(signature, arithmetic, (mmascope_unit **)found);
}

void mmascope_dpi_unit_free(void *unit) { mmascope_unit_free((mmascope_unit *)unit); }

const char *mmascope_dpi_unit_text(void *unit) {
    own_error[0] = 0;
    unit_words[0] = 0;
    if (mmascope_unit_text(unit_of(unit), unit_words, sizeof unit_words, NULL)) unit_words[0] = 0;
    return unit_words;
}

unsigned int mmascope_dpi_unit_k(void *unit) {
    mmascope_shape shape;
    return shape_of(unit, &shape) ? 0 : (unsigned int)shape.k;
}

unsigned int mmascope_dpi_unit_scales(void *unit) {
    mmascope_shape shape;
    return shape_of(unit, &shape) ? 0 : (unsigned int)shape.scales;
}

int mmascope_dpi_dot_scaled(void *unit, const svOpenArrayHandle a, const svOpenArrayHandle b, const svOpenArrayHandle c,
                            const svOpenArrayHandle scale_a, const svOpenArrayHandle scale_b, const svOpenArrayHandle d) {
    const svOpenArrayHandle handles[OPERANDS] = {a, b, c, scale_a, scale_b, d};
    const size_t n = (size_t)svSize(c, 1);
    mmascope_shape shape;
    operand all[OPERANDS];
    int status = shape_of(unit, &shape);
    if (!status) status = take_all(all, &shape, n, n, n, handles);
    if (status) return status;
    status = mmascope_dot(unit_of(unit), n, all[A].words, all[B].words, all[C].words, all[SCALE_A].words,
                          all[SCALE_B].words, all[D].words);
    if (!status) give(&all[D]);
    release(all);
    return status;
}

int mmascope_dpi_dot(void *unit, const svOpenArrayHandle a, const svOpenArrayHandle b, const svOpenArrayHandle c,
                     const svOpenArrayHandle d) {
    return mmascope_dpi_dot_scaled(unit, a, b, c, NULL, NULL, d);
}

int mmascope_dpi_tile_scaled(void *unit, unsigned int m, unsigned int n, const svOpenArrayHandle a,
                             const svOpenArrayHandle b, const svOpenArrayHandle c, const svOpenArrayHandle scale_a,
                             const svOpenArrayHandle scale_b, const svOpenArrayHandle d) {
    const svOpenArrayHandle handles[OPERANDS] = {a, b, c, scale_a, scale_b, d};
    mmascope_shape shape;
    operand all[OPERANDS];
    int status = shape_of(unit, &shape);
    if (!status) status = take_all(all, &shape, m, n, (size_t)m * n, handles);
    if (status) return status;
    status = mmascope_tile(unit_of(unit), m, n, all[A].words, all[B].words, all[C].words, all[SCALE_A].words,
                           all[SCALE_B].words, all[D].words);
    if (!status) give(&all[D]);
    release(all);
    return status;
}

int mmascope_dpi_tile(void *unit, unsigned int m, unsigned int n, const svOpenArrayHandle a, const svOpenArrayHandle b,
                      const svOpenArrayHandle c, const svOpenArrayHandle d) {
    return mmascope_dpi_tile_scaled(unit, m, n, a, b, c, NULL, NULL, d);
}

int mmascope_dpi_case_scaled(void *unit, const char *family, uint64_t seed, uint64_t index, const svOpenArrayHandle a,
                             const svOpenArrayHandle b, const svOpenArrayHandle c, const svOpenArrayHandle scale_a,
                             const svOpenArrayHandle scale_b) {
    const svOpenArrayHandle handles[OPERANDS] = {a, b, c, scale_a, scale_b, NULL};
    mmascope_shape shape;
    operand all[OPERANDS];
    int status = shape_of(unit, &shape);
    if (!status) status = take_all(all, &shape, 1, 1, 1, handles);
    if (status) return status;
    status = mmascope_case(unit_of(unit), family, seed, index, all[A].words, all[B].words, all[C].words,
                           all[SCALE_A].words, all[SCALE_B].words);
    for (int i = 0; i < OPERANDS && !status; i++) give(&all[i]);
    release(all);
    return status;
}

int mmascope_dpi_case(void *unit, const char *family, uint64_t seed, uint64_t index, const svOpenArrayHandle a,
                      const svOpenArrayHandle b, const svOpenArrayHandle c) {
    return mmascope_dpi_case_scaled(unit, family, seed, index, a, b, c, NULL, NULL);
}

/* A cast; random bits of each value, or NULL. */
static int cast(const char *from, const char *to, const char *rounding, const svOpenArrayHandle words,
                const svOpenArrayHandle random, const svOpenArrayHandle to_words) {
    mmascope_cast_options options;
    operand all[OPERANDS];
    const size_t n = (size_t)svSize(words, 1);
    int status;
    own_error[0] = 0;
    memset(&options, 0, sizeof options);
    memset(all, 0, sizeof all);
    if (rounding && rounding[0]) options.rounding = rounding;
    status = take(&all[A], "words", words, n);
    if (!status && random) status = take(&all[B], "random", random, n);
    if (!status) status = take(&all[D], "to_words", to_words, n);
    options.random = all[B].words;
    if (!status) status = mmascope_cast(from, to, &options, n, all[A].words, all[D].words);
    if (!status) give(&all[D]);
    release(all);
    return status;
}

int mmascope_dpi_cast(const char *from, const char *to, const char *rounding, const svOpenArrayHandle words,
                      const svOpenArrayHandle to_words) {
    return cast(from, to, rounding, words, NULL, to_words);
}

int mmascope_dpi_cast_random(const char *from, const char *to, const svOpenArrayHandle words,
                             const svOpenArrayHandle random, const svOpenArrayHandle to_words) {
    return cast(from, to, "rs", words, random, to_words);
}

const char *mmascope_dpi_last_error(void) { return own_error[0] ? own_error : mmascope_last_error(); }

const char *mmascope_dpi_version(void) { return mmascope_version(); }

#ifdef __cplusplus
}
#endif
