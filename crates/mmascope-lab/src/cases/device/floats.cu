// A float format. Codes have the sign on top, if there is one; register words are codes shifted to the left.
struct Code {
  int bits, m, e_min, e_max, bias, has_sign, has_subnormals, specials, shift, uniform_bits;
  word largest;
};
enum { IEEE, ALL_ONES_NAN, NEGATIVE_ZERO_NAN, NO_SPECIALS };
@CODES@
// L, F, F2, e0 and m of the unit.
enum { HINT_L = @L@, HINT_F = @F@, HINT_F2 = @F2@, HINT_E0 = @E0@, HINT_M = @HINT_M@ };
static __device__ const unsigned quantiles[513] = {
@QUANTILES@};

static __device__ word with_sign(const Code &f, bool negative, word magnitude) {
  return magnitude | (word)(negative && f.has_sign) << (f.bits - 1);
}
static __device__ word ones(const Code &f) { return ((word)1 << f.m) - 1; }
static __device__ word random_fraction(const Code &f, unsigned low, unsigned high) {
  return ((word)low | (word)high << 32) & ones(f);
}
static __device__ word at_most(word x, word most) { return x < most ? x : most; }
static __device__ word number(const Code &f, bool negative, int e, word fraction) {
  e = smaller(e, f.e_max);
  word magnitude = 0;
  if (e >= f.e_min) magnitude = (word)(e + f.bias) << f.m | fraction;
  else if (f.has_subnormals) {
    const int places = f.e_min - e;
    magnitude = places < 64 ? ((word)1 << f.m | fraction) >> places : 0;
    if (magnitude == 0) magnitude = 1;
  }
  return with_sign(f, negative, at_most(magnitude, f.largest));
}
static __device__ word subnormal(const Code &f, bool negative, word fraction) {
  return f.has_subnormals ? with_sign(f, negative, fraction ? fraction : 1) : 0;
}
static __device__ word zero(const Code &f, bool negative) {
  return f.specials == NEGATIVE_ZERO_NAN ? 0 : with_sign(f, negative, 0);
}
static __device__ word infinity(const Code &f, bool negative) {
  const word top = ((word)1 << (f.bits - f.has_sign - f.m)) - 1;
  return with_sign(f, negative, f.specials == IEEE ? top << f.m : f.largest);
}
static __device__ word nan_of(const Code &f, unsigned w) {
  const word top = (((word)1 << (f.bits - f.has_sign - f.m)) - 1) << f.m;
  switch (f.specials) {
    case IEEE: { const word fraction = random_fraction(f, w, 0); return top | (fraction ? fraction : 1); }
    case ALL_ONES_NAN: return top | ones(f);
    case NEGATIVE_ZERO_NAN: return with_sign(f, true, 0);
    default: return f.largest;
  }
}
static __device__ word moved(const Code &f, word code, int by) {
  const word sign = code & with_sign(f, true, 0), magnitude = code ^ sign;
  const word step = by < 0 ? (word)-by : (word)by;
  word result = by < 0 ? (magnitude < step ? 0 : magnitude - step) : magnitude + step;
  if (result < 1) result = 1;
  return sign | at_most(result, f.largest);
}
static __device__ word negated(const Code &f, word code) { return code ^ with_sign(f, true, 0); }
// The exponent of the field, and the significand in units of 2^(exponent - m).
static __device__ int exponent_of(const Code &f, word code) {
  const int field = (int)(code >> f.m & (((word)1 << (f.bits - f.has_sign - f.m)) - 1));
  return field == 0 && f.has_subnormals ? f.e_min : field - f.bias;
}
static __device__ word significand_of(const Code &f, word code) {
  const word field = code >> f.m & (((word)1 << (f.bits - f.has_sign - f.m)) - 1), fraction = code & ones(f);
  return field == 0 && f.has_subnormals ? fraction : fraction | (word)1 << f.m;
}
// The nearest code to magnitude * 2^e, ties to even, at most the largest. The magnitude has two halves.
static __device__ word rounded(const Code &f, bool negative, word high, word low, int e) {
  if ((high | low) == 0) return zero(f, negative);
  const int top = (high ? 127 - __clzll((long long)high) : 63 - __clzll((long long)low)) + e;
  if (top > f.e_max + 1) return with_sign(f, negative, f.largest);
  if (!f.has_subnormals && top < f.e_min) return 0;
  const int binade = larger(top, f.e_min), places = binade - f.m - e;
  word kept, half = 0, rest = 0;
  if (places <= 0) kept = low << -places;
  else if (places > 128) kept = 0;
  else {
    kept = places >= 128 ? 0 : places >= 64 ? high >> (places - 64) : low >> places | high << (64 - places);
    const int at = places - 1;
    half = at >= 64 ? high >> (at - 64) & 1 : low >> at & 1;
    rest = at >= 64 ? (high & (((word)1 << (at - 64)) - 1)) | low : low & (((word)1 << at) - 1);
  }
  if (half && (rest || (kept & 1))) kept++;
  const word magnitude = ((word)(binade - f.e_min) << f.m) + kept;
  return magnitude == 0 ? zero(f, negative) : with_sign(f, negative, at_most(magnitude, f.largest));
}
static __device__ word deviate(const Code &f, const Draw &d, int up) {
  const int octave = smaller(__clzll((long long)((word)d.w[0] << 32 | 0xffffffffu)), 31);
  const int i = 16 * octave + (int)((unsigned)((word)d.w[0] << (octave + 1)) >> 28);
  const word from = quantiles[i], to = quantiles[i + 1];
  return rounded(f, bit(d.w[2], 0), 0, (from << 32) + (to - from) * d.w[1], up - 60);
}
static __device__ int between(int from, int to, unsigned w) { return from + below((unsigned)(to - from + 1), w); }
struct Pair { int a, b; };
static __device__ Pair split(const Code &a, const Code &b, int e, unsigned w) {
  const bool normal = e >= a.e_min + b.e_min;
  const int low_a = normal ? a.e_min : a.e_min - a.m, low_b = normal ? b.e_min : b.e_min - b.m;
  const int from = larger(low_a, e - b.e_max), to = smaller(a.e_max, e - low_b);
  if (from <= to) { const int e_a = between(from, to, w); return Pair{e_a, e - e_a}; }
  if (e > a.e_max + b.e_max) return Pair{a.e_max, b.e_max};
  return Pair{low_a, low_b};
}
static __device__ Pair common_range(int low, int high) {
  const int from = larger(low, of_c.e_min - of_c.m), to = smaller(high, of_c.e_max);
  return from > to ? Pair{low, high} : Pair{from, to};
}
static __device__ word uniform(const Code &f, const Draw &d) {
  const word all = (word)d.w[0] | (word)d.w[1] << 32;
  return f.uniform_bits == 64 ? all : all & (((word)1 << f.uniform_bits) - 1);
}
static __device__ word small_scale(const Draw &d, int count, int down) {
  return number(of_scale, false, below(count, d.w[0]) - down, random_fraction(of_scale, d.w[1], 0));
}

// bits, normal, outlier, sparse and stress: every operand from its own draw.
static __device__ word stressed(const Code &f, int e, const Draw &d) {
  const bool negative = bit(d.w[2], 0);
  const word random = random_fraction(f, d.w[3], d.w[1]);
  const int kind = below(16, d.w[0]), style = d.w[2] >> 1 & 3;
  if (kind == 0) return zero(f, negative);
  if (kind == 1) return subnormal(f, negative, random);
  return number(f, negative, e - 2 + below(5, d.w[1]), style == 0 ? ones(f) : style == 1 ? 0 : random);
}
static __device__ word plain(int family, const Code &f, unsigned role, int e, const Draw &d) {
  switch (family) {
    case BITS_FAMILY: return uniform(f, d);
    case OUTLIER: return deviate(f, d, (d.w[2] >> 8 & 31) == 0 ? 4 + below(9, d.w[3]) : 0);
    case STRESS: return stressed(f, e, d);
    case SPARSE: return below(role == OF_A ? 4 : 2, d.w[3]) == 0 ? deviate(f, d, 0) : zero(f, bit(d.w[2], 0));
    default: return deviate(f, d, 0);
  }
}
static __device__ word plain_scale(int family, const Draw &d) {
  if (family == BITS_FAMILY) return uniform(of_scale, d);
  return family == STRESS ? small_scale(d, 5, 2) : small_scale(d, 9, 4);
}
static __device__ Pair centre(const Draw &x, int &p) {
  const Pair range = common_range(of_a.e_min + of_b.e_min, of_a.e_max + of_b.e_max);
  p = between(range.a, range.b, x.w[0]);
  return split(of_a, of_b, p, x.w[1]);
}
static __device__ word extreme(const Code &f, unsigned w) {
  switch (below(5, w)) {
    case 0: return infinity(f, false);
    case 1: return infinity(f, true);
    case 2: return nan_of(f, w);
    case 3: return f.largest;
    default: return zero(f, false);
  }
}
static __device__ void overwrite(Case &to, unsigned place, unsigned kind) {
  const word t = (word)(SCALE_COUNT ? 5 : 3) * place;
  const unsigned rest = (unsigned)t;
  switch ((int)(t >> 32)) {
    case 0: to.a[below(PRODUCTS, rest)] = extreme(of_a, kind); break;
    case 1: to.b[below(PRODUCTS, rest)] = extreme(of_b, kind); break;
    case 2: to.c = extreme(of_c, kind); break;
    case 3: to.scale_a[below(SCALE_COUNT, rest)] = extreme(of_scale, kind); break;
    default: to.scale_b[below(SCALE_COUNT, rest)] = extreme(of_scale, kind);
  }
}
static __device__ void independent(int family, word seed, word index, Case &to) {
  int p = 0, e_c = 0;
  Pair e = {0, 0};
  const Draw x = draw(seed, index, OF_CASE, 0);
  if (family == STRESS) e = centre(x, p), e_c = p - 24 + below(33, x.w[2]);
  for (int k = 0; k < PRODUCTS; k++) {
    to.a[k] = plain(family, of_a, OF_A, e.a, draw(seed, index, OF_A, k));
    to.b[k] = plain(family, of_b, OF_B, e.b, draw(seed, index, OF_B, k));
  }
  to.c = plain(family, of_c, OF_C, e_c, draw(seed, index, OF_C, 0));
  for (int j = 0; j < SCALE_COUNT; j++) {
    to.scale_a[j] = plain_scale(family, draw(seed, index, OF_SCALE_A, j));
    to.scale_b[j] = plain_scale(family, draw(seed, index, OF_SCALE_B, j));
  }
  if (family == STRESS && x.w[3] % 8 == 0) {
    const Draw y = draw(seed, index, OF_CASE, 1);
    overwrite(to, y.w[0], y.w[1]);
    overwrite(to, y.w[2], y.w[3]);
  }
}

static __device__ int stride_of(unsigned w) {
  int digits = 0;
  for (int k = PRODUCTS - 1; k > 0; k >>= 1) digits++;
  return 1 << below(digits ? digits : 1, w);
}
static __device__ int small_move(unsigned w) {
  const int i = below(8, w);
  return i < 4 ? 0 : i == 4 ? -1 : i == 5 ? 1 : i == 6 ? -2 : 2;
}
static __device__ word leader(const Code &f, int e, const Draw &d) {
  return number(f, bit(d.w[2], 0), e - 1 + below(3, d.w[0]), random_fraction(f, d.w[3], d.w[1]));
}
static __device__ void near_cancelling(word seed, word index, Case &to) {
  const Draw x = draw(seed, index, OF_CASE, 0), y = draw(seed, index, OF_CASE, 1);
  int p;
  const Pair e = centre(x, p);
  const int stride = stride_of(x.w[2]);
  const bool exact = (x.w[3] >> 2) % 4 == 0;
  for (int k = 0; k < PRODUCTS; k++) {
    const Draw a = draw(seed, index, OF_A, k), b = draw(seed, index, OF_B, k);
    if (k & stride) {
      to.a[k] = moved(of_a, to.a[k - stride], exact ? 0 : small_move(a.w[0]));
      to.b[k] = negated(of_b, moved(of_b, to.b[k - stride], exact ? 0 : small_move(b.w[0])));
    } else to.a[k] = leader(of_a, e.a, a), to.b[k] = leader(of_b, e.b, b);
  }
  const Draw c = draw(seed, index, OF_C, 0);
  const word random = random_fraction(of_c, c.w[3], c.w[1]);
  switch (x.w[3] & 3) {
    case 0: to.c = zero(of_c, false); break;
    case 1: to.c = number(of_c, bit(c.w[2], 0), p - below(28, c.w[0]), random); break;
    case 2: {
      const word u = significand_of(of_a, to.a[0]), v = significand_of(of_b, to.b[0]);
      const word sign_a = with_sign(of_a, true, 0), sign_b = with_sign(of_b, true, 0);
      const bool alike = ((to.a[0] & sign_a) != 0) == ((to.b[0] & sign_b) != 0);
      to.c = rounded(of_c, alike, __umul64hi(u, v), u * v,
                     exponent_of(of_a, to.a[0]) - of_a.m + exponent_of(of_b, to.b[0]) - of_b.m);
      break;
    }
    default: to.c = number(of_c, bit(c.w[2], 0), p - 1 + below(3, c.w[0]), random);
  }
  const int lift = below(5, y.w[0]) - 2;
  for (int j = 0; j < SCALE_COUNT; j++) {
    to.scale_a[j] = number(of_scale, false, lift, 0);
    to.scale_b[j] = number(of_scale, false, -lift, 0);
  }
}
static __device__ void pairs(word index, Case &to) {
  for (int k = 0; k < PRODUCTS; k++) to.a[k] = to.b[k] = 0;
  to.a[0] = index & (((word)1 << of_a.bits) - 1);
  to.b[0] = index >> of_a.bits & (((word)1 << of_b.bits) - 1);
  const Code &c = of_c;
  switch ((int)(index >> (of_a.bits + of_b.bits) & 15)) {
    case 0: to.c = zero(c, false); break;
    case 1: to.c = zero(c, true); break;
    case 2: to.c = number(c, false, 0, 0); break;
    case 3: to.c = number(c, true, 0, 0); break;
    case 4: to.c = subnormal(c, false, 1); break;
    case 5: to.c = subnormal(c, true, 1); break;
    case 6: to.c = number(c, false, c.e_min, 0); break;
    case 7: to.c = subnormal(c, true, ones(c)); break;
    case 8: to.c = number(c, false, 0, ones(c)); break;
    case 9: to.c = number(c, true, 0, 1); break;
    case 10: to.c = number(c, false, 8, 0); break;
    case 11: to.c = number(c, true, 13, 0); break;
    case 12: to.c = c.largest; break;
    case 13: to.c = with_sign(c, true, c.largest); break;
    case 14: to.c = infinity(c, false); break;
    default: to.c = nan_of(c, 1);
  }
  for (int j = 0; j < SCALE_COUNT; j++) to.scale_a[j] = to.scale_b[j] = number(of_scale, false, 0, 0);
}
@BOUNDARY@
static __device__ void make_case(int family, word seed, word index, Case &to) {
  if (family == CLOSE) near_cancelling(seed, index, to);
  else if (family == BOUNDARY) edges(seed, index, to);
  else if (family == EXHAUSTIVE) pairs(index, to);
  else independent(family, seed, index, to);
  // The words of the family bits are those of registers.
  if (family == BITS_FAMILY) return;
  for (int k = 0; k < PRODUCTS; k++) to.a[k] <<= of_a.shift, to.b[k] <<= of_b.shift;
  to.c <<= of_c.shift;
}
