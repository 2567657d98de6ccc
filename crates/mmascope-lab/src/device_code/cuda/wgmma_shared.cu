  __shared__ __align__(128) unsigned char x[M * 32];
  if (lane < M) place(x, a + lane * WIDE, lane, @BITS@);
  const word to_a = describe(x);
