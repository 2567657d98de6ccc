// Fragments are opaque: the instructions themselves take A by rows, B by columns, C and D by rows.
extern "C" __global__ void tile(const word *a, const word *b, const word *c, word *d) {
  const int lane = threadIdx.x;
  a += (word)blockIdx.x * A_SIZE, b += (word)blockIdx.x * B_SIZE, c += (word)blockIdx.x * C_SIZE, d += (word)blockIdx.x * C_SIZE;
  // Codes narrower than a byte lie packed, the lower k in the lower bits.
  enum { BITS = @BITS@, EACH = BITS < 8 ? 8 / BITS : 1 };
  __shared__ __align__(128) @ELEMENT@ x[M * K / EACH], y[N * K / EACH];
  __shared__ __align__(128) @C_ELEMENT@ z[M * N];
  __shared__ __align__(128) @D_ELEMENT@ w[M * N];
  for (int i = lane; i < M * K / EACH; i += 32) {
    word packed = 0;
    for (int e = 0; e < EACH; e++) packed |= a[i * EACH + e] << ((BITS % 64) * e);
    x[i] = (@ELEMENT@)packed;
  }
  for (int i = lane; i < N * K / EACH; i += 32) {
    word packed = 0;
    for (int e = 0; e < EACH; e++) packed |= b[i * EACH + e] << ((BITS % 64) * e);
    y[i] = (@ELEMENT@)packed;
  }
  for (int i = lane; i < M * N; i += 32) z[i] = (@C_ELEMENT@)c[i];
  __syncthreads();
  asm volatile("{\n.reg @FRAGMENT@ a<8>, b<8>;\n.reg @C_FRAGMENT@ c<8>;\n.reg @D_FRAGMENT@ d<8>;\n"
    "wmma.load.a.sync.aligned.row.@SHAPE@.@A@ @LIST_A@, [%0], @K@;\n"
    "wmma.load.b.sync.aligned.col.@SHAPE@.@B@ @LIST_B@, [%1], @K@;\n"
    "wmma.load.c.sync.aligned.row.@SHAPE@.@C@ @LIST_C@, [%2], @N@;\n"
    "wmma.mma@OPERATION@.sync.aligned.row.col.@SHAPE@@TYPES@ @LIST_D@, @LIST_A@, @LIST_B@, @LIST_C@;\n"
    "wmma.store.d.sync.aligned.row.@SHAPE@.@D@ [%3], @LIST_D@, @N@;\n}"
    :: "l"(x), "l"(y), "l"(z), "l"(w) : "memory");
  __syncthreads();
  for (int i = lane; i < M * N; i += 32) d[i] = w[i];
}
