// ---- numbers of operands and sums ----
// Fast methods compute in `value`: f64 where WIDE, else f32. Each is the sum, and exponents are fields as they stand in the upper half of it.
struct Format { int exponent_bits, m, bias, specials, shift; };
enum { IEEE, ALL_ONES_NAN, NEGATIVE_ZERO_NAN, NO_SPECIALS };
static __device__ const Format format_a = @FORMAT_A@, format_b = @FORMAT_B@, format_c = @FORMAT_C@;
#define WIDE @WIDE@
#if WIDE
typedef double value;
enum { BIAS = 1023, TOP = 20, UNIT = 16, FIELDS = 0x7ff0 };
static __device__ unsigned upper(value x) { return (unsigned)((word)__double_as_longlong(x) >> 32); }
static __device__ value made(unsigned high, unsigned low) { return __longlong_as_double((long long)((word)high << 32 | low)); }
static __device__ value power_of_two(int e) { return __longlong_as_double((long long)(e + 1023) << 52); }
#else
typedef float value;
enum { BIAS = 127, TOP = 23, UNIT = 128, FIELDS = 0x7f80 };
static __device__ unsigned upper(value x) { return __float_as_uint(x); }
static __device__ value made(unsigned high, unsigned low) { return __uint_as_float(high + low); }
static __device__ value power_of_two(int e) { return __uint_as_float((unsigned)(e + 127) << 23); }
#endif

// `below`: below the normal numbers.
struct Number { value size; int exponent; bool special, negative, zero, below; };
static __device__ Number number_of(const Format &f, word register_word) {
  const word code = register_word >> f.shift, fraction = code & (((word)1 << f.m) - 1);
  const int field = (int)(code >> f.m) & ((1 << f.exponent_bits) - 1), top = (1 << f.exponent_bits) - 1;
  const bool negative = code >> (f.m + f.exponent_bits) & 1;
  const bool special = f.specials == IEEE ? field == top
                     : f.specials == ALL_ONES_NAN ? field == top && fraction == (((word)1 << f.m) - 1)
                     : f.specials == NEGATIVE_ZERO_NAN ? negative && field == 0 && fraction == 0 : false;
  const word significand = field ? fraction | (word)1 << f.m : fraction;
  const int exponent = (field ? field : 1) - f.bias;
  // Whole numbers of so few bits are exact; two steps, since a power of two alone may lie below the format.
  const int place = exponent - f.m, half = place / 2;
  const value size = (value)(long long)significand * power_of_two(half) * power_of_two(place - half);
  return Number{size, exponent, special, negative, significand == 0, field == 0};
}

// What threads read beyond the last row or column stands for nothing, and is not kept.
enum { BEYOND = 128, ALIGNED = 8 };
// Lines lie so far apart that every k begins with a multiple of 16 bytes.
static __device__ word stride_of(word lines) { return (lines + BEYOND + ALIGNED - 1) / ALIGNED * ALIGNED; }
struct alignas(16) Four { unsigned of[4]; };
struct alignas(8) Two { unsigned of[2]; };
