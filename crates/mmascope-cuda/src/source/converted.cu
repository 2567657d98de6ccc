// ---- sums by conversions ----
// Exponents are biased fields of f32, those of zeros far below.
enum { L = @L@, F = @F@, E0 = @E0@, NOTHING = -4000 };
typedef float operand;
static __device__ operand operand_of(const Number &x, bool) { return x.negative ? -x.size : x.size; }
static __device__ int exponent_of(const Number &x, bool is_a) { return x.zero ? 2 * NOTHING : is_a ? x.exponent : x.exponent + BIAS; }
