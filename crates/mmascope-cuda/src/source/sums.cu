// ---- fused sums in f64, statement by statement ----
// F2: places that a sum with c keeps, where c comes after the products; PARTS: 2 where even and odd products are summed apart.
enum { F2 = @F2@, PARTS = @PARTS@, LOWEST_PRODUCT = (BIAS - 300) * UNIT, HIGH_FIELD = (LARGEST + BIAS) * UNIT, LOW_FIELD = (SMALLEST + BIAS) * UNIT };
static __device__ int field_of(value x) { return (int)(upper(x) >> 16 & FIELDS); }
static __device__ bool holds(value x) { return field_of(x) <= HIGH_FIELD; }
static __device__ int half_of_word(unsigned both, int which) { return (int)(short)(both >> 16 * which); }
// What has this last place (a field that lies PLACES above it), so that a sum with it is rounded to that.
static __device__ value start_of(int last_place) { return made(((unsigned)(last_place + PLACES * UNIT) << 16) + (1u << (TOP - 1)), 0); }
static __device__ value floored(value x, int last_place) { return add_down(x, start_of(last_place)) - start_of(last_place); }

// The largest exponents of products, two columns in a word, `largest` being what they are at least.
static __device__ __forceinline__ void find_largest(const Tile &tile, int from, int count, unsigned (&largest)[ROWS][COLUMNS / 2]) {
#pragma unroll 2
  for (int k = from; k < from + count; k++) {
    short x[ROWS], y[COLUMNS];
    take(tile, tile.x_exponents, tile.y_exponents, k, x, y);
#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
      for (int p = 0; p < COLUMNS / 2; p++) {
        const unsigned both = (unsigned)(unsigned short)y[2 * p] | (unsigned)(unsigned short)y[2 * p + 1] << 16;
        largest[r][p] = __viaddmax_s16x2((unsigned)(unsigned short)x[r] * 0x10001u, both, largest[r][p]);
      }
  }
}
static __device__ __forceinline__ void add_products(const Tile &tile, int from, int count, value (&sum)[ROWS][COLUMNS]) {
#pragma unroll 2
  for (int k = from; k < from + count; k++) {
    operand x[ROWS], y[COLUMNS];
    take(tile, tile.x, tile.y, k, x, y);
    EACH_OUTPUT sum[r][c] = multiply_add_down(value_of_a(x[r]), value_of_b(y[c]), sum[r][c]);
  }
}
static __device__ __forceinline__ unsigned negative_products(const Tile &tile, int group, int r, int c) {
  return tile.x_signs[group][tile.row + r] ^ tile.y_signs[group][tile.column + place_of(c)];
}

// c is one of the terms. C_SMALLEST: the field of the smallest normal number of its format.
template <int C_SMALLEST> struct Sum {
  enum { EACH = L };
  static __device__ __forceinline__ void block(const Tile &tile, int from, bool, value (&v)[ROWS][COLUMNS], unsigned &bad) {
    unsigned largest[ROWS][COLUMNS / 2];
    for (int r = 0; r < ROWS; r++)
      for (int p = 0; p < COLUMNS / 2; p++) largest[r][p] = ((E0 + BIAS) * UNIT & 0xffff) * 0x10001u;
    find_largest(tile, from, L, largest);
    int last[ROWS][COLUMNS];
    EACH_OUTPUT {
      const value own = v[r][c];
      const int field = field_of(own), products = half_of_word(largest[r][c / 2], c % 2);
      const int exponent = field == 0 ? 0 : field > C_SMALLEST ? field : C_SMALLEST;
      MARK(r, c, field > HIGH_FIELD);
      last[r][c] = (exponent > products ? exponent : products) - F * UNIT;
      const unsigned negative = __popc(negative_products(tile, from / L, r, c)) + (upper(own) >> 31);
      // As many units more than the start as there are negative terms.
      v[r][c] = add_down(set_last_bit(own), made(upper(start_of(last[r][c])), negative));
    }
    add_products(tile, from, L, v);
    EACH_OUTPUT {
      v[r][c] = finished(v[r][c] - start_of(last[r][c]));
      const int field = field_of(v[r][c]);
      MARK(r, c, field > HIGH_FIELD || (!SUBNORMALS && field != 0 && field < LOW_FIELD));
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
      for (int r = 0; r < ROWS; r++)
        for (int p = 0; p < COLUMNS / 2; p++) largest[part][r][p] = (LOWEST_PRODUCT & 0xffff) * 0x10001u;
      find_largest(tile, from + part * OWN, OWN, largest[part]);
      EACH_OUTPUT {
        const unsigned mask = (unsigned)(((word)1 << OWN) - 1) << part * OWN;
        const value start = start_of(half_of_word(largest[part][r][c / 2], c % 2) - F * UNIT);
        sums[part][r][c] = made(upper(start), __popc(negative_products(tile, from / L, r, c) & mask));
      }
      add_products(tile, from + part * OWN, OWN, sums[part]);
    }
    EACH_OUTPUT {
      int products = LOWEST_PRODUCT;
#pragma unroll
      for (int part = 0; part < PARTS; part++) {
        const int own = half_of_word(largest[part][r][c / 2], c % 2);
        sums[part][r][c] -= start_of(own - F * UNIT);
        products = own > products ? own : products;
      }
      value sum = sums[0][r][c], own = v[r][c];
      const int smallest = LOW_FIELD, field = field_of(own), of_c = field > smallest ? field : smallest;
      if (PARTS == 2) {
        sum = floored(sums[0][r][c], products - F * UNIT) + floored(sums[PARTS - 1][r][c], products - F * UNIT);
        if (of_c + (F + 1) * UNIT < products) own = 0;
      }
      const int most = products > of_c ? products : of_c;
      const value total = floored(sum, most - (F2 + 1) * UNIT) + floored(own, most - F * UNIT);
      const int first = field_of(total) > smallest ? field_of(total) : smallest;
      v[r][c] = as_f32(floored(total, first - F2 * UNIT));
      // Products from 2^(LARGEST + 1) on are infinite.
      MARK(r, c, field > HIGH_FIELD || products > HIGH_FIELD - UNIT || !holds(v[r][c]));
    }
  }
};
