typedef unsigned long long word;
// Rows, columns, products, scales of a row; words of a row; independent products of one instruction.
enum { M = @M@, N = @N@, K = @K@, SCALES = @SCALES@, WIDE = K + SCALES, BLOCKS = @BLOCKS@ };
enum { A_SIZE = BLOCKS * M * WIDE, B_SIZE = BLOCKS * N * WIDE, C_SIZE = BLOCKS * M * N };

// ---- device ----
// One tile: row i of A at a[i * WIDE], column j of B at b[j * WIDE], k ascending, then the scales; c and d by
// rows. Blocks follow each other.
@HEAD@
@KERNEL@
