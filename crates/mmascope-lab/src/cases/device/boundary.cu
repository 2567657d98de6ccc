// boundary: products that are asked for by their exponents. `has` is 0 where k has none.
enum { POWER, ALL_ONES, RANDOM };
struct Term { int has, negative, exponent, style; };
static __device__ Term power(bool negative, int e) { return Term{1, negative, e, POWER}; }
static __device__ int mostly_power(const Draw &d) { return d.w[1] % 4 == 0 ? RANDOM : POWER; }

// Codes for the terms. With `is_one`, every block's scales are chosen for `target`, with the first block's draw.
static __device__ void realise(word seed, word index, const Term *terms, bool is_one, int target, Case &to) {
  int lowered[BLOCK_COUNT];
  for (int k = 0; k < PRODUCTS; k++) to.a[k] = to.b[k] = 0;
  for (int j = 0; j < SCALE_COUNT; j++) {
    bool any = is_one;
    int most = target;
    for (int k = j * SCALE_BLOCK; !is_one && k < PRODUCTS && k < (j + 1) * SCALE_BLOCK; k++)
      if (terms[k].has) most = any ? larger(most, terms[k].exponent) : terms[k].exponent, any = true;
    const Draw s = draw(seed, index, OF_SCALE_A, is_one ? 0 : j);
    const int sum = any ? most - (of_a.e_max + of_b.e_max - below(4, s.w[0])) : 0;
    const Pair e = split(of_scale, of_scale, sum, s.w[1]);
    to.scale_a[j] = number(of_scale, false, e.a, 0);
    to.scale_b[j] = number(of_scale, false, e.b, 0);
    lowered[j] = exponent_of(of_scale, to.scale_a[j]) + exponent_of(of_scale, to.scale_b[j]);
  }
  for (int k = 0; k < PRODUCTS; k++) {
    if (!terms[k].has) continue;
    const Draw a = draw(seed, index, OF_A, k), b = draw(seed, index, OF_B, k);
    const Pair e = split(of_a, of_b, terms[k].exponent - (SCALE_COUNT ? lowered[k / SCALE_BLOCK] : 0), a.w[1]);
    word x = 0, y = 0;
    if (terms[k].style == ALL_ONES) {
      x = ones(of_a) > (a.w[0] & 1) ? ones(of_a) - (a.w[0] & 1) : 0;
      y = ones(of_b) > (b.w[0] & 1) ? ones(of_b) - (b.w[0] & 1) : 0;
    } else if (terms[k].style == RANDOM) {
      x = random_fraction(of_a, a.w[3], a.w[1]);
      y = random_fraction(of_b, b.w[3], b.w[1]);
    }
    const bool swapped = bit(b.w[2], 1);
    to.a[k] = number(of_a, terms[k].negative != swapped, e.a, x);
    to.b[k] = number(of_b, swapped, e.b, y);
  }
}

static __device__ void edges(word seed, word index, Case &to) {
  const Draw x = draw(seed, index, OF_CASE, 0), y = draw(seed, index, OF_CASE, 1), c = draw(seed, index, OF_C, 0);
  const int q = below(PRODUCTS, x.w[0]), first = q - q % HINT_L, last = smaller(PRODUCTS, first + HINT_L);
  const bool whole = bit(x.w[1], 0), sign = bit(x.w[1], 1), c_sign = bit(c.w[2], 0);
  const int v = x.w[1] >> 2 & 7;
  const Pair range = common_range(of_a.e_min + of_b.e_min + (SCALE_COUNT ? 2 * of_scale.e_min : 0),
                                  of_a.e_max + of_b.e_max + (SCALE_COUNT ? 2 * of_scale.e_max : 0));
  const int from = range.a, to_e = range.b, tiny = of_d.e_min - HINT_M;
  const word c_random = random_fraction(of_c, c.w[3], c.w[1]);
  Term terms[PRODUCTS];
  for (int k = 0; k < PRODUCTS; k++) terms[k] = Term{0, 0, 0, 0};
#define ACTIVE(k) (whole || ((k) >= first && (k) < last))
#define HIGH(room) between(smaller(to_e, from + (room)), to_e, x.w[2])
  // The n-th k of the block, without q where the anchor stands there; PRODUCTS where there is none.
#define OTHER(n, anchored) ((anchored) && first + (n) >= q ? (first + (n) + 1 < last ? first + (n) + 1 : PRODUCTS) \
                                                            : (first + (n) < last ? first + (n) : PRODUCTS))
  word sum = zero(of_c, false);
  switch ((int)(index % 8)) {
    case 0: {
      const int p = (x.w[3] & 3) == 0 ? to_e : between(from, to_e, x.w[2]);
      for (int k = 0; k < PRODUCTS; k++)
        if (ACTIVE(k)) terms[k] = Term{1, sign != (k == q && bit(v, 0)), p, ALL_ONES};
      sum = number(of_c, sign != bit(v, 1), p + bit(v, 2), ones(of_c));
      break;
    }
    case 1: {
      const int which = below(3, y.w[0]), distance = which == 0 ? HINT_F : which == 1 ? HINT_M : HINT_F2;
      const int p = HIGH(distance), top = p - distance + 3;
      const bool in_c = bit(v, 0);
      if (in_c) sum = number(of_c, sign, p, 0);
      else {
        terms[q] = power(sign, p);
        if (bit(v, 1)) sum = number(of_c, c_sign, top - below(8, c.w[0]), 0);
      }
      for (int k = 0, j = 0; k < PRODUCTS; k++) {
        if (!ACTIVE(k) || (!in_c && k == q)) continue;
        const Draw a = draw(seed, index, OF_A, k);
        terms[k] = Term{1, bit(a.w[2], 0), top - (j++ + below(8, y.w[1])) % 8, mostly_power(a)};
      }
      break;
    }
    case 2:
      if (!bit(v, 0)) {
        for (int k = 0; k < PRODUCTS; k++) {
          if (!ACTIVE(k)) continue;
          const Draw a = draw(seed, index, OF_A, k);
          terms[k] = Term{1, bit(a.w[2], 0), HINT_E0 - below(HINT_F + 4, a.w[0]), RANDOM};
        }
        if (v == 6) sum = number(of_c, c_sign, HINT_E0 - below(HINT_F + 4, c.w[0]), c_random);
      } else {
        if (v == 7) sum = number(of_c, sign, tiny, 0);
        else terms[q] = power(sign, tiny - bit(v, 1));
        const int k = OTHER(0, v != 7);
        if (k < PRODUCTS) terms[k] = power(sign != bit(y.w[1], 0), HINT_E0 - HINT_F - 2 + below(4, y.w[0]));
      }
      break;
    case 3: {
      const int p = HIGH(HINT_M + 2);
      const bool in_c = bit(v, 0), half = sign != bit(y.w[0], 0);
      if (in_c) {
        const word odd = bit(v, 1) && of_c.m >= HINT_M ? (word)1 << (of_c.m - HINT_M) : 0;
        sum = number(of_c, sign, p, odd & ones(of_c));
      } else {
        terms[q] = power(sign, p);
        if (bit(v, 1)) sum = number(of_c, sign, p - HINT_M, 0);
      }
      for (int n = 0; n < (bit(v, 2) ? 2 : 1); n++) {
        const int k = OTHER(n, !in_c);
        if (k < PRODUCTS) terms[k] = power(half, p - HINT_M - (bit(v, 2) ? 2 : 1));
      }
      const int k = OTHER(2, !in_c);
      if (bit(y.w[1], 0) && k < PRODUCTS) terms[k] = power(bit(y.w[1], 1), p - HINT_M - 2 - below(10, y.w[2]));
      break;
    }
    case 4: {
      const int p = between(from, to_e, x.w[2]), stride = stride_of(y.w[0]);
#define LEADS(k) (((k) & stride) == 0 && (k) + stride < PRODUCTS && ACTIVE(k) && ACTIVE((k) + stride))
      for (int k = 0; k < PRODUCTS; k++) {
        if (!LEADS(k)) continue;
        const Draw a = draw(seed, index, OF_A, k);
        terms[k] = Term{1, bit(a.w[2], 0), p - below(4, a.w[0]), RANDOM};
      }
      realise(seed, index, terms, true, p, to);
      switch (v & 3) {
        case 0: to.c = zero(of_c, false); break;
        case 1: to.c = zero(of_c, true); break;
        case 2: to.c = number(of_c, sign, p - HINT_F - 2 + below(5, y.w[1]), 0); break;
        default: to.c = number(of_c, sign, p - below(HINT_F + 1, y.w[1]), c_random);
      }
      for (int k = 0; k < PRODUCTS; k++)
        if (LEADS(k)) to.a[k + stride] = to.a[k], to.b[k + stride] = negated(of_b, to.b[k]);
      return;
    }
    case 5: {
      const int p = HIGH(HINT_F + 4), kind = y.w[1] & 3;
      for (int k = 0; k < PRODUCTS; k++) {
        if (!ACTIVE(k)) continue;
        const Draw a = draw(seed, index, OF_A, k);
        terms[k] = Term{1, kind == 0 ? sign : kind == 1 ? !sign : bit(a.w[2], 0), p - HINT_F - 2 - below(3, a.w[0]), mostly_power(a)};
      }
      terms[q] = power(sign, p);
      const int k = OTHER(0, true);
      if (k < PRODUCTS && bit(v, 0)) terms[k] = power(!sign, p);
      else sum = number(of_c, !sign, p, 0);
      break;
    }
    case 6: {
      const int kind = v & 3;
      if (kind == 3) terms[q] = power(sign, tiny - 1 - below(3, y.w[0]));
      realise(seed, index, terms, false, 0, to);
      for (int k = 0; k < PRODUCTS; k++) {
        if (kind == 3 && k == q) continue;
        const Draw a = draw(seed, index, OF_A, k), b = draw(seed, index, OF_B, k);
        const bool sign_a = bit(a.w[2], 0), sign_b = bit(b.w[2], 0);
        const int which = below(3, a.w[0]);
        to.a[k] = zero(of_a, kind == 2 || sign_a);
        to.b[k] = zero(of_b, kind != 2 && sign_b);
        if (kind != 2 && which == 1) to.b[k] = number(of_b, sign_b, 0, random_fraction(of_b, b.w[3], b.w[1]));
        if (kind != 2 && which == 2) to.a[k] = number(of_a, sign_a, 0, random_fraction(of_a, a.w[3], a.w[1]));
      }
      to.c = zero(of_c, kind == 2 || c_sign);
      return;
    }
    default:
      for (int k = 0; k < PRODUCTS; k++) {
        if (!ACTIVE(k)) continue;
        const Draw a = draw(seed, index, OF_A, k);
        terms[k] = Term{1, bit(v, 0) ? bit(a.w[2], 0) : sign,
                        bit(v, 2) ? of_c.e_max - below(3, a.w[0]) : of_c.e_max - HINT_M - 2 + below(4, a.w[0]), bit(v, 1) ? RANDOM : POWER};
      }
      const word less = (word)below(4, y.w[0]);
      sum = with_sign(of_c, sign, of_c.largest > less ? of_c.largest - less : 0);
  }
  realise(seed, index, terms, false, 0, to);
  to.c = sum;
}
#undef ACTIVE
#undef HIGH
#undef OTHER
#undef LEADS
