// Products of a block are summed exactly; then c, which wraps or stays at its ends.
struct Integers {
  enum { EACH = BLOCK };
  static __device__ __forceinline__ void block(const Tile &tile, int from, bool, value (&v)[ROWS][COLUMNS], unsigned &) {
    @SUM@ sum[ROWS][COLUMNS];
    EACH_OUTPUT sum[r][c] = 0;
#pragma unroll 4
    for (int k = from; k < from + BLOCK; k++) {
      operand x[ROWS], y[COLUMNS];
      take(tile, tile.x, tile.y, k, x, y);
      EACH_OUTPUT @ADD@;
    }
    EACH_OUTPUT {
#if @SATURATES@
      const long long whole = (long long)(@ACCUMULATOR@)v[r][c] + sum[r][c], least = @LEAST@, most = @MOST@;
      v[r][c] = (value)(whole < least ? least : whole > most ? most : whole);
#else
      v[r][c] += (value)sum[r][c];
#endif
    }
  }
};
