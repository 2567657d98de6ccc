// ---- fused sums whose terms are moved to the grid by their conversion to integers ----
// From LEAST_FIELD to MOST_FIELD, products of terms that do not vanish, their scales and the sum's last place are normal numbers of f32.
enum { LEAST_FIELD = BIAS - 96, MOST_FIELD = BIAS + 60 };
@FINISH@
static __device__ bool holds(value x) { return (upper(x) >> 16 & FIELDS) != FIELDS; }

template <int C_SMALLEST> struct Sum {
  enum { EACH = L };
  static __device__ __forceinline__ void block(const Tile &tile, int from, bool, value (&v)[ROWS][COLUMNS], unsigned &bad) {
    int largest[ROWS][COLUMNS];
    EACH_OUTPUT largest[r][c] = NOTHING;
#pragma unroll 4
    for (int k = from; k < from + L; k++) {
      short x[ROWS], y[COLUMNS];
      take(tile, tile.x_exponents, tile.y_exponents, k, x, y);
      EACH_OUTPUT {
        const int own = x[r] + y[c];
        largest[r][c] = own > largest[r][c] ? own : largest[r][c];
      }
    }
    value scale[ROWS][COLUMNS];
    // Even and odd terms apart: each half has room in 32 bits.
    int sums[2][ROWS][COLUMNS];
    EACH_OUTPUT {
      const value own = v[r][c];
      const int field = (int)(upper(own) >> TOP & 255), smallest = C_SMALLEST / UNIT, of_c = own == 0 ? NOTHING : field > smallest ? field : smallest;
      const int terms = largest[r][c] > of_c ? largest[r][c] : of_c, e = terms > E0 + BIAS ? terms : E0 + BIAS;
      // Where nothing is to be added, any grid will do.
      MARK(r, c, terms > NOTHING && (e < LEAST_FIELD || e > MOST_FIELD));
      largest[r][c] = e < LEAST_FIELD ? LEAST_FIELD : e > MOST_FIELD ? MOST_FIELD : e;
      scale[r][c] = power_of_two(F - largest[r][c] + BIAS);
      sums[0][r][c] = __float2int_rz(own * scale[r][c]), sums[1][r][c] = 0;
    }
#pragma unroll
    for (int half = 0; half < 2; half++)
#pragma unroll 4
      for (int k = from + half; k < from + L; k += 2) {
        operand x[ROWS], y[COLUMNS];
        take(tile, tile.x, tile.y, k, x, y);
        EACH_OUTPUT sums[half][r][c] += __float2int_rz(__fmul_rn(__fmul_rn(x[r], y[c]), scale[r][c]));
      }
    EACH_OUTPUT {
      const int sum = (int)((unsigned)sums[0][r][c] + (unsigned)sums[1][r][c]);
      MARK(r, c, ((sums[0][r][c] ^ sum) & (sums[1][r][c] ^ sum)) < 0);
      v[r][c] = finished(sum, power_of_two(largest[r][c] - BIAS - F));
    }
  }
};
