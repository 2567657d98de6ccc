/* Devices under test as C libraries: what a plugin of mmascope defines (ABI version 1).
 *
 * A plugin is a shared library that computes d = c + sum of a[k] * b[k] on bits. Every element is
 * the register word of its format, one per uint64_t (f16 3c00 is 0x3c00, tf32 is the 32-bit word).
 * Arrays are query after query, k ascending. Name it to mmascope as plugin:PATH. The
 * program runs it in a process of its own: one that crashes, hangs or returns an error is reported
 * with the queries that it was asked. --in-process is a little faster, for plugins that are trusted. What a
 * plugin prints goes to standard error and is shown when it fails.
 */
#ifndef MMASCOPE_PLUGIN_H
#define MMASCOPE_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this interface: return 1. */
uint32_t mmascope_abi(void);

/* Formats and K, as a string that lives as long as the library is loaded, for example
 * "a=f16 b=f16 c=f32 d=f32 k=16" or "a=e4m3 b=e4m3 c=f32 d=f32 k=32 scale=ue8m0 block=32". */
const char *mmascope_signature(void);

/* Answers n queries. a and b have n*K elements, c and d have n, scale_a and scale_b n*K/block, or
 * are NULL when the signature has no scales. Returns 0, or another number when it failed. May be
 * called from several threads at once. */
int mmascope_run(size_t n, const uint64_t *a, const uint64_t *b, const uint64_t *c,
                 const uint64_t *scale_a, const uint64_t *scale_b, uint64_t *d);

#ifdef __cplusplus
}
#endif
#endif
