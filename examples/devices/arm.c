/* Instructions of Arm processors as devices: one instruction for a question, the operands in every lane of it.
 *
 *   aarch64-linux-gnu-gcc -O2 -static -I crates/mmascope-host/include -o arm examples/devices/process.c examples/devices/arm.c
 *   mmascope validate "cmd:env INSTRUCTION=bfdot qemu-aarch64 -cpu max ./arm" --against arm:bfdot
 *
 * INSTRUCTION is a name of the table at the end. An instruction that the processor lacks ends the process.
 */
#include "mmascope_plugin.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* Registers of the largest vectors there are; all lanes hold the same question. */
enum { BYTES = 256 };
static _Alignas(16) unsigned char A[BYTES], B[BYTES], C[BYTES], D[BYTES];

#define ARCH ".arch armv9.2-a+bf16+fp16fml+sve2+f32mm+f64mm+sme+sme-f64\n"

/* One instruction of 128-bit registers: v0 is the accumulator. */
#define NEON(name, text)                                                                                              \
    static void name(uint64_t control) {                                                                                          \
        __asm__ volatile(ARCH "ldr q0, [%2]\nldr q1, [%0]\nldr q2, [%1]\n" text "\nstr q0, [%3]"                      \
                         :                                                                                            \
                         : "r"(A), "r"(B), "r"(C), "r"(D), "r"(control)                                               \
                         : "v0", "v1", "v2", "memory");                                                               \
    }

/* One instruction of scalable registers. */
#define SVE(name, text)                                                                                               \
    static void name(uint64_t control) {                                                                                          \
        __asm__ volatile(ARCH "ptrue p0.b\nldr z0, [%2]\nldr z1, [%0]\nldr z2, [%1]\n" text "\nstr z0, [%3]"          \
                         :                                                                                            \
                         : "r"(A), "r"(B), "r"(C), "r"(D), "r"(control)                                               \
                         : "v0", "v1", "v2", "memory");                                                               \
    }

/* One outer product: row 0 of the tile is C before and D after. */
#define SME(name, size, text) SET_SME(name, size, "fpcr", text)
#define SET_SME(name, size, register, text)                                                                           \
    static void name(uint64_t control) {                                                                                          \
        __asm__ volatile(ARCH "smstart\nmsr " register ", %4\nptrue p0.b\nmov w12, #0\nldr z0, [%2]\nldr z1, [%0]\nldr z2, [%1]\n"          \
                              "mov za0h." size "[w12, 0], p0/m, z0." size "\n" text "\n"                              \
                              "mov z0." size ", p0/m, za0h." size "[w12, 0]\nstr z0, [%3]\nmsr " register ", xzr\nsmstop"                    \
                         :                                                                                            \
                         : "r"(A), "r"(B), "r"(C), "r"(D), "r"(control)                                               \
                         : "x12", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12",    \
                           "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", \
                           "v26", "v27", "v28", "v29", "v30", "v31", "memory");                                       \
    }

/* The same with a control register, whose value is %4, set before and 0 afterwards. Newer instructions are words, which older
 * assemblers take too. */
#define SET_NEON(name, control, text) NEON_WITH(name, "msr " control ", %4\n" text "\nmsr " control ", xzr")
#define NEON_WITH(name, text)                                                                                         \
    static void name(uint64_t control) {                                                                              \
        __asm__ volatile(ARCH "ptrue p0.b\nldr z0, [%2]\nldr z1, [%0]\nldr z2, [%1]\n" text "\nstr z0, [%3]"          \
                         :                                                                                            \
                         : "r"(A), "r"(B), "r"(C), "r"(D), "r"(control)                                               \
                         : "v0", "v1", "v2", "memory");                                                               \
    }
#define FPCR "s3_3_c4_c4_0"
#define FPMR "s3_3_c4_c4_2"

NEON(bfdot, "bfdot v0.4s, v1.8h, v2.8h")
NEON(bfmmla, "bfmmla v0.4s, v1.8h, v2.8h")
NEON(bfmlalb, "bfmlalb v0.4s, v1.8h, v2.8h")
NEON(bfmlalt, "bfmlalt v0.4s, v1.8h, v2.8h")
NEON(fmlal, "fmlal v0.4s, v1.4h, v2.4h")
NEON(fmlal2, "fmlal2 v0.4s, v1.4h, v2.4h")
NEON(sdot, "sdot v0.4s, v1.16b, v2.16b")
NEON(udot, "udot v0.4s, v1.16b, v2.16b")
NEON(usdot, "usdot v0.4s, v1.16b, v2.16b")
NEON(smmla, "smmla v0.4s, v1.16b, v2.16b")
NEON(ummla, "ummla v0.4s, v1.16b, v2.16b")
NEON(usmmla, "usmmla v0.4s, v1.16b, v2.16b")
SVE(fmmla_s, "fmmla z0.s, z1.s, z2.s")
SVE(fmmla_d, "fmmla z0.d, z1.d, z2.d")
SME(fmopa_s, "s", "fmopa za0.s, p0/m, p0/m, z1.s, z2.s")
SME(fmopa_d, "d", "fmopa za0.d, p0/m, p0/m, z1.d, z2.d")
SME(fmopa_h, "s", "fmopa za0.s, p0/m, p0/m, z1.h, z2.h")
SME(bfmopa, "s", "bfmopa za0.s, p0/m, p0/m, z1.h, z2.h")

SET_NEON(bfdot_ebf, FPCR, "bfdot v0.4s, v1.8h, v2.8h")
SET_NEON(bfmmla_ebf, FPCR, "bfmmla v0.4s, v1.8h, v2.8h")
SVE(fdot_h, ".inst 0x64228020")
SME(fmopa_hh, "h", ".inst 0x81820028")
SME(bfmopa_hh, "h", ".inst 0x81a20028")
SET_NEON(fdot_bs, FPMR, ".inst 0x4e02fc20")
SET_NEON(fdot_bh, FPMR, ".inst 0x4e42fc20")
SET_NEON(fmmla_bs, FPMR, ".inst 0x6e82ec20")
SET_NEON(fmmla_bh, FPMR, ".inst 0x6e02ec20")
SET_SME(fmopa_bs, "s", FPMR, ".inst 0x80a20020")
SET_SME(fmopa_bh, "h", FPMR, ".inst 0x80a20028")

static const struct {
    const char *name;
    void (*run)(uint64_t);
    /* Bytes of an element of A and B and of an accumulator, and products. */
    size_t operand, accumulator, k;
    const char *signature;
    /* FPCR.EBF, or the formats of A and B in FPMR: 0 is e5m2, 1 is e4m3. */
    uint64_t control;
} INSTRUCTIONS[] = {
    {"bfdot", bfdot, 2, 4, 2, "a=bf16 b=bf16 c=f32 d=f32 k=2"},
    {"bfmmla", bfmmla, 2, 4, 4, "a=bf16 b=bf16 c=f32 d=f32 k=4"},
    {"bfmlalb", bfmlalb, 2, 4, 1, "a=bf16 b=bf16 c=f32 d=f32 k=1"},
    {"bfmlalt", bfmlalt, 2, 4, 1, "a=bf16 b=bf16 c=f32 d=f32 k=1"},
    {"fmlal", fmlal, 2, 4, 1, "a=f16 b=f16 c=f32 d=f32 k=1"},
    {"fmlal2", fmlal2, 2, 4, 1, "a=f16 b=f16 c=f32 d=f32 k=1"},
    {"fmmla.f32", fmmla_s, 4, 4, 2, "a=f32 b=f32 c=f32 d=f32 k=2"},
    {"fmmla.f64", fmmla_d, 8, 8, 2, "a=f64 b=f64 c=f64 d=f64 k=2"},
    {"fmopa.f32", fmopa_s, 4, 4, 1, "a=f32 b=f32 c=f32 d=f32 k=1"},
    {"fmopa.f64", fmopa_d, 8, 8, 1, "a=f64 b=f64 c=f64 d=f64 k=1"},
    {"fmopa.f32.f16", fmopa_h, 2, 4, 2, "a=f16 b=f16 c=f32 d=f32 k=2"},
    {"bfmopa", bfmopa, 2, 4, 2, "a=bf16 b=bf16 c=f32 d=f32 k=2"},
    {"sdot", sdot, 1, 4, 4, "a=int8 b=int8 c=int32 d=int32 k=4"},
    {"udot", udot, 1, 4, 4, "a=uint8 b=uint8 c=uint32 d=uint32 k=4"},
    {"usdot", usdot, 1, 4, 4, "a=uint8 b=int8 c=int32 d=int32 k=4"},
    {"smmla", smmla, 1, 4, 8, "a=int8 b=int8 c=int32 d=int32 k=8"},
    {"ummla", ummla, 1, 4, 8, "a=uint8 b=uint8 c=uint32 d=uint32 k=8"},
    {"usmmla", usmmla, 1, 4, 8, "a=uint8 b=int8 c=int32 d=int32 k=8"},
    {"bfdot.ebf1", bfdot_ebf, 2, 4, 2, "a=bf16 b=bf16 c=f32 d=f32 k=2", 1 << 13},
    {"bfmopa.ebf1", bfmopa, 2, 4, 2, "a=bf16 b=bf16 c=f32 d=f32 k=2", 1 << 13},
    {"bfmmla.ebf1", bfmmla_ebf, 2, 4, 4, "a=bf16 b=bf16 c=f32 d=f32 k=4", 1 << 13},
    {"fdot.f32.f16", fdot_h, 2, 4, 2, "a=f16 b=f16 c=f32 d=f32 k=2"},
    {"fmopa.f16", fmopa_hh, 2, 2, 1, "a=f16 b=f16 c=f16 d=f16 k=1"},
    {"bfmopa.bf16", bfmopa_hh, 2, 2, 1, "a=bf16 b=bf16 c=bf16 d=bf16 k=1"},
    {"fdot.f32.e5m2.e5m2", fdot_bs, 1, 4, 4, "a=e5m2 b=e5m2 c=f32 d=f32 k=4", 0 | 0 << 3},
    {"fdot.f32.e5m2.e4m3fn", fdot_bs, 1, 4, 4, "a=e5m2 b=e4m3fn c=f32 d=f32 k=4", 0 | 1 << 3},
    {"fdot.f32.e4m3fn.e5m2", fdot_bs, 1, 4, 4, "a=e4m3fn b=e5m2 c=f32 d=f32 k=4", 1 | 0 << 3},
    {"fdot.f32.e4m3fn.e4m3fn", fdot_bs, 1, 4, 4, "a=e4m3fn b=e4m3fn c=f32 d=f32 k=4", 1 | 1 << 3},
    {"fmmla.f32.e5m2.e5m2", fmmla_bs, 1, 4, 8, "a=e5m2 b=e5m2 c=f32 d=f32 k=8", 0 | 0 << 3},
    {"fmmla.f32.e5m2.e4m3fn", fmmla_bs, 1, 4, 8, "a=e5m2 b=e4m3fn c=f32 d=f32 k=8", 0 | 1 << 3},
    {"fmmla.f32.e4m3fn.e5m2", fmmla_bs, 1, 4, 8, "a=e4m3fn b=e5m2 c=f32 d=f32 k=8", 1 | 0 << 3},
    {"fmmla.f32.e4m3fn.e4m3fn", fmmla_bs, 1, 4, 8, "a=e4m3fn b=e4m3fn c=f32 d=f32 k=8", 1 | 1 << 3},
    {"fmopa.f32.e5m2.e5m2", fmopa_bs, 1, 4, 4, "a=e5m2 b=e5m2 c=f32 d=f32 k=4", 0 | 0 << 3},
    {"fmopa.f32.e5m2.e4m3fn", fmopa_bs, 1, 4, 4, "a=e5m2 b=e4m3fn c=f32 d=f32 k=4", 0 | 1 << 3},
    {"fmopa.f32.e4m3fn.e5m2", fmopa_bs, 1, 4, 4, "a=e4m3fn b=e5m2 c=f32 d=f32 k=4", 1 | 0 << 3},
    {"fmopa.f32.e4m3fn.e4m3fn", fmopa_bs, 1, 4, 4, "a=e4m3fn b=e4m3fn c=f32 d=f32 k=4", 1 | 1 << 3},
    {"fdot.f16.e5m2.e5m2", fdot_bh, 1, 2, 2, "a=e5m2 b=e5m2 c=f16 d=f16 k=2", 0 | 0 << 3},
    {"fdot.f16.e5m2.e4m3fn", fdot_bh, 1, 2, 2, "a=e5m2 b=e4m3fn c=f16 d=f16 k=2", 0 | 1 << 3},
    {"fdot.f16.e4m3fn.e5m2", fdot_bh, 1, 2, 2, "a=e4m3fn b=e5m2 c=f16 d=f16 k=2", 1 | 0 << 3},
    {"fdot.f16.e4m3fn.e4m3fn", fdot_bh, 1, 2, 2, "a=e4m3fn b=e4m3fn c=f16 d=f16 k=2", 1 | 1 << 3},
    {"fmmla.f16.e5m2.e5m2", fmmla_bh, 1, 2, 4, "a=e5m2 b=e5m2 c=f16 d=f16 k=4", 0 | 0 << 3},
    {"fmmla.f16.e5m2.e4m3fn", fmmla_bh, 1, 2, 4, "a=e5m2 b=e4m3fn c=f16 d=f16 k=4", 0 | 1 << 3},
    {"fmmla.f16.e4m3fn.e5m2", fmmla_bh, 1, 2, 4, "a=e4m3fn b=e5m2 c=f16 d=f16 k=4", 1 | 0 << 3},
    {"fmmla.f16.e4m3fn.e4m3fn", fmmla_bh, 1, 2, 4, "a=e4m3fn b=e4m3fn c=f16 d=f16 k=4", 1 | 1 << 3},
    {"fmopa.f16.e5m2.e5m2", fmopa_bh, 1, 2, 2, "a=e5m2 b=e5m2 c=f16 d=f16 k=2", 0 | 0 << 3},
    {"fmopa.f16.e5m2.e4m3fn", fmopa_bh, 1, 2, 2, "a=e5m2 b=e4m3fn c=f16 d=f16 k=2", 0 | 1 << 3},
    {"fmopa.f16.e4m3fn.e5m2", fmopa_bh, 1, 2, 2, "a=e4m3fn b=e5m2 c=f16 d=f16 k=2", 1 | 0 << 3},
    {"fmopa.f16.e4m3fn.e4m3fn", fmopa_bh, 1, 2, 2, "a=e4m3fn b=e4m3fn c=f16 d=f16 k=2", 1 | 1 << 3},
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

/* Fills a register with `count` words of `size` bytes again and again. */
static void spread(unsigned char *to, const uint64_t *from, size_t size, size_t count) {
    for (size_t at = 0; at < BYTES; at += size) memcpy(to + at, from + at / size % count, size);
}

/* Ends as an instruction that is not there where the processor has no FPCR.EBF: the bit does not stay. */
static void need_ebf(void) {
    uint64_t before, set;
    __asm__ volatile("mrs %0, " FPCR : "=r"(before));
    __asm__ volatile("msr " FPCR ", %0" : : "r"(before | 1 << 13));
    __asm__ volatile("mrs %0, " FPCR : "=r"(set));
    __asm__ volatile("msr " FPCR ", %0" : : "r"(before));
    if (!(set >> 13 & 1)) raise(SIGILL);
}

int mmascope_run(size_t n, const uint64_t *a, const uint64_t *b, const uint64_t *c, const uint64_t *scale_a,
                 const uint64_t *scale_b, uint64_t *d) {
    size_t one = chosen(), k = INSTRUCTIONS[one].k;
    (void)scale_a, (void)scale_b;
    if (INSTRUCTIONS[one].control >> 13 & 1) need_ebf();
    for (size_t i = 0; i < n; i++) {
        spread(A, a + i * k, INSTRUCTIONS[one].operand, k);
        spread(B, b + i * k, INSTRUCTIONS[one].operand, k);
        spread(C, c + i, INSTRUCTIONS[one].accumulator, 1);
        INSTRUCTIONS[one].run(INSTRUCTIONS[one].control);
        d[i] = 0;
        memcpy(d + i, D, INSTRUCTIONS[one].accumulator);
    }
    return 0;
}
