/* What a cell of long short-term memory does with each step, in floats beside each other.

   Included once for each width of vectors: BYTES, ROWS (of a block), TARGET and NAME are set.
   Products are in float; gates and states are double between them, as numpy's path has them. */

typedef float NAME(floats) __attribute__((vector_size(BYTES)));
typedef float NAME(loose) __attribute__((vector_size(BYTES), aligned(4), may_alias));
typedef float NAME(half) __attribute__((vector_size(BYTES / 2)));
typedef float NAME(loose_half) __attribute__((vector_size(BYTES / 2), aligned(4), may_alias));
typedef double NAME(doubles) __attribute__((vector_size(BYTES)));
typedef double NAME(loose_doubles) __attribute__((vector_size(BYTES), aligned(8), may_alias));
typedef int64_t NAME(bits) __attribute__((vector_size(BYTES)));

#define WIDTH ((int64_t)(BYTES / 4))
#define NARROW ((int64_t)(BYTES / 8))
#define INLINE TARGET static inline __attribute__((always_inline))

INLINE NAME(doubles) NAME(all)(double value) {
    return value - (NAME(doubles)){0};
}

/* With e = exp(-2 |x|) - 1 it is -e / (2 + e), which loses nothing near 0; ``below`` is from 1 to 2.
   What the sum leaves out of e is less than 1e-12 of it. */
INLINE NAME(doubles) NAME(tanh_above)(NAME(doubles) x, NAME(doubles) *below) {
    const NAME(bits) sign = (NAME(bits))NAME(all)(-0.0);
    NAME(bits) signs = (NAME(bits))x & sign;
    NAME(doubles) size = (NAME(doubles))((NAME(bits))x & ~sign);
    NAME(bits) large = (NAME(bits))(size > NAME(all)(TANH_IS_ONE));
    size = (NAME(doubles))(((NAME(bits))NAME(all)(TANH_IS_ONE) & large) | ((NAME(bits))size & ~large));
    NAME(doubles) y = -2.0 * size;
    NAME(doubles) whole = y * LOG2_E + ROUNDING;
    NAME(bits) power = (NAME(bits))whole;
    whole = whole - ROUNDING;
    NAME(doubles) r = y - whole * LN2_HIGH;
    r = r - whole * LN2_LOW;
    NAME(doubles) q = r * (1.0 / 3628800.0) + 1.0 / 362880.0;
    q = q * r + 1.0 / 40320.0;
    q = q * r + 1.0 / 5040.0;
    q = q * r + 1.0 / 720.0;
    q = q * r + 1.0 / 120.0;
    q = q * r + 1.0 / 24.0;
    q = q * r + 1.0 / 6.0;
    q = q * r + 0.5;
    q = q * (r * r) + r;
    NAME(doubles) scale = (NAME(doubles))((power + 1023) << 52);
    NAME(doubles) e = scale * q + (scale - 1.0);
    *below = 2.0 + e;
    return (NAME(doubles))((NAME(bits))-e | signs);
}

INLINE NAME(doubles) NAME(tanh)(NAME(doubles) x) {
    NAME(doubles) below, above = NAME(tanh_above)(x, &below);
    return above / below;
}

/* Of four at once, which takes one division. */
INLINE void NAME(four_tanhs)(NAME(doubles) z[4]) {
    NAME(doubles) below[4];
    for (int i = 0; i < 4; i++)
        z[i] = NAME(tanh_above)(z[i], &below[i]);
    NAME(doubles) first = below[0] * below[1], second = below[2] * below[3];
    NAME(doubles) all = 1.0 / (first * second);
    first *= all;
    second *= all;
    z[0] *= second * below[1];
    z[1] *= second * below[0];
    z[2] *= first * below[3];
    z[3] *= first * below[2];
}

/* So many floats as doubles, the others 0; and back. */
INLINE NAME(doubles) NAME(read)(const float *from, int64_t count) {
    if (count >= NARROW)
        return __builtin_convertvector(*(const NAME(loose_half) *)from, NAME(doubles));
    float part[BYTES / 8] = {0};
    memcpy(part, from, (size_t)count * sizeof(float));
    return __builtin_convertvector(*(const NAME(loose_half) *)part, NAME(doubles));
}

INLINE void NAME(write)(float *to, NAME(doubles) values, int64_t count) {
    NAME(half) part = __builtin_convertvector(values, NAME(half));
    if (count >= NARROW)
        *(NAME(loose_half) *)to = part;
    else
        memcpy(to, &part, (size_t)count * sizeof(float));
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

/* The states and outputs of a block of rows and a panel of cells from their sums. */
INLINE void NAME(cells)(const struct forward *one, int64_t step, int64_t next, int64_t row,
                        int64_t first, const float *sums) {
    int64_t size = one->size, at = step * one->rows + row;
    for (int64_t begin = first; begin < size && begin < first + WIDTH; begin += NARROW) {
        int64_t count = size - begin;
        const float *told = one->told + at * 4 * size + begin, *own = sums + (begin - first);
        NAME(doubles) z[4];
        for (int gate = 0; gate < 4; gate++) {
            NAME(loose_half) part = *(const NAME(loose_half) *)(own + gate * WIDTH);
            if (count >= NARROW)
                part += *(const NAME(loose_half) *)(told + gate * size);
            else
                for (int64_t i = 0; i < count; i++)
                    part[i] += told[gate * size + i];
            z[gate] = __builtin_convertvector(part, NAME(doubles)) * (gate == 1 ? 1.0 : 0.5);
        }
        NAME(four_tanhs)(z);
        NAME(doubles) let_in = z[0] * 0.5 + 0.5, new = z[1];
        NAME(doubles) keep = z[2] * 0.5 + 0.5, show = z[3] * 0.5 + 0.5;
        /* The room for states ends behind the last one by a vector. */
        NAME(loose_doubles) *state = (NAME(loose_doubles) *)(one->running + row * size + begin);
        NAME(doubles) before = *state, after = keep * before + let_in * new;
        NAME(doubles) bounded = NAME(tanh)(after), output = show * bounded;
        if (count >= NARROW)
            *state = after;
        else
            memcpy(state, &after, (size_t)count * sizeof(double));
        NAME(write)(one->outputs + at * size + begin, output, count);
        NAME(write)(one->states + at * size + begin, after, count);
        if (next >= 0)
            NAME(write)(one->before + (next * one->rows + row) * size + begin, output, count);
        if (one->slopes) {
            float *slopes = one->slopes + at * 6 * size + begin;
            NAME(write)(slopes, let_in * (1.0 - let_in) * new, count);
            NAME(write)(slopes + size, (1.0 - new * new) * let_in, count);
            NAME(write)(slopes + 2 * size, keep * (1.0 - keep) * before, count);
            NAME(write)(slopes + 3 * size, show * (1.0 - show) * bounded, count);
            NAME(write)(slopes + 4 * size, keep, count);
            NAME(write)(slopes + 5 * size, show * (1.0 - bounded * bounded), count);
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
        __builtin_prefetch(one->states + row * size + first, 1);
        for (int64_t slope = 0; slope < 6 && one->slopes; slope++)
            __builtin_prefetch(one->slopes + (row * 6 + slope) * size + first, 1);
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
        const float *panel = one->panels;
        for (int64_t cell = 0; cell < size; cell += WIDTH, panel += size * 4 * WIDTH)
            for (int64_t block = 0, row = 0; block < blocks; block++) {
                int64_t count = rows / blocks + (block < rows % blocks);
                NAME(fetch)(one, step * rows + row, count, cell);
                NAME(blocks4)[count](before + row * size, size, size, panel, sums);
                for (int64_t i = 0; i < count; i++, row++)
                    NAME(cells)(one, step, next, row, cell, sums + i * 4 * WIDTH);
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

/* The gradient of a row's sums; what comes back to its outputs is in ``back``. */
INLINE void NAME(row_back)(const struct backward *one, int64_t step, int64_t row) {
    int64_t size = one->size, at = step * one->rows + row;
    const float *slopes = one->slopes + at * 6 * size;
    const float *told = one->told_outputs ? one->told_outputs + at * size : 0;
    const float *given = one->told_states ? one->told_states + at * size : 0;
    const float *back = one->back + row * size;
    float *state = one->running + row * size, *by = one->by + at * 4 * size;
    int64_t i = 0;
#define AT(pointer) (*(NAME(loose) *)(pointer))
    for (; i + WIDTH <= size; i += WIDTH) {
        NAME(floats) output = AT(back + i), kept = AT(state + i);
        if (told)
            output += AT(told + i);
        if (given)
            kept += AT(given + i);
        kept += output * AT(slopes + 5 * size + i);
        AT(by + i) = kept * AT(slopes + i);
        AT(by + size + i) = kept * AT(slopes + size + i);
        AT(by + 2 * size + i) = kept * AT(slopes + 2 * size + i);
        AT(by + 3 * size + i) = output * AT(slopes + 3 * size + i);
        AT(state + i) = kept * AT(slopes + 4 * size + i);
    }
#undef AT
    for (; i < size; i++) {
        float output = back[i] + (told ? told[i] : 0);
        float kept = state[i] + (given ? given[i] : 0);
        kept += output * slopes[5 * size + i];
        for (int gate = 0; gate < 3; gate++)
            by[gate * size + i] = kept * slopes[gate * size + i];
        by[3 * size + i] = output * slopes[3 * size + i];
        state[i] = kept * slopes[4 * size + i];
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
        for (int64_t row = 0; row < rows; row++)
            NAME(row_back)(one, step, row);
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
