typedef unsigned long long word;
// One thread an input. Both halves of an instruction of two values must agree; all ones but the last say that they do not.
extern "C" __global__ void map(word count, const word *in, word *out, word) {
  const word t = (word)blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= count) return;
  const word x = in[t];
  @OUT_TYPE@ y;
  asm volatile("@TEXT@" : "=@OUT@"(y) : "@IN@"((@IN_TYPE@)(@SPREAD@)));
  const word result = (word)y & @MASK@, second = (word)y >> @SECOND@ & @MASK@;
  out[t] = result == second ? result : ~(word)1;
}
