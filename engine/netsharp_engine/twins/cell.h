/* What a cell of long short-term memory does with each step, in floats beside each other.

   Included once for each width of vectors: BYTES, ROWS (of a block), TARGET and NAME are set.
   Products and gates are in float, each gate to its last bit or two; states are double between
   them, as numpy's path has them. */

typedef float NAME(floats) __attribute__((vector_size(BYTES)));
typedef float NAME(loose) __attribute__((vector_size(BYTES), aligned(4), may_alias));
typedef float NAME(half) __attribute__((vector_size(BYTES / 2)));
typedef float NAME(loose_half) __attribute__((vector_size(BYTES / 2), aligned(4), may_alias));
typedef double NAME(doubles) __attribute__((vector_size(BYTES)));
typedef double NAME(loose_doubles) __attribute__((vector_size(BYTES), aligned(8), may_alias));
typedef int32_t NAME(ints) __attribute__((vector_size(BYTES)));

#define WIDTH ((int64_t)(BYTES / 4))
#define NARROW ((int64_t)(BYTES / 8))
#define INLINE TARGET static inline __attribute__((always_inline))

INLINE NAME(floats) NAME(all)(float value) {
    return value - (NAME(floats)){0};
}

INLINE NAME(floats) NAME(chosen)(NAME(ints) mask, NAME(floats) one, NAME(floats) other) {
    return (NAME(floats))((mask & (NAME(ints))one) | (~mask & (NAME(ints))other));
}

/* exp(y) - 1 for y <= 0, to the last bit or two of it: no number near 0 is lost.  ``power``: the
   power of 2 that was taken out. */
INLINE NAME(floats) NAME(below_one)(NAME(floats) y, NAME(floats) *power) {
    NAME(ints) small = (NAME(ints))(y < NAME(all)(EXP_IS_ZERO));
    y = NAME(chosen)(small, NAME(all)(EXP_IS_ZERO), y);
    NAME(floats) whole = y * LOG2_E + ROUNDING;
    *power = (NAME(floats))(((NAME(ints))whole + 127) << 23);
    whole = whole - ROUNDING;
    NAME(floats) r = y - whole * LN2_HIGH;
    r = r - whole * LN2_LOW;
    NAME(floats) q = r * (1.0f / 5040.0f) + 1.0f / 720.0f;
    q = q * r + 1.0f / 120.0f;
    q = q * r + 1.0f / 24.0f;
    q = q * r + 1.0f / 6.0f;
    q = q * r + 0.5f;
    return q * (r * r) + r;
}

/* A sigmoid, and what it lacks to 1 times itself, by e = exp(-|z|) and 1 / (1 + e). */
INLINE NAME(floats) NAME(sigmoid)(NAME(floats) z, NAME(floats) e, NAME(floats) inverse,
                                  NAME(floats) *slope) {
    NAME(floats) less = e * inverse;
    *slope = less * inverse;
    return NAME(chosen)((NAME(ints))(z < NAME(all)(0.0f)), less, inverse);
}

/* exp(-|z|) where ``twice`` is -1, exp(-2 |z|) less 1 where it is -2; what is divided by. */
INLINE NAME(floats) NAME(faded)(NAME(floats) z, float twice, NAME(floats) *divisor) {
    const NAME(ints) sign = (NAME(ints))NAME(all)(-0.0f);
    NAME(floats) power, q = NAME(below_one)((NAME(floats))((NAME(ints))z & ~sign) * twice, &power);
    NAME(floats) e = power * q + (twice < -1.0f ? power - 1.0f : power);
    *divisor = e + (twice < -1.0f ? 2.0f : 1.0f);
    return e;
}

/* A hyperbolic tangent, and what its square lacks to 1, of e = exp(-2 |z|) - 1 and 1 / (2 + e). */
INLINE NAME(floats) NAME(bounded)(NAME(floats) z, NAME(floats) e, NAME(floats) inverse,
                                  NAME(floats) *slope) {
    const NAME(ints) sign = (NAME(ints))NAME(all)(-0.0f);
    *slope = 4.0f * (1.0f + e) * (inverse * inverse);
    return (NAME(floats))((NAME(ints))(-e * inverse) | ((NAME(ints))z & sign));
}

INLINE void NAME(write)(float *to, NAME(floats) values, int64_t count) {
    if (count >= WIDTH)
        *(NAME(loose) *)to = values;
    else
        memcpy(to, &values, (size_t)count * sizeof(float));
}

/* A block of rows [rows, depth] by a panel [depth, 4 or 2 vectors]: [rows, vectors]. */
#define DECLARE4(r) NAME(floats) a##r = {0}, b##r = {0}, c##r = {0}, d##r = {0};
#define TAKE4(r)                                                                                   \
    {                                                                                              \
        float x = rows[r * stride + i];                                                            \
        a##r += x * p;                                                                             \
        b##r += x * q;                                                                             \
        c##r += x * s;                                                                             \
        d##r += x * t;                                                                             \
    }
#define GIVE4(r)                                                                                   \
    *(NAME(loose) *)(out + (r * 4 + 0) * WIDTH) = a##r;                                            \
    *(NAME(loose) *)(out + (r * 4 + 1) * WIDTH) = b##r;                                            \
    *(NAME(loose) *)(out + (r * 4 + 2) * WIDTH) = c##r;                                            \
    *(NAME(loose) *)(out + (r * 4 + 3) * WIDTH) = d##r;
#define BLOCK4(count, EACH)                                                                        \
    TARGET static void NAME(block4_##count)(const float *rows, int64_t stride, int64_t depth,      \
                                            const float *panel, float *out) {                     \
        EACH(DECLARE4)                                                                             \
        for (int64_t i = 0; i < depth; i++, panel += 4 * WIDTH) {                                  \
            NAME(floats) p = *(const NAME(loose) *)panel;                                          \
            NAME(floats) q = *(const NAME(loose) *)(panel + WIDTH);                                \
            NAME(floats) s = *(const NAME(loose) *)(panel + 2 * WIDTH);                            \
            NAME(floats) t = *(const NAME(loose) *)(panel + 3 * WIDTH);                            \
            EACH(TAKE4)                                                                            \
        }                                                                                          \
        EACH(GIVE4)                                                                                \
    }
#define DECLARE2(r) NAME(floats) a##r = {0}, b##r = {0};
#define TAKE2(r)                                                                                   \
    {                                                                                              \
        float x = rows[r * stride + i];                                                            \
        a##r += x * p;                                                                             \
        b##r += x * q;                                                                             \
    }
#define GIVE2(r)                                                                                   \
    *(NAME(loose) *)(out + (r * 2 + 0) * WIDTH) = a##r;                                            \
    *(NAME(loose) *)(out + (r * 2 + 1) * WIDTH) = b##r;
#define BLOCK2(count, EACH)                                                                        \
    TARGET static void NAME(block2_##count)(const float *rows, int64_t stride, int64_t depth,      \
                                            const float *panel, float *out) {                     \
        EACH(DECLARE2)                                                                             \
        for (int64_t i = 0; i < depth; i++, panel += 2 * WIDTH) {                                  \
            NAME(floats) p = *(const NAME(loose) *)panel;                                          \
            NAME(floats) q = *(const NAME(loose) *)(panel + WIDTH);                                \
            EACH(TAKE2)                                                                            \
        }                                                                                          \
        EACH(GIVE2)                                                                                \
    }
#define EACH1(DO) DO(0)
#define EACH2(DO) EACH1(DO) DO(1)
#define EACH3(DO) EACH2(DO) DO(2)
#define EACH4(DO) EACH3(DO) DO(3)
#define EACH5(DO) EACH4(DO) DO(4)
#define EACH6(DO) EACH5(DO) DO(5)
BLOCK4(1, EACH1)
BLOCK4(2, EACH2)
BLOCK4(3, EACH3)
BLOCK2(1, EACH1)
BLOCK2(2, EACH2)
BLOCK2(3, EACH3)
#if ROWS > 3
BLOCK4(4, EACH4)
BLOCK4(5, EACH5)
BLOCK4(6, EACH6)
BLOCK2(4, EACH4)
BLOCK2(5, EACH5)
BLOCK2(6, EACH6)
#endif

typedef void (*NAME(block))(const float *, int64_t, int64_t, const float *, float *);
static const NAME(block) NAME(blocks4)[] = {
    0, NAME(block4_1), NAME(block4_2), NAME(block4_3),
#if ROWS > 3
    NAME(block4_4), NAME(block4_5), NAME(block4_6),
#endif
};
static const NAME(block) NAME(blocks2)[] = {
    0, NAME(block2_1), NAME(block2_2), NAME(block2_3),
#if ROWS > 3
    NAME(block2_4), NAME(block2_5), NAME(block2_6),
#endif
};

/* Panels [cells / WIDTH, cells, 4 gates, WIDTH] of weights [cells, 4 gates, cells]. */
TARGET static void NAME(gates_packed)(const float *weights, int64_t size, float *panels) {
    for (int64_t first = 0; first < size; first += WIDTH) {
        int64_t count = size - first < WIDTH ? size - first : WIDTH;
        for (int64_t k = 0; k < size; k++)
            for (int64_t gate = 0; gate < 4; gate++, panels += WIDTH) {
                const float *from = weights + (k * 4 + gate) * size + first;
                memcpy(panels, from, (size_t)count * sizeof(float));
                memset(panels + count, 0, (size_t)(WIDTH - count) * sizeof(float));
            }
    }
}

/* What the gates of a block of rows leave for its states and outputs. */
struct NAME(block_cells) {
    NAME(floats) keep[ROWS], fresh[ROWS], before[ROWS], after[ROWS], show[ROWS], slope[ROWS][2];
};

/* The gates of a row and a panel of cells from their sums. */
INLINE void NAME(gates)(const struct forward *one, const float *told, int64_t count,
                        const NAME(loose) *sums, NAME(loose) *slopes, int64_t at,
                        struct NAME(block_cells) *cells) {
    NAME(floats) z[4] = {sums[0], sums[1], sums[2], sums[3]}, e[4], part[4], slope[4];
    if (count >= WIDTH) {
        z[0] += *(const NAME(loose) *)told;
        z[1] += *(const NAME(loose) *)(told + one->size);
        z[2] += *(const NAME(loose) *)(told + 2 * one->size);
        z[3] += *(const NAME(loose) *)(told + 3 * one->size);
    } else
        for (int64_t gate = 0; gate < 4; gate++)
            for (int64_t i = 0; i < count; i++)
                z[gate][i] += told[gate * one->size + i];
    e[0] = NAME(faded)(z[0], -1.0f, &part[0]);
    e[1] = NAME(faded)(z[1], -2.0f, &part[1]);
    e[2] = NAME(faded)(z[2], -1.0f, &part[2]);
    e[3] = NAME(faded)(z[3], -1.0f, &part[3]);
    /* Each divisor is from 1 to 2, and two of them take one division. */
    NAME(floats) pair = 1.0f / (part[0] * part[1]), other = 1.0f / (part[2] * part[3]);
    NAME(floats) let_in = NAME(sigmoid)(z[0], e[0], pair * part[1], &slope[0]);
    NAME(floats) new = NAME(bounded)(z[1], e[1], pair * part[0], &slope[1]);
    cells->keep[at] = NAME(sigmoid)(z[2], e[2], other * part[3], &cells->slope[at][0]);
    cells->show[at] = NAME(sigmoid)(z[3], e[3], other * part[2], &cells->slope[at][1]);
    cells->fresh[at] = let_in * new;
    if (slopes) {
        slopes[0] = slope[0] * new;
        slopes[1] = slope[1] * let_in;
        slopes[4] = cells->keep[at];
    }
}

/* The states of a row: halves of vectors, which are joined by memory. */
INLINE void NAME(states)(double *running, int64_t count, int64_t at,
                         struct NAME(block_cells) *cells) {
    for (int64_t half = 0; half < 2; half++, count -= NARROW) {
        /* The room for states ends behind the last one by two vectors. */
        NAME(loose_doubles) *state = (NAME(loose_doubles) *)running + half;
        NAME(doubles) before = *state;
        NAME(doubles) keep = __builtin_convertvector(((NAME(loose_half) *)&cells->keep[at])[half],
                                                     NAME(doubles));
        NAME(doubles) after = __builtin_convertvector(((NAME(loose_half) *)&cells->fresh[at])[half],
                                                      NAME(doubles)) + keep * before;
        if (count >= NARROW)
            *state = after;
        else if (count > 0)
            memcpy(state, &after, (size_t)count * sizeof(double));
        ((NAME(loose_half) *)&cells->before[at])[half] = __builtin_convertvector(before, NAME(half));
        ((NAME(loose_half) *)&cells->after[at])[half] = __builtin_convertvector(after, NAME(half));
    }
}

/* The cells of a block of rows and a panel from their sums; a sweep over the rows for each stage
   lets them be worked out beside each other. */
INLINE void NAME(cells)(const struct forward *one, int64_t step, int64_t next, int64_t row,
                        int64_t rows, int64_t first, const NAME(loose) *sums) {
    int64_t size = one->size, at = step * one->rows + row;
    int64_t count = size - first < WIDTH ? size - first : WIDTH;
    int64_t panel = step * ((size + WIDTH - 1) / WIDTH) + first / WIDTH;
    NAME(loose) *slopes = 0;
    struct NAME(block_cells) cells;
    if (one->slopes)
        slopes = (NAME(loose) *)one->slopes + (panel * one->rows + row) * 6;
    for (int64_t i = 0; i < rows; i++)
        NAME(gates)(one, one->told + (at + i) * 4 * size + first, count, sums + i * 4,
                    slopes ? slopes + i * 6 : 0, i, &cells);
    for (int64_t i = 0; i < rows; i++)
        NAME(states)(one->running + (row + i) * size + first, count, i, &cells);
    for (int64_t i = 0; i < rows; i++) {
        NAME(floats) now = cells.after[i], divisor, bend;
        NAME(floats) faded = NAME(faded)(now, -2.0f, &divisor);
        NAME(floats) end = NAME(bounded)(now, faded, 1.0f / divisor, &bend);
        NAME(floats) output = cells.show[i] * end;
        NAME(write)(one->outputs + (at + i) * size + first, output, count);
        if (one->states)
            NAME(write)(one->states + (at + i) * size + first, now, count);
        if (next >= 0)
            NAME(write)(one->before + (next * one->rows + row + i) * size + first, output, count);
        if (slopes) {
            slopes[i * 6 + 2] = cells.slope[i][0] * cells.before[i];
            slopes[i * 6 + 3] = cells.slope[i][1] * end;
            slopes[i * 6 + 5] = cells.show[i] * bend;
        }
    }
}

/* Fetch what the cells of a block read and write while their products are worked out: a line of
   memory here and there, which the processor does not foresee. */
INLINE void NAME(fetch)(const struct forward *one, int64_t at, int64_t count, int64_t first) {
    int64_t size = one->size;
    for (int64_t row = at; row < at + count; row++) {
        for (int64_t gate = 0; gate < 4; gate++)
            __builtin_prefetch(one->told + (row * 4 + gate) * size + first);
        __builtin_prefetch(one->outputs + row * size + first, 1);
        if (one->states)
            __builtin_prefetch(one->states + row * size + first, 1);
    }
}

TARGET static void NAME(forward)(const struct forward *one) {
    int64_t size = one->size, rows = one->rows;
    int64_t blocks = (rows + ROWS - 1) / ROWS;
    float sums[ROWS * 4 * BYTES / 4] __attribute__((aligned(64)));
    NAME(gates_packed)(one->weights, size, one->panels);
    for (int64_t turn = 0; turn < one->steps; turn++) {
        int64_t step = one->backwards ? one->steps - 1 - turn : turn;
        int64_t next = turn + 1 == one->steps ? -1 : one->backwards ? step - 1 : step + 1;
        float *before = one->before + step * rows * size;
        for (int64_t i = one->starts[turn]; i < one->starts[turn + 1]; i++) {
            int64_t row = one->borders[i];
            memcpy(before + row * size, one->first_output, (size_t)size * sizeof(float));
            memcpy(one->running + row * size, one->first_state, (size_t)size * sizeof(double));
        }
        int64_t begin, end;
        gaps_of(one->gaps, step, rows, &begin, &end);
        for (int64_t i = begin; i < end; i++) {
            int64_t row = one->gaps.columns[i] - step * rows;
            memset(before + row * size, 0, (size_t)size * sizeof(float));
            memset(one->running + row * size, 0, (size_t)size * sizeof(double));
        }
        const float *panel = one->panels;
        for (int64_t cell = 0; cell < size; cell += WIDTH, panel += size * 4 * WIDTH)
            for (int64_t block = 0, row = 0; block < blocks; block++) {
                int64_t count = rows / blocks + (block < rows % blocks);
                NAME(fetch)(one, step * rows + row, count, cell);
                NAME(blocks4)[count](before + row * size, size, size, panel, sums);
                NAME(cells)(one, step, next, row, count, cell, (const NAME(loose) *)sums);
                row += count;
            }
        for (int64_t i = begin; i < end; i++) {
            memset(one->outputs + one->gaps.columns[i] * size, 0, (size_t)size * sizeof(float));
            if (one->states)
                memset(one->states + one->gaps.columns[i] * size, 0, (size_t)size * sizeof(float));
        }
    }
}

/* Panels [cells, 4 or 2 vectors] of the same weights the other way: what the gates give back. */
TARGET static void NAME(back_packed)(const float *weights, int64_t size, float *panels) {
    for (int64_t first = 0; first < size;) {
        int64_t width = size - first > 2 * WIDTH ? 4 * WIDTH : 2 * WIDTH;
        int64_t count = size - first < width ? size - first : width;
        for (int64_t column = 0; column < 4 * size; column += 16) {
            int64_t columns = 4 * size - column < 16 ? 4 * size - column : 16;
            for (int64_t j = 0; j < count; j++)
                for (int64_t i = 0; i < columns; i++)
                    panels[(column + i) * width + j] = weights[(first + j) * 4 * size + column + i];
        }
        for (int64_t column = 0; column < 4 * size && count < width; column++)
            memset(panels + column * width + count, 0, (size_t)(width - count) * sizeof(float));
        panels += 4 * size * width;
        first += width;
    }
}

/* The gradient of the sums of a panel of cells; what comes back to their outputs is in ``back``. */
INLINE void NAME(panel_back)(const struct backward *one, int64_t step, int64_t first) {
    int64_t size = one->size, at = step * one->rows;
    int64_t count = size - first < WIDTH ? size - first : WIDTH;
    int64_t panel = step * ((size + WIDTH - 1) / WIDTH) + first / WIDTH;
    const float *slopes = one->slopes + panel * one->rows * 6 * WIDTH;
    for (int64_t row = 0; row < one->rows; row++, slopes += 6 * WIDTH) {
        int64_t place = (at + row) * size + first;
        const float *told = one->told_outputs ? one->told_outputs + place : 0;
        const float *given = one->told_states ? one->told_states + place : 0;
        float *back = one->back + row * size + first, *state = one->running + row * size + first;
        float *by = one->by + (at + row) * 4 * size + first;
        if (count < WIDTH) {
            for (int64_t i = 0; i < count; i++) {
                float output = back[i] + (told ? told[i] : 0);
                float kept = state[i] + (given ? given[i] : 0);
                kept += output * slopes[5 * WIDTH + i];
                for (int gate = 0; gate < 3; gate++)
                    by[gate * size + i] = kept * slopes[gate * WIDTH + i];
                by[3 * size + i] = output * slopes[3 * WIDTH + i];
                state[i] = kept * slopes[4 * WIDTH + i];
            }
            continue;
        }
#define AT(pointer) (*(NAME(loose) *)(pointer))
#define SLOPE(number) (*(const NAME(loose) *)(slopes + number * WIDTH))
        for (int gate = 0; gate < 4; gate++)
            __builtin_prefetch(by + (8 * 4 + gate) * size, 1);
        NAME(floats) output = AT(back), kept = AT(state);
        if (told)
            output += AT(told);
        if (given)
            kept += AT(given);
        kept += output * SLOPE(5);
        AT(by) = kept * SLOPE(0);
        AT(by + size) = kept * SLOPE(1);
        AT(by + 2 * size) = kept * SLOPE(2);
        AT(by + 3 * size) = output * SLOPE(3);
        AT(state) = kept * SLOPE(4);
#undef AT
#undef SLOPE
    }
}

TARGET static void NAME(backward)(const struct backward *one) {
    int64_t size = one->size, rows = one->rows;
    int64_t blocks = (rows + ROWS - 1) / ROWS;
    float sums[ROWS * 4 * BYTES / 4] __attribute__((aligned(64)));
    NAME(back_packed)(one->weights, size, one->panels);
    for (int64_t turn = one->steps - 1; turn >= 0; turn--) {
        int64_t step = one->backwards ? one->steps - 1 - turn : turn;
        const float *by = one->by + step * rows * 4 * size, *panel = one->panels;
        for (int64_t first = 0; first < size; first += WIDTH)
            NAME(panel_back)(one, step, first);
        int64_t begin, end;
        gaps_of(one->gaps, step, rows, &begin, &end);
        for (int64_t i = begin; i < end; i++)
            memset(one->by + one->gaps.columns[i] * 4 * size, 0, (size_t)size * 4 * sizeof(float));
        for (int64_t row = 0; row < rows; row++)
            for (int64_t i = 0; i < 4 * size; i++)
                one->by_bias[i] += by[row * 4 * size + i];
        for (int64_t first = 0; first < size;) {
            int64_t width = size - first > 2 * WIDTH ? 4 * WIDTH : 2 * WIDTH;
            int64_t columns = size - first < width ? size - first : width;
            const NAME(block) *of = width == 4 * WIDTH ? NAME(blocks4) : NAME(blocks2);
            for (int64_t block = 0, row = 0; block < blocks; block++) {
                int64_t count = rows / blocks + (block < rows % blocks);
                of[count](by + row * 4 * size, 4 * size, 4 * size, panel, sums);
                for (int64_t i = 0; i < count; i++, row++)
                    memcpy(one->back + row * size + first, sums + i * width,
                           (size_t)columns * sizeof(float));
            }
            panel += 4 * size * width;
            first += width;
        }
        for (int64_t i = one->starts[turn]; i < one->starts[turn + 1]; i++) {
            float *back = one->back + one->borders[i] * size;
            float *state = one->running + one->borders[i] * size;
            for (int64_t j = 0; j < size; j++) {
                one->first_output[j] += back[j];
                one->first_state[j] += state[j];
                back[j] = state[j] = 0;
            }
        }
    }
}

#undef DECLARE4
#undef TAKE4
#undef GIVE4
#undef BLOCK4
#undef DECLARE2
#undef TAKE2
#undef GIVE2
#undef BLOCK2
#undef EACH1
#undef EACH2
#undef EACH3
#undef EACH4
#undef EACH5
#undef EACH6
#undef INLINE
#undef WIDTH
#undef NARROW
#undef BYTES
#undef ROWS
#undef TARGET
#undef NAME
