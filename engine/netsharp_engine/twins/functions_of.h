/* Activations of many numbers, in one type of numbers.

   Included once for each type and width of vectors: REAL, WHOLE (as wide), BYTES, TARGET, NAME and the
   constants of the type are set.  What is at the end of a row gets the bits that it would get
   elsewhere. */

#define LOOP TARGET static inline __attribute__((always_inline))
#define WIDTH ((int64_t)(BYTES / sizeof(REAL)))
#define LANES NAME(lanes)
#define MARKS NAME(marks)
#define CHOSEN(where, this, other) ((LANES)(((where) & (MARKS)(this)) | (~(where) & (MARKS)(other))))
#define ALL(number) ((REAL)(number) - (LANES){0})

typedef REAL LANES __attribute__((vector_size(BYTES)));
typedef WHOLE MARKS __attribute__((vector_size(BYTES)));

/* 2 to the power of whole numbers that need not be exponents of any number: in two steps, so that
   what is too small for a normal number is rounded once. */
LOOP LANES NAME(scaled)(LANES values, MARKS powers) {
    MARKS half = powers >> 1, rest = powers - half;
    return values * (LANES)((half + EXPONENT) << MANTISSA) * (LANES)((rest + EXPONENT) << MANTISSA);
}

/* e^x - 1 of what is left of x where the power of 2 that is nearest to e^x is taken out of it. */
LOOP LANES NAME(reduced)(LANES x, MARKS *powers) {
    LANES shifted = x * (REAL)1.4426950408889634 + (REAL)SHIFT, whole = shifted - (REAL)SHIFT;
    *powers = (MARKS)shifted - (MARKS)ALL(SHIFT);
    LANES rest = x - whole * (REAL)LN2_HIGH - whole * (REAL)LN2_LOW, sum = ALL(factorials[TERMS - 1]);
    for (int i = TERMS - 2; i >= 0; i--)
        sum = sum * rest + (REAL)factorials[i];
    return sum * (rest * rest) + rest;
}

LOOP LANES NAME(exponential)(LANES x) {
    MARKS powers;
    x = CHOSEN(x > (REAL)MOST_EXPONENT, ALL(MOST_EXPONENT), x);
    x = CHOSEN(x < (REAL)LEAST_EXPONENT, ALL(LEAST_EXPONENT), x);
    LANES rest = NAME(reduced)(x, &powers);
    return NAME(scaled)(rest + (REAL)1, powers);
}

LOOP LANES NAME(sigmoid)(LANES x) { return (REAL)1 / (NAME(exponential)(-x) + (REAL)1); }

/* From e^2x - 1, which keeps what is near to 0. */
LOOP LANES NAME(tangent)(LANES x) {
    MARKS powers, sign = (MARKS)x & (MARKS)ALL(-0.0);
    LANES size = (LANES)((MARKS)x ^ sign);
    size = CHOSEN(size > (REAL)MOST_TANGENT, ALL(MOST_TANGENT), size);
    LANES rest = NAME(reduced)(size + size, &powers);
    LANES scale = (LANES)((powers + EXPONENT) << MANTISSA);
    LANES less = rest * scale + (scale - (REAL)1);
    return (LANES)((MARKS)(less / (less + (REAL)2)) | sign);
}

/* The larger of a number and 0; NaN stays. */
LOOP LANES NAME(positive)(LANES x) { return CHOSEN((x > 0) | (x != x), x, (LANES){0}); }

LOOP LANES NAME(root)(LANES x) {
    REAL each[BYTES / sizeof(REAL)];
    memcpy(each, &x, BYTES);
    for (int64_t i = 0; i < WIDTH; i++)
        each[i] = ROOT(each[i]);
    memcpy(&x, each, BYTES);
    return x;
}

LOOP LANES NAME(size)(LANES x) { return (LANES)((MARKS)x & ~(MARKS)ALL(-0.0)); }

/* ln(1 + e^x), from e^-|x|. */
LOOP LANES NAME(soft)(LANES x) {
    LANES small = NAME(exponential)(-NAME(size)(x));
    REAL each[BYTES / sizeof(REAL)];
    memcpy(each, &small, BYTES);
    for (int64_t i = 0; i < WIDTH; i++)
        each[i] = LOG1P(each[i]);
    memcpy(&small, each, BYTES);
    return small + NAME(positive)(x);
}

LOOP LANES NAME(bounded)(LANES x) {
    x = NAME(positive)(x);
    return CHOSEN(x > 1, ALL(1), x);
}

LOOP LANES NAME(square)(LANES x) { return x * x; }
LOOP LANES NAME(positive_root)(LANES x) { return NAME(root)(NAME(positive)(x)); }

LOOP LANES NAME(taken)(const REAL *from, int64_t count) {
    LANES found = {0};
    memcpy(&found, from, count < WIDTH ? (size_t)count * sizeof(REAL) : BYTES);
    return found;
}

LOOP void NAME(put)(REAL *to, LANES values, int64_t count) {
    memcpy(to, &values, count < WIDTH ? (size_t)count * sizeof(REAL) : BYTES);
}

#define EACH(function)                                                                             \
    do {                                                                                           \
        int64_t at = 0;                                                                            \
        for (; at + WIDTH <= count; at += WIDTH)                                                   \
            NAME(put)(out + at, NAME(function)(NAME(taken)(x + at, WIDTH)), WIDTH);                \
        if (at < count)                                                                            \
            NAME(put)(out + at, NAME(function)(NAME(taken)(x + at, count - at)), count - at);      \
    } while (0)

/* The largest is NaN where one number is. */
TARGET static void NAME(softmax)(const REAL *x, REAL *out, int64_t count) {
    REAL most = x[0], sum = 0;
    for (int64_t i = 1; i < count; i++)
        most = x[i] > most || x[i] != x[i] ? x[i] : most;
    for (int64_t at = 0; at < count; at += WIDTH) {
        LANES seen = NAME(taken)(x + at, count - at);
        NAME(put)(out + at, NAME(exponential)(seen - most), count - at);
    }
    for (int64_t i = 0; i < count; i++)
        sum += out[i];
    for (int64_t i = 0; i < count; i++)
        out[i] /= sum;
}

TARGET static void NAME(applied)(int64_t kind, const void *from, void *to, int64_t count) {
    const REAL *x = from;
    REAL *out = to;
    switch (kind) {
    case F_SIGMOID: EACH(sigmoid); break;
    case F_LINEAR: memmove(out, x, (size_t)count * sizeof(REAL)); break;
    case F_SOFTMAX: NAME(softmax)(x, out, count); break;
    case F_RLINEAR: EACH(positive); break;
    case F_SQUARE: EACH(square); break;
    case F_SQRT: EACH(positive_root); break;
    case F_SRLINEAR: EACH(soft); break;
    case F_ABS: EACH(size); break;
    case F_TANH: EACH(tangent); break;
    default: EACH(bounded);
    }
}

#undef EACH
#undef ALL
#undef CHOSEN
#undef MARKS
#undef LANES
#undef WIDTH
#undef LOOP
#undef TARGET
#undef NAME
#undef BYTES
