/* Instructions of x86 processors, the instructions themselves, as devices.
 *
 *   cc -O2 -shared -fPIC -I crates/mmascope-host/include -o x86.so examples/devices/x86.c
 *   INSTRUCTION=tdpbf16ps mmascope validate plugin:x86.so --against x86:tdpbf16ps
 *
 * The environment variable INSTRUCTION is a name of the table below (vdpbf16ps when it is not there). MXCSR is the
 * number that the register has meanwhile (it keeps its own when the variable is not there): the instructions take no
 * notice of it, which the tests check.
 */
#include "mmascope_plugin.h"

#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Queries that one instruction answers: the lanes of a vector, or the diagonal of a tile. */
enum { LANES = 16, TILE_BYTES = 64 };

/* Rows of A, columns of B, elements of C and D: 32 bits of A and B are `pack` elements, of `size` bytes each. */
typedef struct {
    unsigned char a[LANES][TILE_BYTES], b[LANES][TILE_BYTES];
    uint32_t c[LANES][LANES];
} Tiles;

/* One instruction of 512-bit vectors: the first 64 bytes of `a`, `b` and `c` are the operands. */
#define VECTOR(name, text)                                                                                            \
    static void name(Tiles *tiles) {                                                                                  \
        __asm__ volatile("vmovdqu32 %0, %%zmm0\nvmovdqu32 %1, %%zmm1\nvmovdqu32 %2, %%zmm2\n" text                    \
                         "\nvmovdqu32 %%zmm0, %0"                                                                     \
                         : "+m"(tiles->c)                                                                             \
                         : "m"(tiles->a), "m"(tiles->b)                                                               \
                         : "xmm0", "xmm1", "xmm2", "memory");                                                         \
    }

/* One instruction of tiles: tmm0 += tmm1 × tmm2, each of 16 rows of 64 bytes. */
#define TILES(name, text)                                                                                             \
    static void name(Tiles *tiles) {                                                                                  \
        unsigned char form[64] = {1};                                                                                 \
        for (int tile = 0; tile < 3; tile++) form[16 + 2 * tile] = TILE_BYTES, form[48 + tile] = LANES;               \
        __asm__ volatile("ldtilecfg %0\ntileloadd (%1, %4), %%tmm0\ntileloadd (%2, %4), %%tmm1\n"                     \
                         "tileloadd (%3, %4), %%tmm2\n" text "\ntilestored %%tmm0, (%1, %4)\ntilerelease"             \
                         :                                                                                            \
                         : "m"(form), "r"(tiles->c), "r"(tiles->a), "r"(tiles->b), "r"((long)TILE_BYTES)              \
                         : "memory");                                                                                 \
    }

VECTOR(vdpbf16ps, "vdpbf16ps %%zmm2, %%zmm1, %%zmm0")
VECTOR(vpdpbusd, "vpdpbusd %%zmm2, %%zmm1, %%zmm0")
VECTOR(vpdpbusds, "vpdpbusds %%zmm2, %%zmm1, %%zmm0")
VECTOR(vpdpwssd, "vpdpwssd %%zmm2, %%zmm1, %%zmm0")
VECTOR(vpdpwssds, "vpdpwssds %%zmm2, %%zmm1, %%zmm0")
TILES(tdpbf16ps, "tdpbf16ps %%tmm2, %%tmm1, %%tmm0")
TILES(tdpbssd, "tdpbssd %%tmm2, %%tmm1, %%tmm0")
TILES(tdpbsud, "tdpbsud %%tmm2, %%tmm1, %%tmm0")
TILES(tdpbusd, "tdpbusd %%tmm2, %%tmm1, %%tmm0")
TILES(tdpbuud, "tdpbuud %%tmm2, %%tmm1, %%tmm0")

/* Whether the bit of a register of cpuid's leaf 7 is set. */
enum Place { EBX, ECX, EDX, EAX_OF_1 };
static int has(enum Place place, int bit) {
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    __get_cpuid_count(7, place == EAX_OF_1 ? 1 : 0, &eax, &ebx, &ecx, &edx);
    unsigned word[] = {ebx, ecx, edx, eax};
    return word[place] >> bit & 1;
}
/* The operating system lends the registers of tiles to a process that asks for them (Linux: ARCH_REQ_XCOMP_PERM). */
static int has_tiles(int bit) { return has(EDX, bit) && syscall(SYS_arch_prctl, 0x1023, 18) == 0; }
static int has_vectors(void) { return __builtin_cpu_supports("avx512f"); }
static int bf16_vectors(void) { return has_vectors() && has(EAX_OF_1, 5); }
static int byte_vectors(void) { return has_vectors() && has(ECX, 11); }
static int bf16_tiles(void) { return has_tiles(22); }
static int byte_tiles(void) { return has_tiles(25); }

static const struct Instruction {
    const char *name, *signature;
    void (*run)(Tiles *);
    int (*available)(void);
    int size, k, tile;
} INSTRUCTIONS[] = {
    {"vdpbf16ps", "a=bf16 b=bf16 c=f32 d=f32 k=2", vdpbf16ps, bf16_vectors, 2, 2, 0},
    {"vpdpbusd", "a=uint8 b=int8 c=int32 d=int32 k=4", vpdpbusd, byte_vectors, 1, 4, 0},
    {"vpdpbusds", "a=uint8 b=int8 c=int32 d=int32 k=4", vpdpbusds, byte_vectors, 1, 4, 0},
    {"vpdpwssd", "a=int16 b=int16 c=int32 d=int32 k=2", vpdpwssd, byte_vectors, 2, 2, 0},
    {"vpdpwssds", "a=int16 b=int16 c=int32 d=int32 k=2", vpdpwssds, byte_vectors, 2, 2, 0},
    {"tdpbf16ps", "a=bf16 b=bf16 c=f32 d=f32 k=32", tdpbf16ps, bf16_tiles, 2, 32, 1},
    {"tdpbssd", "a=int8 b=int8 c=int32 d=int32 k=64", tdpbssd, byte_tiles, 1, 64, 1},
    {"tdpbsud", "a=int8 b=uint8 c=int32 d=int32 k=64", tdpbsud, byte_tiles, 1, 64, 1},
    {"tdpbusd", "a=uint8 b=int8 c=int32 d=int32 k=64", tdpbusd, byte_tiles, 1, 64, 1},
    {"tdpbuud", "a=uint8 b=uint8 c=int32 d=int32 k=64", tdpbuud, byte_tiles, 1, 64, 1},
};

static const struct Instruction *chosen(void) {
    const char *name = getenv("INSTRUCTION");
    for (size_t i = 0; i < sizeof INSTRUCTIONS / sizeof *INSTRUCTIONS; i++)
        if (!strcmp(name ? name : "vdpbf16ps", INSTRUCTIONS[i].name)) return &INSTRUCTIONS[i];
    return 0;
}

uint32_t mmascope_abi(void) { return 1; }

const char *mmascope_signature(void) {
    const struct Instruction *instruction = chosen();
    if (!instruction) return "INSTRUCTION is no name of this device";
    return instruction->available() ? instruction->signature : "this processor or its system has no such instruction";
}

/* The byte where element k of query i begins in a and in b. */
static unsigned char *of_a(Tiles *tiles, const struct Instruction *x, size_t i, int k) {
    return x->tile ? &tiles->a[i][k * x->size] : &tiles->a[0][(i * x->k + k) * x->size];
}
static unsigned char *of_b(Tiles *tiles, const struct Instruction *x, size_t i, int k) {
    int pack = 4 / x->size;
    return x->tile ? &tiles->b[k / pack][4 * i + k % pack * x->size] : &tiles->b[0][(i * x->k + k) * x->size];
}

int mmascope_run(size_t n, const uint64_t *a, const uint64_t *b, const uint64_t *c, const uint64_t *scale_a,
                 const uint64_t *scale_b, uint64_t *d) {
    const struct Instruction *x = chosen();
    if (scale_a || scale_b || !x || !x->available()) return 1;
    const char *wanted = getenv("MXCSR");
    unsigned before = _mm_getcsr();
    if (wanted) _mm_setcsr((unsigned)strtoul(wanted, 0, 16));
    for (size_t from = 0; from < n; from += LANES) {
        size_t count = n - from < LANES ? n - from : LANES;
        _Alignas(64) Tiles tiles;
        memset(&tiles, 0, sizeof tiles);
        for (size_t i = 0; i < count; i++) {
            for (int k = 0; k < x->k; k++) {
                size_t element = (from + i) * (size_t)x->k + (size_t)k;
                memcpy(of_a(&tiles, x, i, k), &a[element], (size_t)x->size);
                memcpy(of_b(&tiles, x, i, k), &b[element], (size_t)x->size);
            }
            tiles.c[x->tile ? i : 0][i] = (uint32_t)c[from + i];
        }
        x->run(&tiles);
        for (size_t i = 0; i < count; i++) d[from + i] = tiles.c[x->tile ? i : 0][i];
    }
    _mm_setcsr(before);
    return 0;
}

#else /* another processor */

uint32_t mmascope_abi(void) { return 1; }
const char *mmascope_signature(void) { return "this processor is no x86, or its system is not Linux"; }
int mmascope_run(size_t n, const uint64_t *a, const uint64_t *b, const uint64_t *c, const uint64_t *scale_a,
                 const uint64_t *scale_b, uint64_t *d) {
    (void)n, (void)a, (void)b, (void)c, (void)scale_a, (void)scale_b, (void)d;
    return 1;
}

#endif
