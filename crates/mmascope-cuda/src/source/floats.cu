// ---- methods of f32 and f64 themselves ----
static __device__ bool holds(value x) { return (upper(x) >> 16 & FIELDS) != FIELDS; }
static __device__ __forceinline__ value flushed(value x) { return !RESULTS_FLUSH || (upper(x) >> 16 & FIELDS) ? x : made(upper(x) & 0x80000000u, 0); }

struct Chain {
  enum { EACH = 1 };
  static __device__ __forceinline__ void block(const Tile &tile, int slot, bool, value (&v)[ROWS][COLUMNS], unsigned &) {
    operand x[ROWS], y[COLUMNS];
    take(tile, tile.x, tile.y, slot, x, y);
    EACH_OUTPUT v[r][c] = @FMA@(x[r], y[c], v[r][c]);
  }
};

#if !WIDE
// Rounded products, added in pairs, each result flushed.
template <int P> struct Pairwise {
  enum { EACH = P };
  static __device__ __forceinline__ void block(const Tile &tile, int from, bool starts, value (&v)[ROWS][COLUMNS], unsigned &) {
    operand x[P][ROWS], y[P][COLUMNS];
#pragma unroll
    for (int k = 0; k < P; k++) take(tile, tile.x, tile.y, from + k, x[k], y[k]);
    EACH_OUTPUT {
      value sum[P];
#pragma unroll
      for (int k = 0; k < P; k++) sum[k] = flushed(__fmul_rn(x[k][r], y[k][c]));
#pragma unroll
      for (int half = P / 2; half > 0; half /= 2)
#pragma unroll
        for (int k = 0; k < half; k++) sum[k] = flushed(__fadd_rn(sum[2 * k], sum[2 * k + 1]));
      value &own = v[r][c];
      // c is an operand of a step once.
      if (starts && (upper(own) >> 16 & FIELDS) == 0) own = made(PLUS ? 0 : upper(own) & 0x80000000u, 0);
      own = flushed(__fadd_rn(own, sum[0]));
    }
  }
};

// Exact sums of N products and c, rounded once. The exact sum lies between one rounded down on the way and one rounded up. Where both
// round to the same f32, it does so too.
template <int N> struct Exact {
  enum { EACH = N };
  static __device__ __forceinline__ void block(const Tile &tile, int from, bool, value (&v)[ROWS][COLUMNS], unsigned &bad) {
    double low[ROWS][COLUMNS], high[ROWS][COLUMNS];
    EACH_OUTPUT low[r][c] = high[r][c] = v[r][c];
#pragma unroll
    for (int k = 0; k < N; k++) {
      operand x[ROWS], y[COLUMNS];
      take(tile, tile.x, tile.y, from + k, x, y);
      EACH_OUTPUT low[r][c] = __fma_rd(x[r], y[c], low[r][c]), high[r][c] = __fma_ru(x[r], y[c], high[r][c]);
    }
    EACH_OUTPUT {
      // Of a sum that is exactly zero the one that is rounded up has the sign of IEEE 754.
      const bool zero = low[r][c] == 0 && high[r][c] == 0;
      const value sum = zero && EXACT_ZEROS_ARE_PLUS ? 0.0f : __double2float_rn(high[r][c]);
      MARK(r, c, !zero && __float_as_uint(__double2float_rn(low[r][c])) != __float_as_uint(sum));
      v[r][c] = sum;
    }
  }
};
#endif
