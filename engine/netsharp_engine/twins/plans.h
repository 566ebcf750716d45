/* What plans do between matrix products, in one type of numbers.

   Included once for each type and width of vectors: REAL, WHOLE (as wide), ROOT, BYTES, TARGET and NAME
   are set.  Every
   operation is rounded for itself and in the order of numpy's path, which gives the same bits. */

#define LOOP TARGET static inline __attribute__((always_inline))
#define WIDTH (BYTES / (int64_t)sizeof(REAL))
#define ROWS(count) for (int64_t i = 0; i < (count); i++)
#define LANES NAME(lanes)
#define CHOSEN(where, this, other)                                                                 \
    ((LANES)(((where) & (NAME(marks))(this)) | (~(where) & (NAME(marks))(other))))

typedef REAL LANES __attribute__((vector_size(BYTES)));
typedef WHOLE NAME(marks) __attribute__((vector_size(BYTES)));

/* A vector of numbers, or as many as are left of a row. */
LOOP LANES NAME(taken)(const REAL *from, size_t bytes) {
    LANES found = {0};
    memcpy(&found, from, bytes);
    return found;
}

LOOP void NAME(put)(REAL *to, LANES values, size_t bytes) { memcpy(to, &values, bytes); }

LOOP LANES NAME(root)(LANES values) {
    REAL each[WIDTH];
    memcpy(each, &values, BYTES);
    ROWS(WIDTH) each[i] = ROOT(each[i]);
    memcpy(&values, each, BYTES);
    return values;
}

LOOP void NAME(cleared)(REAL *out, int64_t count) { memset(out, 0, (size_t)count * sizeof(REAL)); }

/* Do a pass for all samples of a row, one vector after the other. */
#define ROW_OF(pass, ...)                                                                          \
    do {                                                                                           \
        int64_t at = 0, rest = one.samples % WIDTH;                                                \
        for (; at < one.samples - rest; at += WIDTH)                                               \
            NAME(pass)(&one, at, BYTES, __VA_ARGS__);                                       \
        if (rest)                                                                                  \
            NAME(pass)(&one, at, (size_t)rest * sizeof(REAL), __VA_ARGS__);                 \
    } while (0)

LOOP REAL NAME(share)(int64_t count) { return (REAL)(1.0 / (double)count); }

/* The largest, NaN where one of them is. */
LOOP void NAME(most)(const struct windows *one, int64_t at, size_t bytes,
                     const REAL *image, REAL *places) {
    LANES found = (REAL)-INFINITY - (LANES){0};
    for (int64_t t = 0; t < one->count; t++) {
        LANES cells = NAME(taken)(image + HERE(*one).first + one->seen[t] + at, bytes);
        NAME(marks) larger = (cells > found) | (cells != cells);
        found = CHOSEN(larger, cells, found);
    }
    NAME(put)(places + HERE(*one).place + at, found, bytes);
}

LOOP void NAME(mean)(const struct windows *one, int64_t at, size_t bytes,
                     const REAL *image, REAL *places) {
    LANES found = {0};
    for (int64_t t = 0; t < one->count; t++)
        found += NAME(taken)(image + HERE(*one).first + one->seen[t] + at, bytes);
    NAME(put)(places + HERE(*one).place + at, found * NAME(share)(one->count), bytes);
}

TARGET static void NAME(pooled)(const struct windows *given, const void *image, void *places,
                                int means) {
    struct windows one = *given;
    for (start(&one, 0); at_place(&one); step(&one, 1)) {
        if (means)
            ROW_OF(mean, image, places);
        else
            ROW_OF(most, image, places);
    }
}

LOOP void NAME(add)(REAL *to, LANES part, size_t bytes) {
    NAME(put)(to, NAME(taken)(to, bytes) + part, bytes);
}

/* The gradient of the largest goes to the first of equal cells. */
LOOP void NAME(most_back)(const struct windows *one, int64_t at, size_t bytes,
                          const REAL *image, const REAL *best, const REAL *by, REAL *down) {
    NAME(marks) rest = (NAME(marks))NAME(taken)(by + HERE(*one).place + at, bytes);
    LANES most = NAME(taken)(best + HERE(*one).place + at, bytes);
    for (int64_t t = 0; t < one->count; t++) {
        NAME(marks) hit = NAME(taken)(image + HERE(*one).first + one->seen[t] + at, bytes) == most;
        NAME(add)(down + HERE(*one).first + one->seen[t] + at, (LANES)(rest & hit), bytes);
        rest &= ~hit;
    }
}

LOOP void NAME(mean_back)(const struct windows *one, int64_t at, size_t bytes,
                          const REAL *by, REAL *down) {
    LANES part = NAME(taken)(by + HERE(*one).place + at, bytes) * NAME(share)(one->count);
    for (int64_t t = 0; t < one->count; t++)
        NAME(add)(down + HERE(*one).first + one->seen[t] + at, part, bytes);
}

/* Windows are walked from the last to the first: so a cell gets its parts in the order of taps. */
TARGET static void NAME(pooled_back)(const struct windows *given, const void *image,
                                     const void *best, const void *by, void *down, int64_t cells,
                                     int means) {
    struct windows one = *given;
    NAME(cleared)(down, cells);
    for (start(&one, 1); at_place(&one); step(&one, -1)) {
        if (means)
            ROW_OF(mean_back, by, down);
        else
            ROW_OF(most_back, image, best, by, down);
    }
}

LOOP REAL NAME(factor)(const struct norm *norm, int64_t count) {
    return norm->whole ? (REAL)(norm->alpha / (double)norm->whole)
                       : NAME(share)(count) * (REAL)norm->alpha;
}

LOOP void NAME(norm)(const struct windows *one, int64_t at, size_t bytes,
                     const struct norm *norm, REAL factor, const REAL *image, REAL *bases,
                     REAL *powers, REAL *places) {
    int64_t row = one->row * one->samples + at;
    LANES base = {0}, centre = NAME(taken)(image + HERE(*one).centre + at, bytes);
    for (int64_t t = 0; t < one->count; t++) {
        LANES cells = NAME(taken)(image + HERE(*one).first + one->seen[t] + at, bytes);
        base += cells * cells;
    }
    base = base * factor + (REAL)norm->offset;
    LANES power = NAME(root)(base);
    if (norm->quarters == 3)
        power = NAME(root)(power) * power;
    power = (REAL)1 / power;
    NAME(put)(bases + row, base, bytes);
    NAME(put)(powers + row, power, bytes);
    NAME(put)(places + HERE(*one).place + at, centre * power, bytes);
}

TARGET static void NAME(normed)(const struct windows *given, const struct norm *norm,
                                const void *image, void *bases, void *powers, void *places) {
    struct windows one = *given;
    for (start(&one, 0); at_place(&one); step(&one, 1)) {
        REAL factor = NAME(factor)(norm, one.count);
        ROW_OF(norm, norm, factor, image, bases, powers, places);
    }
}

LOOP void NAME(norm_back)(const struct windows *one, int64_t at, size_t bytes,
                          REAL factor, const REAL *bases, const REAL *made, const REAL *by,
                          REAL *down) {
    LANES base = NAME(taken)(bases + one->row * one->samples + at, bytes);
    LANES part = NAME(taken)(by + HERE(*one).place + at, bytes);
    part = part * NAME(taken)(made + HERE(*one).place + at, bytes) / base * factor;
    for (int64_t t = 0; t < one->count; t++)
        NAME(add)(down + HERE(*one).first + one->seen[t] + at, part, bytes);
}

/* What the centre of a window gets beside its part of the sum. */
LOOP void NAME(centre_back)(const struct windows *one, int64_t at, size_t bytes,
                            const REAL *powers, const REAL *by, REAL *down) {
    LANES power = NAME(taken)(powers + one->row * one->samples + at, bytes);
    LANES own = NAME(taken)(by + HERE(*one).place + at, bytes) * power;
    NAME(add)(down + HERE(*one).centre + at, own, bytes);
}

/* Every cell's pull on the sums that it is part of, and the centre's own share. */
TARGET static void NAME(normed_back)(const struct windows *given, const struct norm *norm,
                                     const void *image, const void *bases, const void *powers,
                                     const void *made, const void *by, void *down, int64_t cells) {
    struct windows one = *given;
    REAL slope = (REAL)(-norm->quarters * 0.5), *restrict to = down;
    const REAL *restrict values = image;
    NAME(cleared)(down, cells);
    for (start(&one, 1); at_place(&one); step(&one, -1)) {
        REAL factor = NAME(factor)(norm, one.count) * slope;
        ROW_OF(norm_back, factor, bases, made, by, down);
    }
    ROWS(cells) to[i] *= values[i];
    for (start(&one, 0); at_place(&one); step(&one, 1))
        ROW_OF(centre_back, powers, by, down);
}

/* Through a function whose slope follows from what it gave, ``kept``; ``out`` may be ``by``. */
TARGET static void NAME(sloped)(int64_t kind, const void *kept, const void *by, void *to,
                                int64_t count) {
    const REAL *y = kept, *error = by;
    REAL *out = to;
#define EACH(slope)                                                                                \
    ROWS(count) out[i] = error[i] * (slope);                                  \
    break
    switch (kind) {
    case RECTIFIER:
        EACH(y[i] > 0 ? 1 : y[i] == 0 ? 0 : y[i]);
    case SIGMOID:
        EACH(y[i] - y[i] * y[i]);
    case TANH:
        EACH(1 - y[i] * y[i]);
    }
#undef EACH
}

/* Rules of numpy_backend/updates.py; the constants are those of ``Optimizer.constants``. */
TARGET static void NAME(stepped)(const struct rule *rule) {
    REAL *restrict w = rule->weights, *restrict one = rule->state[0], *restrict two = rule->state[1];
    const REAL *restrict g = rule->gradient;
    REAL c[MOST_CONSTANTS];
    for (int64_t i = 0; i < MOST_CONSTANTS; i++)
        c[i] = (REAL)rule->constants[i];
    switch (rule->kind) {
    case PLAIN_STEP:
        ROWS(rule->count) w[i] -= g[i] * c[0];
        break;
    case MOMENTUM_STEP:
        ROWS(rule->count) {
            REAL delta = one[i] * c[1] - g[i] * c[0];
            one[i] = delta;
            w[i] += delta;
        }
        break;
    case NESTEROV_STEP:
        ROWS(rule->count) {
            REAL step = g[i] * c[0], delta = one[i] * c[1] - step;
            one[i] = delta;
            w[i] = w[i] - step + delta * c[1];
        }
        break;
    case ADADELTA_STEP:
        ROWS(rule->count) {
            REAL squares = one[i] * c[0] + g[i] * g[i] * c[1];
            REAL step = ROOT((two[i] + c[2]) / (squares + c[2])) * g[i];
            one[i] = squares;
            w[i] -= step;
            two[i] = two[i] * c[0] + step * step * c[1];
        }
        break;
    default:
        ROWS(rule->count) {
            REAL first = one[i] * c[0] + g[i] * c[1];
            REAL second = two[i] * c[2] + g[i] * g[i] * c[3];
            one[i] = first;
            two[i] = second;
            w[i] -= first / (ROOT(second) * c[6] + c[4]) * c[5];
        }
    }
}

#undef LOOP
#undef WIDTH
#undef LANES
#undef CHOSEN
#undef ROW_OF
#undef ROWS
#undef REAL
#undef ROOT
#undef TARGET
#undef NAME
#undef WHOLE
#undef BYTES
