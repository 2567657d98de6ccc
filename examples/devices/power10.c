/* Instructions of POWER10's matrix unit as devices: one instruction for a question, the operands in every row and column.
 *
 *   powerpc64le-linux-gnu-gcc -O2 -static -mcpu=power10 -I crates/mmascope-host/include -o power10 \
 *       examples/devices/process.c examples/devices/power10.c
 *   mmascope validate "cmd:env INSTRUCTION=xvf32gerpp qemu-ppc64le -cpu power10 ./power10" --against power10:xvf32gerpp
 */
#include "mmascope_plugin.h"

#include <altivec.h>
#include <stdlib.h>
#include <string.h>

typedef vector unsigned char Vector;
static _Alignas(16) unsigned char A[32], B[16], C[16], D[64];

#define GER(name)                                                                                                     \
    static void name(void) {                                                                                          \
        Vector a, b, c;                                                                                               \
        __vector_quad sum;                                                                                            \
        memcpy(&a, A, 16), memcpy(&b, B, 16), memcpy(&c, C, 16);                                                      \
        __builtin_mma_build_acc(&sum, c, c, c, c);                                                                    \
        __builtin_mma_##name(&sum, a, b);                                                                             \
        __builtin_mma_disassemble_acc(D, &sum);                                                                       \
    }

/* Two registers of A. */
#define GER64(name)                                                                                                   \
    static void name(void) {                                                                                          \
        Vector a, b, c;                                                                                               \
        __vector_quad sum;                                                                                            \
        __vector_pair pair;                                                                                           \
        memcpy(&a, A, 16), memcpy(&b, B, 16), memcpy(&c, C, 16);                                                      \
        __builtin_vsx_build_pair(&pair, a, a);                                                                        \
        __builtin_mma_build_acc(&sum, c, c, c, c);                                                                    \
        __builtin_mma_##name(&sum, pair, b);                                                                          \
        __builtin_mma_disassemble_acc(D, &sum);                                                                       \
    }

GER(xvbf16ger2pp)
GER(xvbf16ger2pn)
GER(xvbf16ger2np)
GER(xvbf16ger2nn)
GER(xvf16ger2pp)
GER(xvf16ger2pn)
GER(xvf16ger2np)
GER(xvf16ger2nn)
GER(xvf32gerpp)
GER(xvf32gerpn)
GER(xvf32gernp)
GER(xvf32gernn)
GER64(xvf64gerpp)
GER64(xvf64gerpn)
GER64(xvf64gernp)
GER64(xvf64gernn)
GER(xvi8ger4pp)
GER(xvi8ger4spp)
GER(xvi16ger2pp)
GER(xvi16ger2spp)
GER(xvi4ger8pp)

static const struct {
    const char *name;
    void (*run)(void);
    /* Bits of an element of A and B, bytes of an accumulator, products. */
    size_t operand, accumulator, k;
    const char *signature;
} INSTRUCTIONS[] = {
    {"xvbf16ger2pp", xvbf16ger2pp, 16, 4, 2, "a=bf16 b=bf16 c=f32 d=f32 k=2"},
    {"xvbf16ger2pn", xvbf16ger2pn, 16, 4, 2, "a=bf16 b=bf16 c=f32 d=f32 k=2"},
    {"xvbf16ger2np", xvbf16ger2np, 16, 4, 2, "a=bf16 b=bf16 c=f32 d=f32 k=2"},
    {"xvbf16ger2nn", xvbf16ger2nn, 16, 4, 2, "a=bf16 b=bf16 c=f32 d=f32 k=2"},
    {"xvf16ger2pp", xvf16ger2pp, 16, 4, 2, "a=f16 b=f16 c=f32 d=f32 k=2"},
    {"xvf16ger2pn", xvf16ger2pn, 16, 4, 2, "a=f16 b=f16 c=f32 d=f32 k=2"},
    {"xvf16ger2np", xvf16ger2np, 16, 4, 2, "a=f16 b=f16 c=f32 d=f32 k=2"},
    {"xvf16ger2nn", xvf16ger2nn, 16, 4, 2, "a=f16 b=f16 c=f32 d=f32 k=2"},
    {"xvf32gerpp", xvf32gerpp, 32, 4, 1, "a=f32 b=f32 c=f32 d=f32 k=1"},
    {"xvf32gerpn", xvf32gerpn, 32, 4, 1, "a=f32 b=f32 c=f32 d=f32 k=1"},
    {"xvf32gernp", xvf32gernp, 32, 4, 1, "a=f32 b=f32 c=f32 d=f32 k=1"},
    {"xvf32gernn", xvf32gernn, 32, 4, 1, "a=f32 b=f32 c=f32 d=f32 k=1"},
    {"xvf64gerpp", xvf64gerpp, 64, 8, 1, "a=f64 b=f64 c=f64 d=f64 k=1"},
    {"xvf64gerpn", xvf64gerpn, 64, 8, 1, "a=f64 b=f64 c=f64 d=f64 k=1"},
    {"xvf64gernp", xvf64gernp, 64, 8, 1, "a=f64 b=f64 c=f64 d=f64 k=1"},
    {"xvf64gernn", xvf64gernn, 64, 8, 1, "a=f64 b=f64 c=f64 d=f64 k=1"},
    {"xvi8ger4pp", xvi8ger4pp, 8, 4, 4, "a=int8 b=uint8 c=int32 d=int32 k=4"},
    {"xvi8ger4spp", xvi8ger4spp, 8, 4, 4, "a=int8 b=uint8 c=int32 d=int32 k=4"},
    {"xvi16ger2pp", xvi16ger2pp, 16, 4, 2, "a=int16 b=int16 c=int32 d=int32 k=2"},
    {"xvi16ger2spp", xvi16ger2spp, 16, 4, 2, "a=int16 b=int16 c=int32 d=int32 k=2"},
    {"xvi4ger8pp", xvi4ger8pp, 4, 4, 8, "a=int4 b=int4 c=int32 d=int32 k=8"},
};

static size_t chosen(void) {
    const char *name = getenv("INSTRUCTION");
    for (size_t i = 0; name && i < sizeof INSTRUCTIONS / sizeof *INSTRUCTIONS; i++)
        if (!strcmp(name, INSTRUCTIONS[i].name)) return i;
    return 0;
}

uint32_t mmascope_abi(void) { return 1; }

const char *mmascope_signature(void) {
    return INSTRUCTIONS[chosen()].signature;
}

/* Fills 16 bytes with `count` words of `bits` bits again and again. */
static void spread(unsigned char *to, const uint64_t *from, size_t bits, size_t count) {
    memset(to, 0, 16);
    for (size_t at = 0; at < 128 / bits; at++) {
        uint64_t word = from[at % count];
        if (bits == 4) to[at / 2] |= (unsigned char)((word & 15) << at % 2 * 4);
        else memcpy(to + at * bits / 8, &word, bits / 8);
    }
}

int mmascope_run(size_t n, const uint64_t *a, const uint64_t *b, const uint64_t *c, const uint64_t *scale_a,
                 const uint64_t *scale_b, uint64_t *d) {
    size_t one = chosen(), k = INSTRUCTIONS[one].k, size = INSTRUCTIONS[one].accumulator;
    (void)scale_a, (void)scale_b;
    for (size_t i = 0; i < n; i++) {
        spread(A, a + i * k, INSTRUCTIONS[one].operand, k);
        spread(B, b + i * k, INSTRUCTIONS[one].operand, k);
        spread(C, c + i, size * 8, 1);
        INSTRUCTIONS[one].run();
        d[i] = 0;
        memcpy(d + i, D, size);
    }
    return 0;
}
