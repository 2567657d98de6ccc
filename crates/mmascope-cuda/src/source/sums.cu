// ---- fused sums in f64, statement by statement ----
// F2: places that a sum with c keeps, where c comes after the products; PARTS: 2 where even and odd products are summed apart.
enum { F2 = @F2@, PARTS = @PARTS@, LOWEST_PRODUCT = (BIAS - 300) * UNIT, HIGH_FIELD = (LARGEST + BIAS) * UNIT, LOW_FIELD = (SMALLEST + BIAS) * UNIT };
static __device__ int field_of(value x) { return (int)(upper(x) >> 16 & FIELDS); }
static __device__ bool holds(value x) { return field_of(x) <= HIGH_FIELD; }
// Fields as they stand in a number's upper word. Of two columns they lie in one word.
enum { HALF_START = 1u << (TOP - 1), FIELD = FIELDS << 16 };
// What has its last place so many places below a field: a sum with it is rounded to that. Such a sum keeps its exponent.
static __device__ __forceinline__ value start_at(unsigned field, int places) { return made(field + ((unsigned)(PLACES - places) << TOP) + HALF_START, 0); }
static __device__ __forceinline__ value start_of(value sum) { return made((upper(sum) & FIELD) | HALF_START, 0); }
static __device__ __forceinline__ unsigned upper_field(unsigned both, int which) { return which ? both & 0xffff0000u : both << 16; }
// A number that is so much where the field is 2^0.
static __device__ __forceinline__ value at(unsigned field, double much) {
  return much == 0 ? much : __longlong_as_double(__double_as_longlong(much) + (long long)((word)(field - ((unsigned)BIAS << TOP)) << 32));
}
static __device__ __forceinline__ unsigned larger(unsigned x, unsigned y) { return x > y ? x : y; }

// The largest exponents of products, two columns in a word, `largest` being what they are at least.
template <int COUNT> static __device__ __forceinline__ void find_largest(const Tile &tile, int from, unsigned (&largest)[ROWS][COLUMNS / 2]) {
#pragma unroll (COUNT < 16 ? COUNT : 16)
  for (int k = from; k < from + COUNT; k++) {
    unsigned x[ROWS], y[COLUMNS / 2];
    const Two rows = *(const Two *)&tile.x_exponents[k][tile.row];
#pragma unroll
    for (int r = 0; r < ROWS; r++) x[r] = __byte_perm(rows.of[r / 2], 0, r % 2 ? 0x3232 : 0x1010);
#pragma unroll
    for (int c = 0; c < COLUMNS; c += 4) {
      const Two four = *(const Two *)&tile.y_exponents[k][tile.column + place_of(c)];
      y[c / 2] = four.of[0], y[c / 2 + 1] = four.of[1];
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
      for (int p = 0; p < COLUMNS / 2; p++) largest[r][p] = __viaddmax_s16x2(x[r], y[p], largest[r][p]);
  }
}
template <int COUNT> static __device__ __forceinline__ void add_products(const Tile &tile, int from, value (&sum)[ROWS][COLUMNS]) {
#pragma unroll (COUNT < 16 ? COUNT : 16)
  for (int k = from; k < from + COUNT; k++) {
    operand x[ROWS], y[COLUMNS];
    take(tile, tile.x, tile.y, k, x, y);
    EACH_OUTPUT sum[r][c] = multiply_add_down(value_of_a(x[r]), value_of_b(y[c]), sum[r][c]);
  }
}
// Which products of a block are negative.
static __device__ __forceinline__ unsigned negative_products(const Tile &tile, int group, int r, int c) {
  return tile.x_signs[group][tile.row + r] ^ tile.y_signs[group][tile.column + place_of(c)];
}

// c is one of the terms. C_SMALLEST: the field of the smallest normal number of its format.
template <int C_SMALLEST> struct Sum {
  enum { EACH = L };
  static __device__ __forceinline__ void block(const Tile &tile, int from, bool, value (&v)[ROWS][COLUMNS], unsigned &bad) {
    unsigned largest[ROWS][COLUMNS / 2];
#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
      for (int p = 0; p < COLUMNS / 2; p++) largest[r][p] = ((E0 + BIAS) * UNIT & 0xffff) * 0x10001u;
    find_largest<L>(tile, from, largest);
    const unsigned high = (unsigned)HIGH_FIELD << 16, low = (unsigned)LOW_FIELD << 16;
    EACH_OUTPUT {
      const value own = v[r][c];
      const unsigned field = upper(own) & FIELD, of_c = field == 0 ? 0 : larger(field, (unsigned)C_SMALLEST << 16);
      MARK(r, c, field > high);
      const value start = start_at(larger(of_c, upper_field(largest[r][c / 2], c % 2)), F);
      // As many units more than the start as there are negative terms.
      const unsigned negative = __popc(negative_products(tile, from / L, r, c)) + (upper(own) >> 31);
      v[r][c] = add_down(set_last_bit(own), made(upper(start), negative));
    }
    add_products<L>(tile, from, v);
    EACH_OUTPUT {
      v[r][c] = finished(v[r][c] - start_of(v[r][c]));
      const unsigned field = upper(v[r][c]) & FIELD;
      MARK(r, c, field > high || (!SUBNORMALS && field != 0 && field < low));
    }
  }
};

// c comes after the products, of which even and odd ones may be summed apart: first all of one part, then those of the other.
struct Late {
  enum { EACH = L, OWN = L / PARTS };
  static __device__ __forceinline__ void block(const Tile &tile, int from, bool, value (&v)[ROWS][COLUMNS], unsigned &bad) {
    value sums[PARTS][ROWS][COLUMNS];
    unsigned largest[PARTS][ROWS][COLUMNS / 2];
#pragma unroll
    for (int part = 0; part < PARTS; part++) {
#pragma unroll
      for (int r = 0; r < ROWS; r++)
#pragma unroll
        for (int p = 0; p < COLUMNS / 2; p++) largest[part][r][p] = (LOWEST_PRODUCT & 0xffff) * 0x10001u;
      find_largest<OWN>(tile, from + part * OWN, largest[part]);
      EACH_OUTPUT {
        const unsigned mask = (unsigned)(((word)1 << OWN) - 1) << part * OWN;
        const value start = start_at(upper_field(largest[part][r][c / 2], c % 2), F);
        sums[part][r][c] = made(upper(start), __popc(negative_products(tile, from / L, r, c) & mask));
      }
      add_products<OWN>(tile, from + part * OWN, sums[part]);
    }
    EACH_OUTPUT {
      unsigned products = 0;
#pragma unroll
      for (int part = 0; part < PARTS; part++) {
        sums[part][r][c] -= start_of(sums[part][r][c]);
        products = larger(products, upper_field(largest[part][r][c / 2], c % 2));
      }
      value sum = sums[0][r][c], own = v[r][c];
      const unsigned smallest = (unsigned)LOW_FIELD << 16, field = upper(own) & FIELD, of_c = larger(field, smallest);
      // What a sum is rounded with is taken away together, as a number of its own: it has few bits.
      if (PARTS == 2) {
        const double start = 1.5 * power_of_two(PLACES - F);
        sum = add_down(sums[0][r][c], at(products, start)) + (add_down(sums[PARTS - 1][r][c], at(products, start)) - at(products, 2 * start));
        if (of_c + ((unsigned)(F + 1) << TOP) < products) own = 0;
      }
      const unsigned most = larger(products, of_c);
      const double of_sum = 1.5 * power_of_two(PLACES - F2 - 1), of_own = 1.5 * power_of_two(PLACES - F);
      const value total = add_down(sum, at(most, of_sum)) + (add_down(own, at(most, of_own)) - at(most, of_sum + of_own));
      // F2 places are kept, the rest is dropped; then to nearest in f32: to the last place of its significand, for numbers below the normal
      // ones to that of the smallest of those. (Where a negative number is cut to a power of two, it is the next one's, and exact.)
      const unsigned first = larger(upper(total) & FIELD, smallest);
      const double cut = 1.5 * power_of_two(PLACES - F2), nearest = 1.5 * power_of_two(PLACES - 23);
      const value result = (add_down(total, at(first, cut)) + at(first, nearest - cut)) - at(first, nearest);
      // What becomes zero keeps its sign.
      v[r][c] = __longlong_as_double(__double_as_longlong(result) | (__double_as_longlong(total) & (long long)((word)1 << 63)));
      // Products from 2^(LARGEST + 1) on are infinite.
      const unsigned high = (unsigned)HIGH_FIELD << 16, worst = larger(larger(field, products + (1u << TOP)), upper(v[r][c]) & FIELD);
      MARK(r, c, worst > high);
    }
  }
};
