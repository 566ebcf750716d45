/* What update rules make of the numbers of one parameter, in one type of numbers.

   Included once for each type and width of vectors: REAL, ROOT, TARGET and NAME are set.  Every
   operation is rounded for itself and in the order of numpy's path, which gives the same bits. */

#define LOOP TARGET static inline __attribute__((always_inline))

/* Whether one of the values is no finite number. */
TARGET static int NAME(wrong)(const REAL *values, int64_t count) {
    int wrong = 0;
    for (int64_t i = 0; i < count; i++)
        wrong |= values[i] - values[i] != 0;
    return wrong;
}

/* A gradient cut to a bound, with a share of the numbers themselves. */
LOOP REAL NAME(shaped)(const struct job *one, REAL gradient, REAL value, int regular) {
    REAL bound = (REAL)one->bound;
    gradient = gradient > bound ? bound : gradient;
    gradient = gradient < -bound ? -bound : gradient;
    return regular ? gradient + (REAL)one->l2 * value : gradient;
}

#define SHAPED NAME(shaped)(one, gradient[i], values[i], regular)

LOOP void NAME(plain)(const struct job *one, const REAL *restrict gradient, const REAL *restrict values, REAL *restrict out,
                      int64_t count, int regular) {
    REAL rate = (REAL)one->rate;
    for (int64_t i = 0; i < count; i++)
        out[i] = values[i] - rate * SHAPED;
}

LOOP void NAME(smoothed)(const struct job *one, const REAL *restrict gradient, const REAL *restrict values,
                         const REAL *restrict before, REAL *restrict out, REAL *restrict after, int64_t count, int regular,
                         int nesterov) {
    REAL kept = (REAL)one->momentum, share = ((REAL)1 - kept) * (REAL)one->rate;
    for (int64_t i = 0; i < count; i++) {
        REAL step = share * SHAPED, smoothed = step + kept * before[i];
        after[i] = smoothed;
        out[i] = nesterov ? values[i] - kept * smoothed - step : values[i] - smoothed;
    }
}

/* The same of rows that few samples hit: what is remembered has no rate in it. */
LOOP void NAME(smoothed_rows)(const struct job *one, const REAL *restrict gradient, const REAL *restrict values,
                              const REAL *restrict before, REAL *restrict out, REAL *restrict after, int64_t count,
                              int nesterov) {
    REAL kept = (REAL)one->momentum, share = (REAL)1 - kept, rate = (REAL)one->rate;
    for (int64_t i = 0; i < count; i++) {
        REAL step = share * NAME(shaped)(one, gradient[i], 0, 0), smoothed = step + kept * before[i];
        after[i] = smoothed;
        out[i] = values[i] - rate * (nesterov ? kept * smoothed + step : smoothed);
    }
}

LOOP void NAME(adagrad)(const struct job *one, const REAL *restrict gradient, const REAL *restrict values,
                        const REAL *restrict before, REAL *restrict out, REAL *restrict after, int64_t count, int regular) {
    REAL rate = (REAL)-one->rate, least = (REAL)LEAST_SQUARE;
    for (int64_t i = 0; i < count; i++) {
        REAL slope = SHAPED, square = before[i] + slope * slope;
        after[i] = square;
        out[i] = values[i] + rate * (slope / ROOT(square + least));
    }
}

LOOP void NAME(fsadagrad)(const struct job *one, const REAL *restrict gradient, const REAL *restrict values,
                          const REAL *restrict before, const REAL *restrict smoothed, REAL *restrict out, REAL *restrict after,
                          REAL *restrict behind, int64_t count, int regular) {
    REAL rate = (REAL)one->rate, kept = (REAL)one->momentum, fading = (REAL)one->rest[0];
    REAL target = (REAL)one->rest[1], most = (REAL)LARGEST_GAIN;
    for (int64_t i = 0; i < count; i++) {
        REAL slope = SHAPED, square = fading * before[i] + ((REAL)1 - fading) * slope * slope;
        REAL gain = target * ((REAL)1 / ROOT(square));
        gain = gain > most ? most : gain;
        slope = square != 0 ? slope * gain : slope;
        slope = kept > 0 ? kept * smoothed[i] + ((REAL)1 - kept) * slope : slope;
        after[i] = square;
        behind[i] = kept > 0 ? slope : smoothed[i];
        out[i] = values[i] - slope * rate;
    }
}

LOOP void NAME(rmsprop)(const struct job *one, const REAL *restrict gradient, const REAL *restrict values,
                        const REAL *const *before, REAL *restrict out, REAL *const *after, int64_t count,
                        int regular) {
    REAL rate = (REAL)-one->rate, fading = (REAL)one->rest[0], least = (REAL)LEAST_MEAN_SQUARE;
    REAL grown = (REAL)one->rest[1], most = (REAL)one->rest[2];
    REAL shrunk = (REAL)one->rest[3], fewest = (REAL)one->rest[4];
    const REAL *restrict squares = before[0], *restrict signs = before[1], *restrict steps = before[2];
    REAL *restrict next_squares = after[0], *restrict next_signs = after[1];
    REAL *restrict next_steps = after[2];
    int fresh = one->rest[5] != 0;
    for (int64_t i = 0; i < count; i++) {
        REAL slope = SHAPED, own = slope * slope;
        REAL square = fading * (fresh ? own : squares[i]) + ((REAL)1 - fading) * own;
        REAL step = fresh ? (REAL)FIRST_STEP : steps[i];
        REAL sign = slope > 0 ? 1 : slope < 0 ? -1 : slope;
        REAL more = step * grown, less = step * shrunk;
        more = more > most ? most : more;
        less = less < fewest ? fewest : less;
        step = signs[i] * sign > 0 ? more : less;
        next_squares[i] = square;
        next_signs[i] = sign;
        next_steps[i] = step;
        out[i] = values[i] + rate * (slope * (step / ROOT(square + least)));
    }
}

/* Numbers nearer to 0 than a bound become 0, and others come nearer by it. */
TARGET static void NAME(shrunk)(REAL *values, REAL bound, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        REAL size = values[i] < 0 ? -values[i] : values[i];
        values[i] = size <= bound ? 0 : values[i] - (values[i] < 0 ? -bound : bound);
    }
}

/* All numbers of a parameter; not 0 where one of them is not finite then. */
TARGET static int NAME(whole)(const struct job *one) {
    const REAL *gradient = one->gradient, *values = one->values;
    const REAL *before[3] = {one->before[0], one->before[1], one->before[2]};
    REAL *out = one->next, *after[3] = {one->after[0], one->after[1], one->after[2]};
    int64_t count = one->count;
#define BOTH(pass, ...)                                                                            \
    if (one->l2 > 0)                                                                               \
        NAME(pass)(one, gradient, values, __VA_ARGS__, 1);                                         \
    else                                                                                           \
        NAME(pass)(one, gradient, values, __VA_ARGS__, 0);                                         \
    break
    switch (one->kind) {
    case PLAIN:
        BOTH(plain, out, count);
    case SMOOTHED:
        if (one->nesterov)
            NAME(smoothed)(one, gradient, values, before[0], out, after[0], count, one->l2 > 0, 1);
        else if (one->l2 > 0)
            NAME(smoothed)(one, gradient, values, before[0], out, after[0], count, 1, 0);
        else
            NAME(smoothed)(one, gradient, values, before[0], out, after[0], count, 0, 0);
        break;
    case ADAGRAD:
        BOTH(adagrad, before[0], out, after[0], count);
    case FSADAGRAD:
        BOTH(fsadagrad, before[0], before[1], out, after[0], after[1], count);
    default:
        BOTH(rmsprop, before, out, after, count);
    }
#undef BOTH
    if (one->l1 > 0)
        NAME(shrunk)(out, (REAL)one->l1, count);
    return NAME(wrong)(out, count);
}

/* Rows of a parameter at their places, put into ``next`` side by side. */
TARGET static int NAME(rows)(const struct job *one) {
    const REAL *gradient = one->gradient, *values = one->values, *before = one->before[0];
    REAL *out = one->next, *after = one->after[0];
    int64_t width = one->width;
    for (int64_t row = 0; row < one->rows; row++) {
        const REAL *slopes = gradient + row * width, *old = values + one->places[row] * width;
        const REAL *kept = before ? before + one->places[row] * width : 0;
        REAL *to = out + row * width, *keep = after ? after + row * width : 0;
        if (one->kind == PLAIN)
            NAME(plain)(one, slopes, old, to, width, 0);
        else if (one->kind == SMOOTHED)
            NAME(smoothed_rows)(one, slopes, old, kept, to, keep, width, one->nesterov);
        else
            NAME(adagrad)(one, slopes, old, kept, to, keep, width, 0);
    }
    return NAME(wrong)(out, one->rows * width);
}

#undef LOOP
#undef SHAPED
#undef REAL
#undef ROOT
#undef TARGET
#undef NAME
