/* A matrix unit with every parameter free, written from the specification alone: a device to try `infer` on.
 *
 *   cc -O2 -shared -fPIC -I crates/mmascope-host/include -o unit.so examples/devices/unit.c
 *   UNIT="a=bf16 b=bf16 d=f32 k=8 L=4 F=27 align=rd" mmascope infer plugin:unit.so
 *
 * With process.c it is a process. The environment variable UNIT says what unit it is, in words NAME=VALUE
 * (README.md lists them). Numbers are integers of 704 bits, so that no sum is anything but exact until the
 * unit rounds it.
 */
#include "mmascope_plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Integers of 704 bits in units of 2^BOTTOM ------------------------------------------------------- */

enum { LIMBS = 22, BITS = 32 * LIMBS, BOTTOM = -352, MOST_K = 64 };

typedef struct { uint32_t limb[LIMBS]; } Wide; /* the lowest limb first */

static int is_zero(const Wide *x) {
    for (int i = 0; i < LIMBS; i++)
        if (x->limb[i]) return 0;
    return 1;
}

static int bit(const Wide *x, int at) {
    return at >= 0 && at < BITS && (x->limb[at / 32] >> (at % 32) & 1);
}

/* Exponent of the leading bit; of a number that is not zero. */
static int top(const Wide *x) {
    int at = BITS - 1;
    while (!bit(x, at)) at--;
    return at + BOTTOM;
}

static void add(Wide *sum, const Wide *x) {
    uint64_t carry = 0;
    for (int i = 0; i < LIMBS; i++) {
        carry += (uint64_t)sum->limb[i] + x->limb[i];
        sum->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

static Wide negated(Wide x) {
    Wide one = {{1}};
    for (int i = 0; i < LIMBS; i++) x.limb[i] = ~x.limb[i];
    add(&x, &one);
    return x;
}

/* integer * 2^exponent */
static Wide wide(uint64_t integer, int exponent) {
    Wide x = {{0}};
    for (int i = 0; i < 64; i++) {
        int at = exponent - BOTTOM + i;
        if ((integer >> i & 1) && at >= 0 && at < BITS) x.limb[at / 32] |= 1u << (at % 32);
    }
    return x;
}

typedef enum { RZ, RA, RD, RU, RNE, RNA, RNZ, RNO, RNU, RND, ODD } Mode;
static const char *const MODES[] = {"rz", "ra", "rd", "ru", "rne", "rna", "rnz", "rno", "rnu", "rnd", "odd", 0};

/* A magnitude as a multiple of 2^grid. Tells whether anything fell off. */
static int to_grid(Wide *x, int grid, Mode mode, int negative) {
    int at = grid - BOTTOM, lost = 0;
    if (at <= 0) return 0;
    int half = bit(x, at - 1);
    for (int i = 0; i < at && i < BITS; i++) {
        if (i < at - 1) lost |= bit(x, i);
        x->limb[i / 32] &= ~(1u << (i % 32));
    }
    if (!half && !lost) return 0;
    int odd = bit(x, at), up = 0, nearest = half && lost;
    switch (mode) {
    case RZ: break;
    case RA: up = 1; break;
    case RD: up = negative; break;
    case RU: up = !negative; break;
    case RNE: up = nearest || (half && odd); break;
    case RNA: up = half; break;
    case RNZ: up = nearest; break;
    case RNO: up = nearest || (half && !odd); break;
    case RNU: up = nearest || (half && !negative); break;
    case RND: up = nearest || (half && negative); break;
    case ODD: up = !odd; break;
    }
    if (up) {
        Wide one = wide(1, grid);
        add(x, &one);
    }
    return 1;
}

/* ---- Formats ---------------------------------------------------------------------------------------- */

typedef enum { AS_IEEE_754, ONE_NAN, NONE } Specials; /* ONE_NAN: the code of ones alone */
/* digits: bits of a word; formats without infinity are for operands only */
typedef struct { const char *name; int exponent, fraction, digits, shift; Specials specials; } Format;
static const Format FORMATS[] = {
    {"f16", 5, 10, 16, 0, AS_IEEE_754}, {"bf16", 8, 7, 16, 0, AS_IEEE_754}, {"f32", 8, 23, 32, 0, AS_IEEE_754},
    {"tf32", 8, 10, 32, 13, AS_IEEE_754}, {"e8m13", 8, 13, 32, 10, AS_IEEE_754}, {"e5m2", 5, 2, 8, 0, AS_IEEE_754},
    {"e4m3", 4, 3, 8, 0, ONE_NAN}, {"e3m2", 3, 2, 6, 0, NONE}, {"e2m3", 2, 3, 6, 0, NONE}, {"e2m1", 2, 1, 4, 0, NONE},
    {0, 0, 0, 0, 0, NONE}};

static int bias(const Format *f) { return (1 << (f->exponent - 1)) - 1; }
static int smallest(const Format *f) { return 1 - bias(f); }

typedef enum { NUMBER, INFINITE, NOT } Kind;
/* `exponent` is the one of the encoding: subnormal numbers have that of the smallest normal one. */
typedef struct { Kind kind; int negative, exponent; Wide magnitude; } Value;

static Value number(int negative) {
    Value x = {NUMBER, negative, -9999, {{0}}};
    return x;
}
static Value infinite(int negative) {
    Value x = {INFINITE, negative, 0, {{0}}};
    return x;
}
static Value not_a_number(void) {
    Value x = {NOT, 0, 0, {{0}}};
    return x;
}

static Value decoded(const Format *f, uint64_t word) {
    uint64_t code = word >> f->shift, fraction = code & ((1u << f->fraction) - 1);
    int ones = (1 << f->exponent) - 1, field = (int)(code >> f->fraction) & ones;
    int negative = code >> (f->exponent + f->fraction) & 1;
    if (field == ones && f->specials == AS_IEEE_754) return fraction ? not_a_number() : infinite(negative);
    if (field == ones && f->specials == ONE_NAN && fraction == (1u << f->fraction) - 1) return not_a_number();
    Value x = number(negative);
    x.exponent = (field ? field : 1) - bias(f);
    x.magnitude = wide(fraction | (field ? 1ull << f->fraction : 0), x.exponent - f->fraction);
    return x;
}

static int is_subnormal(const Format *f, const Value *x) {
    return x->kind == NUMBER && !is_zero(&x->magnitude) && top(&x->magnitude) < smallest(f);
}

/* A finite value that the format has, as its word. */
static uint64_t encoded(const Format *f, const Value *x) {
    uint64_t sign = (uint64_t)x->negative << (f->exponent + f->fraction), code = 0;
    if (x->kind == INFINITE) code = ((1ull << f->exponent) - 1) << f->fraction;
    if (x->kind == NUMBER && !is_zero(&x->magnitude)) {
        int e = top(&x->magnitude), least = smallest(f);
        int grid = (e < least ? least : e) - f->fraction - BOTTOM;
        for (int i = 0; i <= f->fraction; i++) code |= (uint64_t)bit(&x->magnitude, grid + i) << i;
        if (e >= least) code = (code & ((1ull << f->fraction) - 1)) | (uint64_t)(e + bias(f)) << f->fraction;
    }
    return (sign | code) << f->shift;
}

/* ---- What unit it is -------------------------------------------------------------------------------- */

typedef enum { KEEP, PLUS, KEPT } Flush;
typedef enum { IEEE, TO_INFINITY, TO_LARGEST, TO_NAN } Over;
typedef enum { ALWAYS_PLUS, OF_ROUNDED, AS_IEEE, ALWAYS_MINUS } Zero;
typedef enum { FIRST, LAST, AFTER_FIRST, LAST_STEP, ABSENT } Place;
typedef enum { FUSED, PAIRS, SEQUENCE } Sum;
typedef enum { INVALID, GIVES_ZERO, GIVES_SIGNED, GIVES_PLUS, GIVES_MINUS } Invalid;
typedef struct { const Format *format; Mode mode; } Rounded; /* no format: as it is */

static const char *const FLUSHES[] = {"none", "plus", "kept", 0};
static const char *const OVERS[] = {"ieee", "infinity", "largest", "nan", 0};
static const char *const ZEROS[] = {"plus", "exact", "ieee", "minus", 0};
static const char *const PLACES[] = {"first", "last", "after-first", "last-step", "absent", 0};
static const char *const SUMS[] = {"fused", "pairs", "sequence", 0};
static const char *const INVALIDS[] = {"nan", "zero", "signed", "plus", "minus", 0};
static const char *const YES[] = {"no", "yes", 0};
static const char *const SIDES[] = {"both", "a", "b", 0};
static const char *const WHEN[] = {"after", "before", 0};
static const char *const ADDS[] = {"pairs", "sequence", 0};
static const char *const PARTS[] = {"strided", "neighbours", 0};

enum { NO_FLOOR = -9999, EXACT = 9999 };

typedef struct {
    const Format *a, *b, *d, *between_format;
    int k, l, f, fc, e0, group, strided, fg, own_exponent, drops_zero, f2, limit, normalised, sticky, apart;
    int own_steps, accumulators, adds, neighbours, flush_of, flush_when, order[MOST_K], group_of[MOST_K], permuted;
    Mode align, align_c, align_g, floor, end, between;
    Rounded products, operands, round_c;
    Flush flush_in, flush_c, flush_products, flush;
    Over over;
    Zero zero;
    Place place;
    Sum sum;
    Invalid zero_times_infinity, opposite;
    uint64_t nan;
} Unit;

static int word_of(const char *const *words, const char *value) {
    for (int i = 0; words[i]; i++)
        if (!strcmp(words[i], value)) return i;
    return -1;
}

static const Format *format_of(const char *value) {
    for (const Format *f = FORMATS; f->name; f++)
        if (!strcmp(f->name, value)) return f;
    return 0;
}

/* Like rne:f16. */
static int rounded_of(const char *value, Rounded *to) {
    char mode[8] = "";
    const char *colon = strchr(value, ':');
    if (!colon || colon - value > 4) return 0;
    memcpy(mode, value, colon - value);
    int found = word_of(MODES, mode);
    to->mode = (Mode)found;
    to->format = format_of(colon + 1);
    return found >= 0 && to->format;
}

/* Like 3,1,2,0. */
static int list_of(const char *value, int *list) {
    int count = 0;
    for (; *value && count < MOST_K; count++) {
        char *end;
        list[count] = (int)strtol(value, &end, 10);
        if (end == value || list[count] < 0 || list[count] >= MOST_K) return 0;
        value = *end == ',' ? end + 1 : end;
    }
    return count;
}

/* A word that has one of a few values; `of` is the number of the value. */
static int chosen(const char *const *words, const char *value, int *of) {
    int found = word_of(words, value);
    if (found >= 0) *of = found;
    return found >= 0;
}

static int set(Unit *u, const char *name, const char *value) {
    int i = 0, number = atoi(value);
#define IS(text) !strcmp(name, text)
#define CHOOSE(words, field) (chosen(words, value, &i) && ((u->field = i), 1))
    if (IS("a")) return (u->a = format_of(value)) != 0;
    if (IS("b")) return (u->b = format_of(value)) != 0;
    if (IS("d")) return (u->d = u->between_format = format_of(value)) != 0;
    if (IS("k")) return (u->k = u->l = number) > 0 && number <= MOST_K;
    if (IS("L")) return (u->l = number) > 0;
    if (IS("F")) return (u->f = u->fc = strcmp(value, "exact") ? number : EXACT) > 0;
    if (IS("Fc")) return (u->fc = number) > 0;
    if (IS("e0")) return u->e0 = strcmp(value, "none") ? number : NO_FLOOR, 1;
    if (IS("G")) return (u->group = number) > 0;
    if (IS("groups")) return strcmp(value, "strided") ? (u->permuted = list_of(value, u->group_of)) : (u->strided = 1);
    if (IS("Fg")) return (u->fg = number) > 0;
    if (IS("own-exponent")) return CHOOSE(YES, own_exponent);
    if (IS("drops-zero")) return CHOOSE(YES, drops_zero);
    if (IS("F2")) return (u->f2 = number) > 0;
    if (IS("floor")) return CHOOSE(MODES, floor);
    if (IS("align")) return CHOOSE(MODES, align) && ((u->align_c = u->align), 1);
    if (IS("align-c")) return CHOOSE(MODES, align_c);
    if (IS("align-g")) return CHOOSE(MODES, align_g);
    if (IS("end")) return CHOOSE(MODES, end) && ((u->between = u->end), 1);
    if (IS("between")) return CHOOSE(MODES, between);
    if (IS("between-format")) return (u->between_format = format_of(value)) != 0;
    if (IS("products")) return strcmp(value, "normalised") ? rounded_of(value, &u->products) : (u->normalised = 1);
    if (IS("product-limit")) return u->limit = number, 1;
    if (IS("operands")) return rounded_of(value, &u->operands);
    if (IS("round-c")) return rounded_of(value, &u->round_c);
    if (IS("flush-in")) return CHOOSE(FLUSHES, flush_in);
    if (IS("flush-of")) return CHOOSE(SIDES, flush_of);
    if (IS("flush-c")) return CHOOSE(FLUSHES, flush_c);
    if (IS("flush-products")) return CHOOSE(FLUSHES, flush_products);
    if (IS("flush")) return CHOOSE(FLUSHES, flush);
    if (IS("flush-when")) return CHOOSE(WHEN, flush_when);
    if (IS("overflow")) return CHOOSE(OVERS, over);
    if (IS("zero")) return CHOOSE(ZEROS, zero);
    if (IS("c")) return CHOOSE(PLACES, place);
    if (IS("sum")) return CHOOSE(SUMS, sum);
    if (IS("zero-times-inf")) return CHOOSE(INVALIDS, zero_times_infinity);
    if (IS("inf-minus-inf")) return CHOOSE(INVALIDS, opposite);
    if (IS("sticky")) return (u->sticky = strcmp(value, "kept") ? number : 40) > 0;
    if (IS("grid")) return (u->apart = !strcmp(value, "products"));
    if (IS("own-steps")) return CHOOSE(YES, own_steps);
    if (IS("accumulators")) return (u->accumulators = number) > 0;
    if (IS("adds")) return CHOOSE(ADDS, adds);
    if (IS("parts")) return CHOOSE(PARTS, neighbours);
    if (IS("nan")) return u->nan = strtoull(value, 0, 16), 1;
    if (IS("order")) return list_of(value, u->order) == u->k;
#undef IS
#undef CHOOSE
    return 0;
}

/* Reads UNIT; NULL, or the word that it does not know. Hopper's f16 unit with K = 8, where nothing is said. */
static const char *read_unit(Unit *u, char *memory, size_t size) {
    const char *text = getenv("UNIT");
    memset(u, 0, sizeof *u);
    u->a = u->b = format_of("f16");
    u->d = u->between_format = format_of("f32");
    u->k = u->l = 8;
    u->f = u->fc = 25;
    u->fg = EXACT;
    u->e0 = -133;
    u->over = TO_INFINITY;
    u->floor = RD;
    u->accumulators = 1;
    for (int i = 0; i < MOST_K; i++) u->order[i] = i;
    snprintf(memory, size, "%s", text ? text : "");
    char *rest = memory, *word;
    while (*(word = rest + strspn(rest, " ")) != 0) {
        rest = word + strcspn(word, " ");
        if (*rest) *rest++ = 0;
        char *value = strchr(word, '=');
        if (!value) return word;
        *value++ = 0;
        if (!set(u, word, value)) return word;
    }
    if (!u->nan) u->nan = u->d->digits == 16 ? 0x7fff : 0x7fffffff;
    return 0;
}

/* ---- Its arithmetic --------------------------------------------------------------------------------- */

/* The value of a sum in a format. `sign`: that of all its terms where all are zeros of one sign, else -1. */
static Value finished(const Unit *u, Wide magnitude, int negative, int sign, const Format *f, Mode mode) {
    Value x = number(negative);
    int exactly_zero = is_zero(&magnitude), tiny = exactly_zero || top(&magnitude) < smallest(f);
    x.magnitude = magnitude;
    if (!exactly_zero) {
        int e = top(&magnitude), least = smallest(f);
        to_grid(&x.magnitude, (e < least ? least : e) - f->fraction, mode, negative);
        if (!is_zero(&x.magnitude) && top(&x.magnitude) > bias(f)) {
            int away = mode == RA || mode == RNE || mode == RNA || mode == RNZ || mode == RNO || mode == RNU
                       || mode == RND || (mode == RD && negative) || (mode == RU && !negative);
            if (u->over == TO_NAN) return not_a_number();
            if (u->over == TO_INFINITY || (u->over == IEEE && away)) return infinite(negative);
            x.magnitude = wide((2ull << f->fraction) - 1, bias(f) - f->fraction);
        }
        if (u->flush != KEEP && (u->flush_when ? tiny : is_subnormal(f, &x))) {
            Wide nothing = {{0}};
            x.magnitude = nothing;
            x.negative = negative && u->flush == KEPT;
            return x;
        }
    }
    if (is_zero(&x.magnitude)) {
        switch (u->zero) {
        case ALWAYS_PLUS: x.negative = 0; break;
        case ALWAYS_MINUS: x.negative = 1; break;
        case OF_ROUNDED: x.negative = exactly_zero ? 0 : negative; break;
        case AS_IEEE: x.negative = !exactly_zero ? negative : sign >= 0 ? sign : mode == RD; break;
        }
    }
    x.exponent = smallest(f);
    if (!is_zero(&x.magnitude) && top(&x.magnitude) > x.exponent) x.exponent = top(&x.magnitude);
    return x;
}

/* A single value rounded as IEEE 754 says. */
static Value narrowed(Value x, Rounded to) {
    if (!to.format || x.kind != NUMBER || is_zero(&x.magnitude)) return x;
    Unit plain;
    memset(&plain, 0, sizeof plain);
    plain.over = IEEE;
    plain.zero = AS_IEEE;
    return finished(&plain, x.magnitude, x.negative, x.negative, to.format, to.mode);
}

static Value flushed(Value x, const Format *f, Flush flush) {
    if (flush == KEEP || !is_subnormal(f, &x)) return x;
    Value zero = number(x.negative && flush == KEPT);
    return zero;
}

static Wide times(const Wide *x, const Wide *y) {
    Wide product = {{0}};
    int e = top(x), g = top(y);
    /* Significands have at most 24 bits: both as integers. */
    uint64_t m = 0, n = 0;
    for (int i = 0; i < 24; i++) {
        m |= (uint64_t)bit(x, e - BOTTOM - i) << (23 - i);
        n |= (uint64_t)bit(y, g - BOTTOM - i) << (23 - i);
    }
    product = wide(m * n, e + g - 46);
    return product;
}

static Value multiplied(const Unit *u, Value a, Value b) {
    int negative = a.negative ^ b.negative;
    if (a.kind == NOT || b.kind == NOT) return not_a_number();
    if (a.kind == INFINITE || b.kind == INFINITE) {
        int by_zero = (a.kind == NUMBER && is_zero(&a.magnitude)) || (b.kind == NUMBER && is_zero(&b.magnitude));
        if (!by_zero) return infinite(negative);
        switch (u->zero_times_infinity) {
        case INVALID: return not_a_number();
        case GIVES_ZERO: return number(negative);
        case GIVES_SIGNED: return infinite(negative);
        default: return infinite(u->zero_times_infinity == GIVES_MINUS);
        }
    }
    Value x = number(negative);
    if (is_zero(&a.magnitude) || is_zero(&b.magnitude)) return x;
    x.magnitude = times(&a.magnitude, &b.magnitude);
    x.exponent = a.exponent + b.exponent;
    if (u->limit && top(&x.magnitude) >= u->limit) return infinite(negative);
    if (u->normalised) x.exponent = top(&x.magnitude);
    if (u->products.format) {
        x = narrowed(x, u->products);
        x = flushed(x, u->products.format, u->flush_products);
    }
    return x;
}

/* Adds terms that are magnitudes with signs; gives a magnitude and its sign. */
static Wide total(const Wide *terms, const int *negative, int count, int *sign) {
    Wide sum = {{0}};
    for (int i = 0; i < count; i++) {
        Wide term = negative[i] ? negated(terms[i]) : terms[i];
        add(&sum, &term);
    }
    *sign = bit(&sum, BITS - 1);
    return *sign ? negated(sum) : sum;
}

/* Whether all are zeros of one sign: that sign, else -1. */
static int common_sign(const Value *terms, int count) {
    for (int i = 0; i < count; i++)
        if (!is_zero(&terms[i].magnitude) || terms[i].negative != terms[0].negative) return -1;
    return count ? terms[0].negative : 0;
}

/* Terms that take part in an alignment: values, their exponents, and whether each is c. */
typedef struct { Wide magnitude[MOST_K + 2]; int negative[MOST_K + 2], exponent[MOST_K + 2], count; } Terms;

static void push(Terms *t, Wide magnitude, int negative, int exponent) {
    t->magnitude[t->count] = magnitude;
    t->negative[t->count] = negative;
    t->exponent[t->count++] = exponent;
}

static void push_groups(const Unit *u, Terms *t, const Value *x, const int *k, int n) {
    int count = (n + u->group - 1) / u->group;
    for (int j = 0; j < count; j++) {
        Terms own = {.count = 0};
        int e = -99999, negative;
        for (int i = 0; i < n; i++) {
            int group = u->permuted ? u->group_of[k[i]] : u->strided ? i % count : i / u->group;
            if (group != j || is_zero(&x[i].magnitude)) continue;
            push(&own, x[i].magnitude, x[i].negative, x[i].exponent);
            if (x[i].exponent > e) e = x[i].exponent;
        }
        if (!own.count) continue;
        for (int i = 0; i < own.count && u->fg != EXACT; i++)
            to_grid(&own.magnitude[i], e - u->fg, u->align_g, own.negative[i]);
        Wide sum = total(own.magnitude, own.negative, own.count, &negative);
        if (is_zero(&sum) && (u->drops_zero || u->own_exponent)) continue;
        push(t, sum, negative, u->own_exponent ? top(&sum) : e);
    }
}

/* One sum of products and what was before, or NULL. `k` says which products they are. */
static Value fused(const Unit *u, const Value *products, const int *k, int n, const Value *c, const Format *f,
                   Mode mode) {
    int plus = 0, minus = 0, bad = 0, negative;
    Value all[MOST_K + 2];
    memcpy(all, products, n * sizeof *all);
    int count = n;
    if (c) all[count++] = *c;
    for (int i = 0; i < count; i++) {
        bad |= all[i].kind == NOT;
        if (all[i].kind == INFINITE) *(all[i].negative ? &minus : &plus) = 1;
    }
    if (!bad && plus && minus && u->opposite != INVALID) return infinite(u->opposite == GIVES_MINUS);
    if (bad || (plus && minus)) return not_a_number();
    if (plus || minus) return infinite(minus);
    int sign = common_sign(all, count);
    Terms t = {.count = 0};
    if (u->group) push_groups(u, &t, products, k, n);
    else
        for (int i = 0; i < n; i++)
            if (!is_zero(&products[i].magnitude)) push(&t, products[i].magnitude, products[i].negative, products[i].exponent);
    int of_products = t.count, has_c = c && !is_zero(&c->magnitude);
    if (has_c) push(&t, c->magnitude, c->negative, c->exponent);
    int e = u->e0, lost = 0;
    for (int i = 0; i < t.count; i++)
        if (t.exponent[i] > e && !(i == of_products && u->apart)) e = t.exponent[i];
    if (u->f != EXACT && e != NO_FLOOR)
        for (int i = 0; i < t.count; i++) {
            int is_c = i == of_products;
            lost |= to_grid(&t.magnitude[i], e - (is_c ? u->fc : u->f), is_c ? u->align_c : u->align, t.negative[i]);
        }
    Wide sum = total(t.magnitude, t.negative, t.count, &negative);
    if (u->sticky && lost && !is_zero(&sum)) {
        Wide more = wide(1, e - (u->f > u->fc ? u->f : u->fc) - u->sticky);
        add(&sum, &more);
    }
    if (u->f2 && !is_zero(&sum)) {
        int own = top(&sum);
        to_grid(&sum, (own < smallest(f) ? smallest(f) : own) - u->f2, u->floor, negative);
    }
    return finished(u, sum, negative, sign, f, mode);
}

/* A rounded addition. */
static Value added(const Unit *u, const Value *x, const Value *y, const Format *f, Mode mode) {
    if (x->kind == NOT || y->kind == NOT) return not_a_number();
    if (x->kind == INFINITE || y->kind == INFINITE) {
        if (x->kind == y->kind && x->negative != y->negative) return not_a_number();
        return infinite(x->kind == INFINITE ? x->negative : y->negative);
    }
    Wide terms[2] = {x->magnitude, y->magnitude};
    int negatives[2] = {x->negative, y->negative}, negative;
    Value both[2] = {*x, *y};
    Wide sum = total(terms, negatives, 2, &negative);
    return finished(u, sum, negative, common_sign(both, 2), f, mode);
}

/* The sum of rounded products, pairwise or one after the other. */
static Value rounded_sum(const Unit *u, const Value *products, int n, const Format *f, Mode mode) {
    Value x[MOST_K];
    for (int i = 0; i < n; i++) {
        x[i] = products[i];
        if (x[i].kind == NUMBER && !u->products.format) {
            x[i] = finished(u, x[i].magnitude, x[i].negative, x[i].negative, f, mode);
        }
    }
    while (n > 1) {
        if (u->sum == SEQUENCE) {
            x[0] = added(u, &x[0], &x[1], f, mode);
            memmove(x + 1, x + 2, (--n - 1) * sizeof *x);
        } else {
            int half = (n + 1) / 2;
            for (int i = 0; i < half; i++) x[i] = 2 * i + 1 < n ? added(u, &x[2 * i], &x[2 * i + 1], f, mode) : x[2 * i];
            n = half;
        }
    }
    return x[0];
}

/* Steps one after the other over some places of the order. */
static Value chain(const Unit *u, const Value *products, const int *places, int n, const Value *c, int is_last_chain) {
    Value sum = number(0);
    int has_sum = 0;
    if (c && (u->place == FIRST || u->own_steps)) sum = *c, has_sum = 1;
    for (int from = 0; from < n; from += u->l) {
        Value own[MOST_K + 1];
        int k[MOST_K + 1], count = n - from < u->l ? n - from : u->l;
        int ends = from + count == n && u->place != LAST && is_last_chain;
        const Format *f = ends ? u->d : u->between_format;
        Mode mode = ends ? u->end : u->between;
        for (int i = 0; i < count; i++) own[i] = products[k[i] = places[from + i]];
        if (u->sum != FUSED || u->own_steps) {
            Value step = u->sum != FUSED ? rounded_sum(u, own, count, f, mode)
                                         : fused(u, own, k, count, 0, u->between_format, u->between);
            /* A product alone, rounded to another format, is a result as well. */
            if (!has_sum && u->sum != FUSED && count == 1 && u->products.format && step.kind == NUMBER)
                step = finished(u, step.magnitude, step.negative, step.negative, f, mode);
            sum = has_sum ? added(u, &sum, &step, f, mode) : step;
        } else if (c && u->place == LAST_STEP && from + count == n) {
            /* What was before enters the last sum as if it were a product. */
            own[count] = sum;
            k[count] = -1;
            sum = fused(u, own, k, count + has_sum, c, f, mode);
        } else {
            sum = fused(u, own, k, count, has_sum ? &sum : 0, f, mode);
        }
        has_sum = 1;
        if (c && from == 0 && u->place == AFTER_FIRST) sum = added(u, c, &sum, u->between_format, u->between);
    }
    return sum;
}

static uint64_t dot(const Unit *u, const uint64_t *a, const uint64_t *b, uint64_t c_word) {
    Value products[MOST_K], c = decoded(u->d, c_word), sums[MOST_K];
    for (int i = 0; i < u->k; i++) {
        Value x = decoded(u->a, a[i]), y = decoded(u->b, b[i]);
        if (u->flush_of != 2) x = flushed(x, u->a, u->flush_in);
        if (u->flush_of != 1) y = flushed(y, u->b, u->flush_in);
        products[i] = multiplied(u, narrowed(x, u->operands), narrowed(y, u->operands));
    }
    c = narrowed(flushed(c, u->d, u->flush_c), u->round_c);
    int parts = u->accumulators, each = u->k / parts;
    for (int part = 0; part < parts; part++) {
        int places[MOST_K];
        /* Accumulator p of n has the places p, p + n, p + 2n of the order, or neighbours. */
        for (int i = 0; i < each; i++) places[i] = u->order[u->neighbours ? part * each + i : part + i * parts];
        sums[part] = chain(u, products, places, each, part ? 0 : &c, parts == 1);
    }
    for (int i = 1; i < parts && u->adds; i++) sums[0] = added(u, &sums[0], &sums[i], u->d, u->end);
    while (parts > 1 && !u->adds) {
        int half = (parts + 1) / 2;
        for (int i = 0; i < half; i++)
            sums[i] = 2 * i + 1 < parts ? added(u, &sums[2 * i], &sums[2 * i + 1], u->d, u->end) : sums[2 * i];
        parts = half;
    }
    if (u->place == LAST) sums[0] = added(u, &c, &sums[0], u->d, u->end);
    return sums[0].kind == NOT ? u->nan : encoded(u->d, &sums[0]);
}

/* ---- The interface ---------------------------------------------------------------------------------- */

uint32_t mmascope_abi(void) { return 1; }

const char *mmascope_signature(void) {
    static char text[160];
    char memory[1024];
    Unit u;
    const char *unknown = read_unit(&u, memory, sizeof memory);
    if (unknown) snprintf(text, sizeof text, "UNIT: what is '%.60s'?", unknown);
    else snprintf(text, sizeof text, "a=%s b=%s c=%s d=%s k=%d", u.a->name, u.b->name, u.d->name, u.d->name, u.k);
    return text;
}

int mmascope_run(size_t n, const uint64_t *a, const uint64_t *b, const uint64_t *c, const uint64_t *scale_a,
                 const uint64_t *scale_b, uint64_t *d) {
    char memory[1024];
    Unit u;
    if (scale_a || scale_b || read_unit(&u, memory, sizeof memory)) return 1;
    for (size_t i = 0; i < n; i++) d[i] = dot(&u, a + i * u.k, b + i * u.k, c[i]);
    return 0;
}
