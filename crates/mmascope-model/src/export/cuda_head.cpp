
#ifdef __CUDACC_RTC__
typedef unsigned long long uint64_t;
typedef long long int64_t;
#define UINT64_C(x) x##ull
#define INT64_C(x) x##ll
#define UINT64_MAX 0xffffffffffffffffull
#else
#include <stdint.h>
#endif
#if !defined(__CUDACC__) && !defined(__device__)
// Plain C++ takes this file too.
#define __device__
static inline int __clzll(long long x) {
    return x == 0 ? 64 : __builtin_clzll((unsigned long long)x);
}
#endif

