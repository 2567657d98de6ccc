// ---- sums by multiply-adds that round down ----
// A block's sum starts at 1.5 * 2^(E + PLACES - F), so that its last place is the grid 2^(E - F), and every multiply-add rounds toward
// minus infinity: the floor on the grid. The unit truncates. So values of A are too large by a little of themselves, zeros are
// tiny, c's last bit is set, and no term lies on the grid: the floor of each negative term is its truncation less one. How many
// are negative is known beforehand, from one word of signs for each block's row and column, and is where the sum starts.
//
// Between blocks a sum is a number of the format in which it is computed, cut to the places of the result. So its exponent field
// lies where the maximum takes it: exponents are fields as they stand in the upper half of a number, times 16 or 128, two to a word.
enum { L = @L@, F = @F@, E0 = @E0@, GROUPS = K / L };
struct Format { int exponent_bits, m, bias, specials, shift; };
enum { IEEE, ALL_ONES_NAN, NEGATIVE_ZERO_NAN, NO_SPECIALS };
static __device__ const Format format_a = @FORMAT_A@, format_b = @FORMAT_B@, format_c = @FORMAT_C@;
#define WIDE @WIDE@
#if WIDE
typedef double value;
enum { PLACES = 52, BIAS = 1023, TOP = 20, UNIT = 16, FIELDS = 0x7ff0, NUDGE = 30, TINY = 300, NO_A = -8000, NO_B = 8000 };
static __device__ unsigned upper(value x) { return (unsigned)((word)__double_as_longlong(x) >> 32); }
static __device__ value made(unsigned high, unsigned low) { return __longlong_as_double((long long)((word)high << 32 | low)); }
// An operand's value is its upper word; what makes A's too large stands in the lower one.
static __device__ unsigned word_of_a(value x) { return upper(x); }
static __device__ value value_of_a(unsigned x) { return made(x, 1u << (52 - NUDGE)); }
static __device__ value value_of_b(unsigned x) { return made(x, 0); }
static __device__ value set_last_bit(value x) { return __longlong_as_double(__double_as_longlong(x) | 1); }
static __device__ value cleared(value x, int m) { return __longlong_as_double(__double_as_longlong(x) & (long long)(~(word)0 << (52 - m))); }
static __device__ value add_down(value x, value y) { return __dadd_rd(x, y); }
static __device__ value multiply_add_down(value x, value y, value z) { return __fma_rd(x, y, z); }
static __device__ value power_of_two(int e) { return __longlong_as_double((long long)(e + 1023) << 52); }
#else
typedef float value;
enum { PLACES = 23, BIAS = 127, TOP = 23, UNIT = 128, FIELDS = 0x7f80, NUDGE = 20, TINY = 90, NO_A = -20000, NO_B = -10000 };
static __device__ unsigned upper(value x) { return __float_as_uint(x); }
static __device__ value made(unsigned high, unsigned low) { return __uint_as_float(high + low); }
static __device__ unsigned word_of_a(value x) { return upper(x * (1 + __uint_as_float((unsigned)(127 - NUDGE) << 23))); }
static __device__ value value_of_a(unsigned x) { return __uint_as_float(x); }
static __device__ value value_of_b(unsigned x) { return __uint_as_float(x); }
static __device__ value set_last_bit(value x) { return __uint_as_float(__float_as_uint(x) | 1); }
static __device__ value cleared(value x, int m) { return __uint_as_float(__float_as_uint(x) & (0xffffffffu << (23 - m))); }
static __device__ value add_down(value x, value y) { return __fadd_rd(x, y); }
static __device__ value multiply_add_down(value x, value y, value z) { return __fmaf_rd(x, y, z); }
static __device__ value power_of_two(int e) { return __uint_as_float((unsigned)(e + 127) << 23); }
#endif

struct Number { value size; int exponent; bool special, negative, zero; };
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
  return Number{size, exponent, special, negative, significand == 0};
}

// What threads read beyond the last row or column stands for nothing, and is not kept.
enum { ROWS = @ROWS@, PAIRS = 4, HIGH = 16 * ROWS, WIDTH = 64, WORKERS = 128, BEYOND = 128, ALIGNED = 8, BLOCKS = L < 16 ? 16 / L : 1, DEEP = BLOCKS * L };

// Lines lie so far apart that every k begins with a multiple of 16 bytes.
static __device__ word stride_of(word lines) { return (lines + BEYOND + ALIGNED - 1) / ALIGNED * ALIGNED; }
struct alignas(16) Four { unsigned of[4]; };
struct alignas(8) Two { unsigned of[2]; };

// One thread a step of a line (a row of A, or a column of B): values and exponents by k, signs by blocks, a mark for what is not finite.
template <class T>
static __device__ void expand(const T *codes, const Format &f, bool is_a, word lines, word steps, word line_stride, word k_stride, unsigned *values,
                              short *exponents, unsigned *signs, unsigned char *marks) {
  const word t = (word)blockIdx.x * blockDim.x + threadIdx.x, stride = stride_of(lines);
  if (t >= lines * steps) return;
  const word line = t % lines, step = t / lines;
  bool special = false;
  for (int group = 0; group < GROUPS; group++) {
    unsigned negative = 0;
    for (int i = 0; i < L; i++) {
      const word k = step * K + group * L + i;
      const Number x = number_of(f, codes[line * line_stride + k * k_stride]);
      const value size = x.zero ? power_of_two(-TINY) : x.size, signed_size = x.negative ? -size : size;
      values[k * stride + line] = is_a ? word_of_a(signed_size) : upper(signed_size);
      exponents[k * stride + line] = (short)(is_a ? x.zero ? NO_A : x.exponent * UNIT : x.zero ? NO_B : (x.exponent + BIAS) * UNIT);
      negative |= (unsigned)x.negative << i;
      special |= x.special;
    }
    signs[(step * GROUPS + group) * stride + line] = negative;
  }
  marks[step * stride + line] = special;
}
extern "C" __global__ void expand_a(const a_type *codes, word lines, word steps, word line_stride, word k_stride, unsigned *values, short *exponents,
                                    unsigned *signs, unsigned char *marks) {
  expand(codes, format_a, true, lines, steps, line_stride, k_stride, values, exponents, signs, marks);
}
extern "C" __global__ void expand_b(const b_type *codes, word lines, word steps, word line_stride, word k_stride, unsigned *values, short *exponents,
                                    unsigned *signs, unsigned char *marks) {
  expand(codes, format_b, false, lines, steps, line_stride, k_stride, values, exponents, signs, marks);
}

// An exact sum as the unit's result, still a number of this format; and that as a word. SUBNORMALS: it is right below the
// normal numbers, too.
@FINISH@

// A block's exponents, from so many k on, into shared memory: those of A twice in a word, of B the pairs of a thread one after the other.
static __device__ void copy_exponents(const short *x, const short *y, word stride_a, word stride_b, word first, word end, unsigned (*of_x)[HIGH],
                                      unsigned (*of_y)[WIDTH / 2]) {
  enum { OF_X = HIGH / 4, OF_Y = WIDTH / 4 };
  const int t = threadIdx.x, deep = end <= first ? 0 : end - first < DEEP ? (int)(end - first) : DEEP;
  const short *own_x = x + (first + t / OF_X) * stride_a + t % OF_X * 4, *own_y = y + (first + t / OF_Y) * stride_b + t % OF_Y * 4;
#pragma unroll
  for (int k = 0; k < DEEP; k += WORKERS / OF_X, own_x += WORKERS / OF_X * stride_a)
    if (k + t / OF_X < deep) {
      const Two two = *(const Two *)own_x;
      *(Four *)&of_x[k + t / OF_X][t % OF_X * 4] =
          Four{__byte_perm(two.of[0], 0, 0x1010), __byte_perm(two.of[0], 0, 0x3232), __byte_perm(two.of[1], 0, 0x1010), __byte_perm(two.of[1], 0, 0x3232)};
    }
#pragma unroll
  for (int k = 0; k < DEEP; k += WORKERS / OF_Y, own_y += WORKERS / OF_Y * stride_b)
    if (k + t / OF_Y < deep) {
      const Two two = *(const Two *)own_y;
      const int pair = t % OF_Y * 2;
      of_y[k + t / OF_Y][pair % 8 * PAIRS + pair / 8] = two.of[0];
      of_y[k + t / OF_Y][(pair + 1) % 8 * PAIRS + pair / 8] = two.of[1];
    }
}
static __device__ __forceinline__ void take_exponents(const unsigned *x, const unsigned *y, unsigned (&largest)[ROWS][PAIRS]) {
  Four xs[ROWS / 4];
#pragma unroll
  for (int r = 0; r < ROWS / 4; r++) xs[r] = *(const Four *)(x + 4 * r);
  const Four ys = *(const Four *)y;
#pragma unroll
  for (int r = 0; r < ROWS; r++)
#pragma unroll
    for (int p = 0; p < PAIRS; p++) largest[r][p] = __viaddmax_s16x2(xs[r / 4].of[r % 4], ys.of[p], largest[r][p]);
}

// One block of threads HIGH x WIDTH outputs; a thread ROWS rows that follow each other, and PAIRS pairs of columns. An output for which
// something does not hold is left as it is, and is marked in `again`: operands that are not finite, sums beyond the format or
// below its normal numbers.
extern "C" __global__ void __launch_bounds__(128, @RESIDENT@) product_down(const unsigned *x, const short *x_exponents, const unsigned *x_signs, const unsigned char *x_marks,
                                        const unsigned *y, const short *y_exponents, const unsigned *y_signs, const unsigned char *y_marks,
                                        d_type *d, unsigned char *again, word lines_a, word lines_b, word first_row, word first_column,
                                        word first_step, word steps, word rows, word columns) {
  __shared__ __align__(16) unsigned shared_x[DEEP][HIGH];
  __shared__ __align__(16) unsigned shared_y[DEEP][WIDTH];
  __shared__ __align__(16) unsigned shared_x_exponents[DEEP][HIGH];
  __shared__ __align__(16) unsigned shared_y_exponents[DEEP][WIDTH / 2];
  __shared__ __align__(16) unsigned shared_x_signs[BLOCKS][HIGH];
  __shared__ __align__(16) unsigned shared_y_signs[BLOCKS][WIDTH];
  __shared__ unsigned char shared_marks[HIGH + WIDTH];
  const int t = threadIdx.x;
  // Tiles begin with a multiple of 16 bytes: a part that does not has some rows and columns before its first ones, which are not kept.
  const word before_rows = first_row % ALIGNED, before_columns = first_column % ALIGNED;
  first_row -= before_rows, first_column -= before_columns;
  const word across = (before_columns + columns + WIDTH - 1) / WIDTH, tile_row = blockIdx.x / across * HIGH, tile_column = blockIdx.x % across * WIDTH;
  const word stride_a = stride_of(lines_a), stride_b = stride_of(lines_b);
  x += first_row + tile_row, x_exponents += first_row + tile_row, x_signs += first_row + tile_row, x_marks += first_row + tile_row;
  y += first_column + tile_column, y_exponents += first_column + tile_column, y_signs += first_column + tile_column, y_marks += first_column + tile_column;
  // A warp has 4 * ROWS rows and all columns: 4 x 8 threads.
  const int own_row = t / 32 * 4 * ROWS + t % 32 / 8 * ROWS, own_pair = t % 8;
  for (int line = t; line < HIGH + WIDTH; line += WORKERS) {
    bool mark = false;
    for (word step = first_step; step < first_step + steps; step++) mark |= line < HIGH ? x_marks[step * stride_a + line] : y_marks[step * stride_b + line - HIGH];
    shared_marks[line] = mark;
  }

  value sum[ROWS][PAIRS][2];
  // The largest and the smallest field of a pair of columns, for all rows together.
  unsigned most[PAIRS], least[PAIRS];
#pragma unroll
  for (int p = 0; p < PAIRS; p++) most[p] = 0, least[p] = 0xffffffffu;
#pragma unroll
  for (int r = 0; r < ROWS; r++)
#pragma unroll
    for (int p = 0; p < PAIRS; p++)
#pragma unroll
      for (int s = 0; s < 2; s++) {
        const word row = tile_row + own_row + r - before_rows, column = tile_column + p * 16 + own_pair * 2 + s - before_columns;
        const word c = row < rows && column < columns ? d[row * columns + column] : 0;
        const Number own = number_of(format_c, c);
        // What is not finite has a field beyond every limit. So has what has none of its own: numbers below those of f32.
        const bool beyond = own.special || (!WIDE && !own.zero && own.exponent <= 1 - BIAS && (upper(own.size) >> 16 & FIELDS) == 0);
        const value size = beyond ? made((unsigned)FIELDS << 16, 0) : own.size;
        sum[r][p][s] = own.negative ? -size : size;
      }
  // The largest exponents of products are found a block ahead, between multiply-adds: other pipes do that.
  enum { OF_X = HIGH / 4, OF_Y = WIDTH / 4 };
  const word begin = first_step * K, end = (first_step + steps) * K;
  unsigned ahead[ROWS][PAIRS];
  copy_exponents(x_exponents, y_exponents, stride_a, stride_b, begin, end, shared_x_exponents, shared_y_exponents);
  __syncthreads();
#pragma unroll
  for (int r = 0; r < ROWS; r++)
#pragma unroll
    for (int p = 0; p < PAIRS; p++) ahead[r][p] = 0x80008000u;
#pragma unroll 2
  for (int k = 0; k < L; k++) take_exponents(shared_x_exponents[k] + own_row, shared_y_exponents[k] + own_pair * PAIRS, ahead);
  for (word first = begin; first < end; first += DEEP) {
    const int blocks = end - first < DEEP ? (int)(end - first) / L : BLOCKS, deep = blocks * L;
    __syncthreads();
    copy_exponents(x_exponents, y_exponents, stride_a, stride_b, first + L, end, shared_x_exponents, shared_y_exponents);
    {
      const unsigned *own_x = x + (first + t / OF_X) * stride_a + t % OF_X * 4, *own_y = y + (first + t / OF_Y) * stride_b + t % OF_Y * 4;
#pragma unroll
      for (int k = 0; k < DEEP; k += WORKERS / OF_X, own_x += WORKERS / OF_X * stride_a)
        if (k + t / OF_X < deep) *(Four *)&shared_x[k + t / OF_X][t % OF_X * 4] = *(const Four *)own_x;
#pragma unroll
      for (int k = 0; k < DEEP; k += WORKERS / OF_Y, own_y += WORKERS / OF_Y * stride_b)
        if (k + t / OF_Y < deep) *(Four *)&shared_y[k + t / OF_Y][t % OF_Y * 4] = *(const Four *)own_y;
      for (int block = 0; block < blocks; block++)
        for (int line = t; line < HIGH + WIDTH; line += WORKERS)
          if (line < HIGH) shared_x_signs[block][line] = x_signs[(first / L + block) * stride_a + line];
          else shared_y_signs[block][line - HIGH] = y_signs[(first / L + block) * stride_b + line - HIGH];
    }
    __syncthreads();
#pragma unroll 1
    for (int block = 0; block < blocks; block++) {
      const int from = block * L;
      unsigned largest[ROWS][PAIRS];
#pragma unroll
      for (int r = 0; r < ROWS; r++)
#pragma unroll
        for (int p = 0; p < PAIRS; p++) {
          unsigned fields = __byte_perm(upper(sum[r][p][0]), upper(sum[r][p][1]), 0x7632) & FIELDS * 0x10001u;
          most[p] = __vmaxs2(most[p], fields);
          if (SUBNORMALS)
            // Numbers below the normal ones count as the smallest of those, zero as nothing.
            fields = __vmaxs2(fields, (SMALLEST + BIAS) * UNIT * 0x10001u) & ~__vcmpeq2(fields, 0);
          else
            // A zero's field wraps to the largest there is.
            least[p] = __viaddmin_u16x2(fields, (-UNIT & 0xffff) * 0x10001u, least[p]);
          largest[r][p] = __vimax3_s16x2(fields, ((E0 + BIAS) * UNIT & 0xffff) * 0x10001u, ahead[r][p]);
          ahead[r][p] = 0x80008000u;
        }
      // Where the exponent of a sum's start stands, but for what is the same for all.
      const unsigned start = ((unsigned)(PLACES - F) << TOP) + (1u << (TOP - 1));
#pragma unroll
      for (int r = 0; r < ROWS; r++)
#pragma unroll
        for (int p = 0; p < PAIRS; p++)
#pragma unroll
          for (int s = 0; s < 2; s++) {
            const value c = sum[r][p][s];
            const unsigned negative = __popc(shared_x_signs[block][own_row + r] ^ shared_y_signs[block][p * 16 + own_pair * 2 + s]) + (upper(c) >> 31);
            sum[r][p][s] = add_down(set_last_bit(c), made((s ? largest[r][p] & 0xffff0000u : largest[r][p] << 16) + start, negative));
          }
#pragma unroll 2
      for (int k = from; k < from + L; k++) {
        take_exponents(shared_x_exponents[k] + own_row, shared_y_exponents[k] + own_pair * PAIRS, ahead);
        Four xs[ROWS / 4];
        Two ys[PAIRS];
#pragma unroll
        for (int r = 0; r < ROWS / 4; r++) xs[r] = *(const Four *)&shared_x[k][own_row + 4 * r];
#pragma unroll
        for (int p = 0; p < PAIRS; p++) ys[p] = *(const Two *)&shared_y[k][p * 16 + own_pair * 2];
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
          for (int p = 0; p < PAIRS; p++)
#pragma unroll
            for (int s = 0; s < 2; s++) sum[r][p][s] = multiply_add_down(value_of_a(xs[r / 4].of[r % 4]), value_of_b(ys[p].of[s]), sum[r][p][s]);
      }
#pragma unroll
      for (int r = 0; r < ROWS; r++)
#pragma unroll
        for (int p = 0; p < PAIRS; p++)
#pragma unroll
          for (int s = 0; s < 2; s++) {
            const value begun = made((s ? largest[r][p] & 0xffff0000u : largest[r][p] << 16) + start, 0);
            sum[r][p][s] = finished(sum[r][p][s] - begun);
          }
    }
  }
#pragma unroll
  for (int r = 0; r < ROWS; r++)
#pragma unroll
    for (int p = 0; p < PAIRS; p++)
#pragma unroll
      for (int s = 0; s < 2; s++) {
        const word row = tile_row + own_row + r - before_rows, column = tile_column + p * 16 + own_pair * 2 + s - before_columns;
        if (row >= rows || column >= columns) continue;
        const unsigned field = upper(sum[r][p][s]) >> 16 & FIELDS, before = most[p] >> (16 * s) & 0xffff, lowest = least[p] >> (16 * s) & 0xffff;
        const unsigned high = (LARGEST + BIAS) * UNIT, low = (SMALLEST + BIAS - 1) * UNIT;
        const bool holds = field <= high && before <= high && (SUBNORMALS || (lowest >= low && ((field - UNIT) & 0xffff) >= low));
        again[row * columns + column] = !holds || shared_marks[own_row + r] || shared_marks[HIGH + p * 16 + own_pair * 2 + s];
        if (!again[row * columns + column]) d[row * columns + column] = word_of(sum[r][p][s]);
      }
}
