// ---- sums that round down ----
// A block's sum starts at 1.5 * 2^(E + PLACES - F), so that its last place is the grid 2^(E - F), and every multiply-add rounds toward
// minus infinity: the floor on the grid. The unit truncates. So values of A are too large by a little of themselves, zeros are
// tiny, c's last bit is set, and no term lies on the grid: the floor of each negative term is its truncation less one. How many
// are negative is known beforehand, from one word of signs for each block's row and column, and is where the sum starts.
//
// Between blocks a sum is a number of the format in which it is computed, cut to the places of the result. So its exponent field
// lies where the maximum takes it: exponents are fields as they stand in the upper half of a number, times 16 or 128, two to a word.
enum { L = @L@, F = @F@, E0 = @E0@ };
#if WIDE
enum { PLACES = 52, NUDGE = 30, TINY = 600, NO_A = -8000, NO_B = 8000 };
// Half operands: an operand's value is its upper word; what makes A's too large stands in the lower one.
#if @HALF_OPERANDS@
typedef unsigned operand;
static __device__ operand kept_of_a(value x) { return upper(x); }
static __device__ operand kept_of_b(value x) { return upper(x); }
static __device__ value value_of_a(operand x) { return made(x, 1u << (52 - NUDGE)); }
static __device__ value value_of_b(operand x) { return made(x, 0); }
#else
typedef value operand;
static __device__ operand kept_of_a(value x) { return made(upper(x), 1u << (52 - NUDGE)); }
static __device__ operand kept_of_b(value x) { return x; }
static __device__ value value_of_a(operand x) { return x; }
static __device__ value value_of_b(operand x) { return x; }
#endif
static __device__ value set_last_bit(value x) { return __longlong_as_double(__double_as_longlong(x) | 1); }
static __device__ value cleared(value x, int m) { return __longlong_as_double(__double_as_longlong(x) & (long long)(~(word)0 << (52 - m))); }
static __device__ value add_down(value x, value y) { return __dadd_rd(x, y); }
static __device__ value multiply_add_down(value x, value y, value z) { return __fma_rd(x, y, z); }
#else
enum { PLACES = 23, NUDGE = 20, TINY = 90, NO_A = -20000, NO_B = -10000 };
typedef unsigned operand;
static __device__ operand kept_of_a(value x) { return upper(x * (1 + __uint_as_float((unsigned)(127 - NUDGE) << 23))); }
static __device__ operand kept_of_b(value x) { return upper(x); }
static __device__ value value_of_a(operand x) { return __uint_as_float(x); }
static __device__ value value_of_b(operand x) { return __uint_as_float(x); }
static __device__ value set_last_bit(value x) { return __uint_as_float(__float_as_uint(x) | 1); }
static __device__ value cleared(value x, int m) { return __uint_as_float(__float_as_uint(x) & (0xffffffffu << (23 - m))); }
static __device__ value add_down(value x, value y) { return __fadd_rd(x, y); }
static __device__ value multiply_add_down(value x, value y, value z) { return __fmaf_rd(x, y, z); }
#endif

static __device__ operand operand_of(const Number &x, bool is_a) {
  const value size = x.zero ? power_of_two(-TINY) : x.size, signed_size = x.negative ? -size : size;
  return is_a ? kept_of_a(signed_size) : kept_of_b(signed_size);
}
static __device__ int exponent_of(const Number &x, bool is_a) {
  return is_a ? x.zero ? NO_A : x.exponent * UNIT : x.zero ? NO_B : (x.exponent + BIAS) * UNIT;
}

// An exact sum as the unit's result, still a number of this format; and that as a word. SUBNORMALS: it is right below the
// normal numbers, too.
@FINISH@
