// Sums and conversions among statements, and words of results.
static __device__ unsigned short half_of(value x) {
  unsigned short half;
#if WIDE
  asm volatile("cvt.rn.f16.f64 %0, %1;" : "=h"(half) : "d"(x));
#else
  asm volatile("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(x));
#endif
  return half;
}
static __device__ value whole_of(unsigned short half) {
  value whole;
#if WIDE
  asm volatile("cvt.f64.f16 %0, %1;" : "=d"(whole) : "h"(half));
#else
  asm volatile("cvt.f32.f16 %0, %1;" : "=f"(whole) : "h"(half));
#endif
  return whole;
}
static __device__ value as_f16(value x) { return whole_of(half_of(x)); }
#if WIDE
static __device__ value as_f32(value x) { return (value)__double2float_rn(x); }
#else
static __device__ value as_f32(value x) { return x; }
#endif
static __device__ d_type word_of(value x) { return @WORD@; }
// c as a value; what is not finite lies beyond every limit.
static __device__ value begun(word c) {
  const Number x = number_of(format_c, c);
  const value size = x.special ? made((unsigned)FIELDS << 16, 0) : x.size;
  return x.negative ? -size : size;
}
