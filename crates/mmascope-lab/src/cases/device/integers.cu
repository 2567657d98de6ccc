// Formats of integers: codes of two's complement where there is a sign.
struct Code { int bits, has_sign; };
@CODES@
static __device__ word mask_of(const Code &f) { return f.bits == 64 ? ~(word)0 : ((word)1 << f.bits) - 1; }
static __device__ long long value_of(const Code &f, word code) {
  return f.has_sign && code >> (f.bits - 1) & 1 ? (long long)(code - ((word)1 << f.bits)) : (long long)code;
}
static __device__ long long least_of(const Code &f) { return f.has_sign ? -(1ll << (f.bits - 1)) : 0; }
static __device__ long long most_of(const Code &f) { return f.has_sign ? (1ll << (f.bits - 1)) - 1 : (1ll << f.bits) - 1; }
static __device__ word into(const Code &f, long long x) {
  const long long least = least_of(f), most = most_of(f);
  return (word)(x < least ? least : x > most ? most : x) & mask_of(f);
}
static __device__ word plain(int family, const Code &f, unsigned role, const Draw &d) {
  const word any = ((word)d.w[0] | (word)d.w[1] << 32) & mask_of(f);
  switch (family) {
    case NORMAL: return (word)(value_of(f, any) >> smaller(2, f.bits - 1)) & mask_of(f);
    case OUTLIER: return (d.w[2] >> 8 & 31) != 0 ? (word)(value_of(f, any) >> (f.bits / 2)) & mask_of(f) : any;
    case SPARSE: return below(role == OF_A ? 4 : 2, d.w[3]) == 0 ? any : 0;
    case STRESS:
      switch (below(6, d.w[2])) {
        case 0: return 0;
        case 1: return 1;
        case 2: return mask_of(f);
        case 3: return (word)least_of(f) & mask_of(f);
        case 4: return (word)most_of(f) & mask_of(f);
        default: return any;
      }
    default: return any;
  }
}
static __device__ void make_case(int family, word seed, word index, Case &to) {
  if (family == EXHAUSTIVE) {
    for (int k = 0; k < PRODUCTS; k++) to.a[k] = to.b[k] = 0;
    to.a[0] = index & mask_of(of_a);
    to.b[0] = index >> of_a.bits & mask_of(of_b);
    const int which = (int)(index >> (of_a.bits + of_b.bits) & 15);
    const long long c = which % 2 ? most_of(of_c) - which / 2 * 77 : least_of(of_c) + which / 2 * 77;
    to.c = which == 14 ? 0 : which == 15 ? 1 : into(of_c, c);
    return;
  }
  for (int k = 0; k < PRODUCTS; k++) {
    to.a[k] = plain(family, of_a, OF_A, draw(seed, index, OF_A, k));
    to.b[k] = plain(family, of_b, OF_B, draw(seed, index, OF_B, k));
  }
  if (family == CLOSE)
    for (int k = 1; k < PRODUCTS; k += 2) to.a[k] = to.a[k - 1], to.b[k] = (0 - to.b[k - 1]) & mask_of(of_b);
  const Draw d = draw(seed, index, OF_C, 0);
  if (family == CLOSE || family == BOUNDARY) {
    long long c = bit(d.w[0], 0) ? most_of(of_c) : least_of(of_c);
    for (int k = 0; k < PRODUCTS; k++) c -= value_of(of_a, to.a[k]) * value_of(of_b, to.b[k]);
    to.c = into(of_c, c + below(5, d.w[1]) - 2);
  } else to.c = plain(family, of_c, OF_C, d);
}
