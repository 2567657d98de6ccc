/* VDPBF16PS, the instruction itself: a device for processors with AVX512_BF16.
 *
 *   cc -O2 -shared -fPIC -I crates/mmascope-host/include -o vdpbf16ps.so examples/devices/vdpbf16ps.c
 *   mmascope validate plugin:vdpbf16ps.so --against x86:vdpbf16ps
 *
 * The environment variable MXCSR is the number that the register has meanwhile (1f80, the usual one, when it is
 * not there): the instruction takes no notice of it, which the tests check.
 */
#include "mmascope_plugin.h"

#include <stdlib.h>

#if defined(__x86_64__)
#include <immintrin.h>

enum { LANES = 16 };

uint32_t mmascope_abi(void) { return 1; }

const char *mmascope_signature(void) {
    if (!__builtin_cpu_supports("avx512bf16")) return "this processor has no AVX512_BF16";
    return "a=bf16 b=bf16 c=f32 d=f32 k=2";
}

/* Sixteen queries in one instruction. Element 2i is k = 0 of query i, element 2i + 1 its k = 1. */
__attribute__((target("avx512f,avx512bw,avx512bf16"))) static void sixteen(const uint16_t *a, const uint16_t *b,
                                                                          float *sums) {
    __m512bh x = (__m512bh)_mm512_loadu_si512(a), y = (__m512bh)_mm512_loadu_si512(b);
    _mm512_storeu_ps(sums, _mm512_dpbf16_ps(_mm512_loadu_ps(sums), x, y));
}

int mmascope_run(size_t n, const uint64_t *a, const uint64_t *b, const uint64_t *c, const uint64_t *scale_a,
                 const uint64_t *scale_b, uint64_t *d) {
    if (scale_a || scale_b || !__builtin_cpu_supports("avx512bf16")) return 1;
    const char *wanted = getenv("MXCSR");
    unsigned before = _mm_getcsr();
    if (wanted) _mm_setcsr((unsigned)strtoul(wanted, 0, 16));
    for (size_t from = 0; from < n; from += LANES) {
        size_t count = n - from < LANES ? n - from : LANES;
        uint16_t x[2 * LANES] = {0}, y[2 * LANES] = {0};
        union { uint32_t words[LANES]; float numbers[LANES]; } sums = {{0}};
        for (size_t i = 0; i < 2 * count; i++) x[i] = (uint16_t)a[2 * from + i], y[i] = (uint16_t)b[2 * from + i];
        for (size_t i = 0; i < count; i++) sums.words[i] = (uint32_t)c[from + i];
        sixteen(x, y, sums.numbers);
        for (size_t i = 0; i < count; i++) d[from + i] = sums.words[i];
    }
    _mm_setcsr(before);
    return 0;
}

#else /* another processor */

uint32_t mmascope_abi(void) { return 1; }
const char *mmascope_signature(void) { return "this processor is no x86"; }
int mmascope_run(size_t n, const uint64_t *a, const uint64_t *b, const uint64_t *c, const uint64_t *scale_a,
                 const uint64_t *scale_b, uint64_t *d) {
    (void)n, (void)a, (void)b, (void)c, (void)scale_a, (void)scale_b, (void)d;
    return 1;
}

#endif
