// ---- arithmetic that f32 and f64 do themselves ----
// FLUSHES: operands and results below the normal numbers become zeros; PLUS: of operands positive ones, of results of their sign.
enum { FLUSHES = @FLUSHES@, RESULTS_FLUSH = @RESULTS_FLUSH@, PLUS = @PLUS@, EXACT_ZEROS_ARE_PLUS = @EXACT_ZEROS_ARE_PLUS@ };
// Exact sums take operands in f64, so that only their results are converted.
typedef @OPERAND@ operand;
static __device__ operand operand_of(const Number &x, bool) {
  const value size = FLUSHES && x.below ? (value)0 : x.size;
  return x.negative && !(FLUSHES && PLUS && x.below) ? -size : size;
}
static __device__ int exponent_of(const Number &, bool) { return 0; }
