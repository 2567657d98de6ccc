extern "C" __global__ void tile(const word *a, const word *b, const word *c, word *d) {
  const int lane = threadIdx.x, g = lane / 32 * 16 + lane % 32 / 4, q = lane % 4;
  a += (word)blockIdx.x * A_SIZE, b += (word)blockIdx.x * B_SIZE, c += (word)blockIdx.x * C_SIZE, d += (word)blockIdx.x * C_SIZE;
@PLACE_A@  __shared__ __align__(128) unsigned char y[N * 32];
  if (lane < N) place(y, b + lane * WIDE, lane, @BITS@);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  const word to_b = describe(y);
  // Warp w holds rows 16 w to 16 w + 15: lane 4 g + q rows g and g + 8, columns 2 q and 2 q + 1.
  enum { REGISTERS = @REGISTERS@, PACKED = 4 / REGISTERS };
  @TYPE@ z[REGISTERS];
  for (int r = 0; r < REGISTERS; r++) {
    word packed = 0;
    for (int e = 0; e < PACKED; e++) {
      int i = r * PACKED + e;
      packed |= c[(g + i / 2 * 8) * N + 2 * q + i % 2] << (16 * e);
    }
    z[r] = @FROM@((unsigned)packed);
  }
  asm volatile("wgmma.fence.sync.aligned;\n@TEXT@\n"
    "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;"
    : @OUTS@ : @GIVEN_A@, "l"(to_b) : "memory");
  for (int i = 0; i < 4; i++) {
    word value = @INTO@(z[i / PACKED]);
    if (PACKED == 2) value = value >> (16 * (i % 2)) & 0xffff;
    d[(g + i / 2 * 8) * N + 2 * q + i % 2] = value;
  }
}
