/* What a cell of long short-term memory does with each step, in floats beside each other.

   Included once for each width of vectors: BYTES, BESIDE (vectors of a panel: as many as registers
   hold the sums of), TARGET and NAME are set.  Products and gates are in float, each gate to its last bit or two; states are double between
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
#define DEEP (BESIDE == 4 ? 128 : 256)
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

/* What is added to: what stands there, or nothing. */
INLINE NAME(floats) NAME(started)(const float *out, int adds) {
    return adds ? (NAME(floats))*(const NAME(loose) *)out : NAME(all)(0.0f);
}

/* A block of rows [rows, depth] by a panel [depth, 4 or 2 vectors], put into rows of ``out`` that
   are ``to`` floats apart, or added to what stands there. */
#define BLOCK(name, EACH, DECLARE, LOAD, TAKE, GIVE)                                               \
    TARGET static void NAME(name)(const float *rows, int64_t stride, int64_t depth,                \
                                  const float *panel, float *out, int64_t to, int adds) {          \
        EACH(DECLARE)                                                                              \
        for (int64_t i = 0; i < depth; i++) {                                                      \
            LOAD                                                                                   \
            EACH(TAKE)                                                                             \
        }                                                                                          \
        EACH(GIVE)                                                                                 \
    }
#define AT(pointer) (*(NAME(loose) *)(pointer))
#define LOADED(number) (*(const NAME(loose) *)(panel + (number) * WIDTH))
#define STARTED(r, number) NAME(started)(out + r * to + (number) * WIDTH, adds)
#define DECLARE4(r)                                                                                \
    DECLARE2(r) NAME(floats) c##r = STARTED(r, 2), d##r = STARTED(r, 3);
#define LOAD4 NAME(floats) p = LOADED(0), q = LOADED(1), s = LOADED(2), t = LOADED(3); panel += 4 * WIDTH;
#define TAKE4(r)                                                                                   \
    {                                                                                              \
        float x = rows[r * stride + i];                                                            \
        a##r += x * p;                                                                             \
        b##r += x * q;                                                                             \
        c##r += x * s;                                                                             \
        d##r += x * t;                                                                             \
    }
#define GIVE4(r)                                                                                   \
    GIVE2(r) AT(out + r * to + 2 * WIDTH) = c##r;                                                  \
    AT(out + r * to + 3 * WIDTH) = d##r;
#define DECLARE2(r) NAME(floats) a##r = STARTED(r, 0), b##r = STARTED(r, 1);
#define LOAD2 NAME(floats) p = LOADED(0), q = LOADED(1); panel += 2 * WIDTH;
#define TAKE2(r)                                                                                   \
    {                                                                                              \
        float x = rows[r * stride + i];                                                            \
        a##r += x * p;                                                                             \
        b##r += x * q;                                                                             \
    }
#define GIVE2(r)                                                                                   \
    AT(out + r * to) = a##r;                                                                       \
    AT(out + r * to + WIDTH) = b##r;
#define EACH1(DO) DO(0)
#define EACH2(DO) EACH1(DO) DO(1)
#define EACH3(DO) EACH2(DO) DO(2)
#define EACH4(DO) EACH3(DO) DO(3)
#define EACH5(DO) EACH4(DO) DO(4)
#define EACH6(DO) EACH5(DO) DO(5)
#define BLOCK2(count, EACH) BLOCK(block2_##count, EACH, DECLARE2, LOAD2, TAKE2, GIVE2)
#define BLOCK4(count, EACH) BLOCK(block4_##count, EACH, DECLARE4, LOAD4, TAKE4, GIVE4)
#if BESIDE == 4
BLOCK4(1, EACH1)
BLOCK4(2, EACH2)
BLOCK4(3, EACH3)
BLOCK4(4, EACH4)
BLOCK4(5, EACH5)
BLOCK4(6, EACH6)
#else
BLOCK2(1, EACH1)
BLOCK2(2, EACH2)
BLOCK2(3, EACH3)
BLOCK2(4, EACH4)
BLOCK2(5, EACH5)
BLOCK2(6, EACH6)
#endif

typedef void (*NAME(block))(const float *, int64_t, int64_t, const float *, float *, int64_t, int);
static const NAME(block) NAME(blocks)[] = {
#if BESIDE == 4
    0, NAME(block4_1), NAME(block4_2), NAME(block4_3), NAME(block4_4), NAME(block4_5), NAME(block4_6),
#else
    0, NAME(block2_1), NAME(block2_2), NAME(block2_3), NAME(block2_4), NAME(block2_5), NAME(block2_6),
#endif
};

/* Panels [cells / WIDTH, 4 gates / BESIDE, depth, BESIDE, WIDTH] of weights [depth, 4 gates, cells]:
   those of inputs, where there are some, and behind them those of outputs. */
TARGET static void NAME(gates_packed)(const struct forward *one) {
    int64_t size = one->size, inner = one->by_inputs ? one->inner : 0;
    float *panels = one->panels;
    for (int64_t first = 0; first < size; first += WIDTH) {
        int64_t count = size - first < WIDTH ? size - first : WIDTH;
        for (int64_t part = 0; part < 4; part += BESIDE)
            for (int64_t k = 0; k < inner + size; k++) {
                const float *from = k < inner ? one->by_inputs + k * 4 * size
                                              : one->weights + (k - inner) * 4 * size;
                for (int64_t gate = part; gate < part + BESIDE; gate++, panels += WIDTH) {
                    memcpy(panels, from + gate * size + first, (size_t)count * sizeof(float));
                    memset(panels + count, 0, (size_t)(WIDTH - count) * sizeof(float));
                }
            }
    }
}

/* What the gates of a block of rows leave for its states and outputs. */
struct NAME(block_cells) {
    NAME(floats) keep[ROWS], fresh[ROWS], before[ROWS], after[ROWS], show[ROWS], slope[ROWS][2];
};

/* Sums of four gates with what is told of them. */
INLINE void NAME(sums)(NAME(floats) z[4], const float *told, int64_t size, int64_t count) {
    if (count >= WIDTH) {
        z[0] += *(const NAME(loose) *)told;
        z[1] += *(const NAME(loose) *)(told + size);
        z[2] += *(const NAME(loose) *)(told + 2 * size);
        z[3] += *(const NAME(loose) *)(told + 3 * size);
    } else
        for (int64_t gate = 0; gate < 4; gate++)
            for (int64_t i = 0; i < count; i++)
                z[gate][i] += told[gate * size + i];
}

/* The gates of a row and a panel of cells from their sums. */
INLINE void NAME(gates)(const struct forward *one, int64_t column, int64_t first, int64_t count,
                        const NAME(loose) *sums, NAME(loose) *slopes, int64_t at,
                        struct NAME(block_cells) *cells) {
    NAME(floats) z[4] = {sums[0], sums[1], sums[2], sums[3]}, e[4], part[4], slope[4];
    if (one->told)
        NAME(sums)(z, one->told + column * 4 * one->size + first, one->size, count);
    if (one->bias)
        NAME(sums)(z, one->bias + first, one->size, count);
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
        NAME(gates)(one, at + i, first, count, sums + i * 4, slopes ? slopes + i * 6 : 0, i, &cells);
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
            NAME(write)(one->before + (next * one->rows + row + i) * (one->inner + size) + one->inner
                            + first, output, count);
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
        for (int64_t gate = 0; one->told && gate < 4; gate++)
            __builtin_prefetch(one->told + (row * 4 + gate) * size + first);
        __builtin_prefetch(one->outputs + row * size + first, 1);
        if (one->states)
            __builtin_prefetch(one->states + row * size + first, 1);
    }
}

TARGET static void NAME(forward)(const struct forward *one) {
    int64_t size = one->size, rows = one->rows, wide = one->inner + size;
    /* Where inputs are multiplied here, rows begin with them. */
    int64_t skipped = one->by_inputs ? 0 : one->inner, depth = wide - skipped;
    int64_t blocks = (rows + ROWS - 1) / ROWS;
    float sums[ROWS * 4 * BYTES / 4] __attribute__((aligned(64)));
    NAME(gates_packed)(one);
    for (int64_t turn = 0; turn < one->steps; turn++) {
        int64_t step = one->backwards ? one->steps - 1 - turn : turn;
        int64_t next = turn + 1 == one->steps ? -1 : one->backwards ? step - 1 : step + 1;
        float *before = one->before + step * rows * wide, *outputs = before + one->inner;
        for (int64_t i = 0; one->inner && i < rows; i++)
            memcpy(before + i * wide, one->inputs + (step * rows + i) * one->inner,
                   (size_t)one->inner * sizeof(float));
        for (int64_t i = one->starts[turn]; i < one->starts[turn + 1]; i++) {
            int64_t row = one->borders[i];
            memcpy(outputs + row * wide, one->first_output, (size_t)size * sizeof(float));
            memcpy(one->running + row * size, one->first_state, (size_t)size * sizeof(double));
        }
        int64_t begin, end;
        gaps_of(one->gaps, step, rows, &begin, &end);
        for (int64_t i = begin; i < end; i++) {
            int64_t row = one->gaps.columns[i] - step * rows;
            memset(outputs + row * wide, 0, (size_t)size * sizeof(float));
            memset(one->running + row * size, 0, (size_t)size * sizeof(double));
        }
        const float *panel = one->panels;
        for (int64_t cell = 0; cell < size; cell += WIDTH, panel += depth * 4 * WIDTH)
            for (int64_t block = 0, row = 0; block < blocks; block++) {
                int64_t count = rows / blocks + (block < rows % blocks);
                NAME(fetch)(one, step * rows + row, count, cell);
                for (int64_t part = 0; part < 4; part += BESIDE)
                    NAME(blocks)[count](before + skipped + row * wide, wide, depth,
                                        panel + part * depth * WIDTH, sums + part * WIDTH,
                                        4 * WIDTH, 0);
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

/* Panels [4 cells, BESIDE vectors] of weights [count, 4 cells] the other way: what gates give back.
   Gives the end of them. */
TARGET static float *NAME(back_packed)(const float *weights, int64_t rows, int64_t depth,
                                       float *panels) {
    const int64_t width = BESIDE * WIDTH;
    for (int64_t first = 0; first < rows; first += width, panels += depth * width) {
        int64_t count = rows - first < width ? rows - first : width;
        for (int64_t column = 0; column < depth; column += 16) {
            int64_t columns = depth - column < 16 ? depth - column : 16;
            for (int64_t j = 0; j < count; j++)
                for (int64_t i = 0; i < columns; i++)
                    panels[(column + i) * width + j] = weights[(first + j) * depth + column + i];
        }
        for (int64_t column = 0; column < depth && count < width; column++)
            memset(panels + column * width + count, 0, (size_t)(width - count) * sizeof(float));
    }
    return panels;
}

/* Rows [rows, depth] by such panels: [rows, count]. */
TARGET static void NAME(given_back)(const float *by, int64_t rows, int64_t depth,
                                    const float *panels, int64_t count, float *out) {
    const int64_t width = BESIDE * WIDTH;
    int64_t blocks = (rows + ROWS - 1) / ROWS;
    float rest[ROWS * 4 * BYTES / 4] __attribute__((aligned(64)));
    for (int64_t first = 0; first < count; first += width, panels += depth * width) {
        int64_t columns = count - first < width ? count - first : width;
        int64_t deep = columns == width ? DEEP : depth;
        /* A part of the panel stays near while all rows pass. */
        for (int64_t k = 0; k < depth; k += deep)
            for (int64_t block = 0, row = 0; block < blocks; block++) {
                int64_t some = rows / blocks + (block < rows % blocks);
                const float *from = by + row * depth + k, *panel = panels + k * width;
                if (columns == width)
                    NAME(blocks)[some](from, depth, depth - k < deep ? depth - k : deep, panel,
                                       out + row * count + first, count, k > 0);
                else {
                    NAME(blocks)[some](from, depth, depth, panel, rest, width, 0);
                    for (int64_t i = 0; i < some; i++)
                        memcpy(out + (row + i) * count + first, rest + i * width,
                               (size_t)columns * sizeof(float));
                }
                row += some;
            }
    }
}

/* The gradient of the sums of a panel of cells; what comes back to their outputs is in ``back``. */
INLINE void NAME(panel_back)(const struct backward *one, int64_t step, int64_t first) {
    int64_t size = one->size, at = step * one->rows;
    int64_t count = size - first < WIDTH ? size - first : WIDTH;
    int64_t panel = step * ((size + WIDTH - 1) / WIDTH) + first / WIDTH;
    const float *slopes = one->slopes + panel * one->rows * 6 * WIDTH;
    NAME(doubles) sums[4][2] = {{{0}}};
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
                for (int gate = 0; gate < 4; gate++) {
                    float slope = (gate < 3 ? kept : output) * slopes[gate * WIDTH + i];
                    by[gate * size + i] = slope;
                    one->by_bias[gate * size + first + i] += slope;
                }
                state[i] = kept * slopes[4 * WIDTH + i];
            }
            continue;
        }
#define SLOPE(number) (*(const NAME(loose) *)(slopes + number * WIDTH))
        for (int gate = 0; gate < 4; gate++)
            __builtin_prefetch(by + (8 * 4 + gate) * size, 1);
        NAME(floats) output = AT(back), kept = AT(state), gates[4];
        if (told)
            output += AT(told);
        if (given)
            kept += AT(given);
        kept += output * SLOPE(5);
        gates[0] = kept * SLOPE(0);
        gates[1] = kept * SLOPE(1);
        gates[2] = kept * SLOPE(2);
        gates[3] = output * SLOPE(3);
        AT(state) = kept * SLOPE(4);
        for (int gate = 0; gate < 4; gate++) {
            AT(by + gate * size) = gates[gate];
            const NAME(loose_half) *halves = (const NAME(loose_half) *)&gates[gate];
            sums[gate][0] += __builtin_convertvector(halves[0], NAME(doubles));
            sums[gate][1] += __builtin_convertvector(halves[1], NAME(doubles));
        }
#undef SLOPE
    }
    for (int gate = 0; gate < 4 && count >= WIDTH; gate++) {
        NAME(loose_doubles) *all = (NAME(loose_doubles) *)(one->by_bias + gate * size + first);
        all[0] += sums[gate][0];
        all[1] += sums[gate][1];
    }
}

TARGET static void NAME(backward)(const struct backward *one) {
    int64_t size = one->size, rows = one->rows;
    float *by_inputs = NAME(back_packed)(one->weights, size, 4 * size, one->panels);
    if (one->back_inputs)
        NAME(back_packed)(one->by_inputs, one->inner, 4 * size, by_inputs);
    for (int64_t turn = one->steps - 1; turn >= 0; turn--) {
        int64_t step = one->backwards ? one->steps - 1 - turn : turn;
        const float *by = one->by + step * rows * 4 * size;
        for (int64_t first = 0; first < size; first += WIDTH)
            NAME(panel_back)(one, step, first);
        int64_t begin, end;
        gaps_of(one->gaps, step, rows, &begin, &end);
        for (int64_t i = begin; i < end; i++)
            memset(one->by + one->gaps.columns[i] * 4 * size, 0, (size_t)size * 4 * sizeof(float));
        NAME(given_back)(by, rows, 4 * size, one->panels, size, one->back);
        if (one->back_inputs)
            NAME(given_back)(by, rows, 4 * size, by_inputs, one->inner,
                             one->back_inputs + step * rows * one->inner);
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

#undef AT
#undef BLOCK
#undef LOADED
#undef STARTED
#undef DECLARE4
#undef LOAD4
#undef TAKE4
#undef GIVE4
#undef BLOCK4
#undef DECLARE2
#undef LOAD2
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
#undef DEEP
#undef BYTES
#undef BESIDE
#undef TARGET
#undef NAME
