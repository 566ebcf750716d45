/* A matrix product in which every number is one sum over the depth, added up from its first term to
   its last, however many columns there are: equal columns get equal bits.

   Included once for each width of vectors and each type: BYTES, REAL, TARGET, NAME and ROWS (of a tile)
   are set. */

typedef REAL NAME(reals) __attribute__((vector_size(BYTES)));
typedef REAL NAME(loose) __attribute__((vector_size(BYTES), aligned(sizeof(REAL)), may_alias));

#define WIDTH ((int64_t)(BYTES / sizeof(REAL)))
#define LANES ((int64_t)(WIDEST_BYTES / sizeof(REAL)))
#define DOT_ROWS 4
#define DOT_COLUMNS (ROWS > 4 ? 6 : 3)
#define INLINE TARGET static inline __attribute__((always_inline))
#define AT(pointer) (*(NAME(loose) *)(pointer))
#define SEEN(pointer) (*(const NAME(loose) *)(pointer))

/* One tile of a product: where it begins, the steps to the next row of each matrix, and that of left to
   the next term. */
struct NAME(tile) {
    const REAL *left, *right, *bias;
    REAL *out;
    int64_t left_step, left_next, right_step, out_step, depth;
    int goes_on;
};

/* Some rows by so many vectors of columns, which lie side by side. */
INLINE void NAME(wide)(const struct NAME(tile) *one, const int rows, const int vectors) {
    NAME(reals) sums[ROWS][3] = {{{0}}};
    const REAL *left = one->left, *right = one->right;
    if (one->goes_on)
        for (int r = 0; r < rows; r++)
            for (int v = 0; v < vectors; v++)
                sums[r][v] = SEEN(one->out + r * one->out_step + v * WIDTH);
    for (int64_t k = 0; k < one->depth; k++) {
        NAME(reals) seen[3];
        for (int v = 0; v < vectors; v++)
            seen[v] = SEEN(right + v * WIDTH);
        for (int r = 0; r < rows; r++)
            for (int v = 0; v < vectors; v++)
                sums[r][v] += left[r * one->left_step] * seen[v];
        left += one->left_next;
        right += one->right_step;
    }
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < vectors; v++) {
            if (one->bias)
                sums[r][v] = sums[r][v] + one->bias[r];
            AT(one->out + r * one->out_step + v * WIDTH) = sums[r][v];
        }
}

typedef void (*NAME(wide_of))(const struct NAME(tile) *);
#define WIDE(r, v)                                                                                 \
    TARGET static void NAME(wide##r##_##v)(const struct NAME(tile) *one) { NAME(wide)(one, r, v); }
#define WIDES(r) WIDE(r, 1) WIDE(r, 2) WIDE(r, 3)
#define NAMED(r) {NAME(wide##r##_1), NAME(wide##r##_2), NAME(wide##r##_3)}
WIDES(1) WIDES(2) WIDES(3) WIDES(4)
#if ROWS > 4
WIDES(5) WIDES(6) WIDES(7) WIDES(8)
#endif
static const NAME(wide_of) NAME(wides)[][3] = {
    NAMED(1), NAMED(2), NAMED(3), NAMED(4),
#if ROWS > 4
    NAMED(5), NAMED(6), NAMED(7), NAMED(8),
#endif
};

/* Terms of some columns side by side, [depth, wide]; beyond the last column are zeros. */
TARGET static void NAME(gathered)(const REAL *from, int64_t next, int64_t column, int64_t depth,
                                  int64_t columns, int64_t wide, REAL *to) {
    int64_t whole = column == 1 ? columns / WIDTH * WIDTH : 0;
    for (int64_t k = 0; k < depth; k++) {
        for (int64_t c = 0; c < whole; c += WIDTH)
            AT(to + k * wide + c) = SEEN(from + k * next + c);
        for (int64_t c = columns; c < wide; c++)
            to[k * wide + c] = 0;
    }
    int64_t c = whole;
#if defined(TURNED)
    if (next == 1)
        for (; c + 4 <= columns; c += 4) {
            int64_t k = 0;
            for (; k + 4 <= depth; k += 4)
                TURNED(from + c * column + k, column, to + k * wide + c, wide);
            for (; k < depth; k++)
                for (int64_t i = c; i < c + 4; i++)
                    to[k * wide + i] = from[k + i * column];
        }
#endif
    for (int64_t begin = 0; c < columns && begin < depth; begin += LANES) {
        int64_t end = least(begin + LANES, depth);
        for (int64_t i = c; i < columns; i++)
            for (int64_t k = begin; k < end; k++)
                to[k * wide + i] = from[k * next + i * column];
    }
}

/* Terms of some rows, those of a tile side by side, [tile][depth][rows of the tile].  Tiles lie apart:
   at distances of a power of two they would take each other's place in the cache. */
#define APART(depth) ((depth) * ROWS + LANES)
TARGET static void NAME(packed)(const struct product *one, const REAL *from, struct cut rows,
                                int64_t depth, REAL *to) {
    int64_t step = one->left.row, least_rows = rows.count / rows.parts, more = rows.count % rows.parts;
    for (int64_t k = 0; k < depth; k++, from += one->left.column) {
        const REAL *seen = from;
        REAL *put = to;
        for (int64_t t = 0; t < rows.parts; t++) {
            int64_t count = least_rows + (t < more);
            if (step == 1 && count == ROWS)
                memcpy(put + k * ROWS, seen, ROWS * sizeof(REAL));
            else
                for (int64_t r = 0; r < count; r++)
                    put[k * count + r] = seen[r * step];
            seen += count * step;
            put += APART(depth);
        }
    }
}

/* A tile whose last columns are not there. */
TARGET static void NAME(narrow)(struct NAME(tile) tile, int64_t rows, int64_t vectors, int64_t columns) {
    REAL made[ROWS * 3 * WIDTH], *out = tile.out;
    int64_t step = tile.out_step, wide = vectors * WIDTH;
    for (int64_t r = 0; tile.goes_on && r < rows; r++)
        for (int64_t c = 0; c < wide; c++)
            made[r * wide + c] = c < columns ? out[r * step + c] : 0;
    tile.out = made;
    tile.out_step = wide;
    NAME(wides)[rows - 1][vectors - 1](&tile);
    for (int64_t r = 0; r < rows; r++)
        memcpy(out + r * step, made + r * wide, (size_t)columns * sizeof(REAL));
}

/* Some rows, columns and terms of a matrix: rows cut into tiles, columns into strips of up to three
   vectors, whose terms lie at ``seen``, each so far from the one before. */
struct NAME(block) {
    struct cut rows, vectors;
    int64_t columns, depth;
    const REAL *left, *bias, *seen[BLOCK_STRIPS];
    int64_t left_step, left_next, step[BLOCK_STRIPS], out_step;
    REAL *out;
    int packs, goes_on;
};

INLINE void NAME(crossed)(const struct NAME(block) *one, int64_t s, int64_t t) {
    int64_t row = cut_at(one->rows, t), count = cut_at(one->rows, t + 1) - row;
    int64_t vector = cut_at(one->vectors, s), vectors = cut_at(one->vectors, s + 1) - vector;
    int64_t columns = least(vectors * WIDTH, one->columns - vector * WIDTH);
    struct NAME(tile) tile = {
        .left = one->left + (one->packs ? t * APART(one->depth) : row * one->left_step),
        .left_step = one->packs ? 1 : one->left_step,
        .left_next = one->packs ? count : one->left_next,
        .right = one->seen[s], .right_step = one->step[s], .depth = one->depth,
        .out = one->out + row * one->out_step + vector * WIDTH, .out_step = one->out_step,
        .bias = one->bias ? one->bias + row : NULL, .goes_on = one->goes_on};
    if (columns < vectors * WIDTH)
        NAME(narrow)(tile, count, vectors, columns);
    else
        NAME(wides)[count - 1][vectors - 1](&tile);
}

/* An activation of numbers that were just written. */
TARGET static void NAME(ended)(int64_t function, REAL *out, int64_t step, int64_t rows, int64_t columns) {
    if (step == columns) {
        columns *= rows;
        rows = 1;
    }
    for (int64_t r = 0; r < rows; r++)
        apply(sizeof(REAL), function, out + r * step, out + r * step, columns);
}

/* One matrix: some columns at a time, of these some terms, of these some rows.  Every sum goes from
   its first term to its last.  Where few terms are summed up, most is writing: then tile by tile. */
TARGET static void NAME(matrix)(const struct product *one, const REAL *left, const REAL *right,
                                const REAL *bias, REAL *out, int adds, struct room room) {
    const int64_t most = BLOCK_STRIPS * 3 * WIDTH;
    int gathers = one->right.column != 1
                  || (one->rows > 2 * ROWS && one->right.row * (int64_t)sizeof(REAL) > FAR_APART);
    struct NAME(block) block = {
        .out_step = one->out.row, .left_step = one->left.row, .left_next = one->left.column,
        .packs = one->left.column != 1
                 && one->left.column * one->depth * (int64_t)sizeof(REAL) > SPREAD};
    for (int64_t column = 0; column < one->columns; column += most)
        for (int64_t term = 0; term < one->depth; term += DEPTH) {
            block.depth = least(one->depth - term, DEPTH);
            block.goes_on = adds || term > 0;
            block.columns = least(one->columns - column, most);
            int64_t vectors = (block.columns + WIDTH - 1) / WIDTH, last = term + block.depth == one->depth;
            block.vectors = (struct cut){vectors, (vectors + 2) / 3};
            REAL *made = room.columns;
            for (int64_t s = 0; s < block.vectors.parts; s++) {
                int64_t from = cut_at(block.vectors, s) * WIDTH;
                int64_t wide = cut_at(block.vectors, s + 1) * WIDTH - from;
                int64_t columns = least(wide, block.columns - from);
                block.seen[s] = right + term * one->right.row + (column + from) * one->right.column;
                block.step[s] = one->right.row;
                if (gathers || columns < wide) {
                    NAME(gathered)(block.seen[s], one->right.row, one->right.column, block.depth, columns,
                                   wide, made);
                    block.seen[s] = made;
                    block.step[s] = wide;
                    made += block.depth * wide;
                }
            }
            for (int64_t row = 0; row < one->rows; row += BLOCK_ROWS) {
                int64_t rows = least(one->rows - row, BLOCK_ROWS);
                block.rows = (struct cut){rows, (rows + ROWS - 1) / ROWS};
                block.left = left + row * one->left.row + term * one->left.column;
                block.bias = bias && last ? bias + row : NULL;
                block.out = out + row * one->out.row + column;
                if (block.packs) {
                    NAME(packed)(one, block.left, block.rows, block.depth, room.rows);
                    block.left = room.rows;
                }
                if (block.depth <= SHALLOW)
                    for (int64_t t = 0; t < block.rows.parts; t++)
                        for (int64_t s = 0; s < block.vectors.parts; s++)
                            NAME(crossed)(&block, s, t);
                else
                    for (int64_t s = 0; s < block.vectors.parts; s++)
                        for (int64_t t = 0; t < block.rows.parts; t++)
                            NAME(crossed)(&block, s, t);
                if (last && one->function >= 0)
                    NAME(ended)(one->function, block.out, one->out.row, rows, block.columns);
            }
        }
}

/* The sum of a vector's numbers, halves of it first. */
INLINE REAL NAME(total)(NAME(reals) sums) {
    REAL each[WIDTH];
    AT(each) = sums;
    for (int64_t half = WIDTH / 2; half; half /= 2)
        for (int64_t i = 0; i < half; i++)
            each[i] += each[i + half];
    return each[0];
}

/* Some rows by so many columns, whose terms lie side by side on both sides, summed up over all places. */
INLINE void NAME(dot)(const struct product *one, const REAL *left, const REAL *const *columns,
                      const int rows, REAL (*found)[DOT_COLUMNS]) {
    NAME(reals) sums[DOT_ROWS][DOT_COLUMNS] = {{{0}}};
    int64_t whole = one->depth / WIDTH * WIDTH;
    size_t rest = (size_t)(one->depth - whole) * sizeof(REAL);
    for (int64_t p = 0; p < one->places; p++) {
        const REAL *from = left + p * one->left.place;
        int64_t at = p * one->right.place;
        for (int64_t k = 0; k < whole; k += WIDTH) {
            NAME(reals) seen[DOT_COLUMNS];
            for (int c = 0; c < DOT_COLUMNS; c++)
                seen[c] = SEEN(columns[c] + at + k);
            for (int r = 0; r < rows; r++)
                for (int c = 0; c < DOT_COLUMNS; c++)
                    sums[r][c] += SEEN(from + r * one->left.row + k) * seen[c];
        }
        if (!rest)
            continue;
        NAME(reals) seen[DOT_COLUMNS] = {{0}};
        for (int c = 0; c < DOT_COLUMNS; c++)
            memcpy(&seen[c], columns[c] + at + whole, rest);
        for (int r = 0; r < rows; r++) {
            NAME(reals) row = {0};
            memcpy(&row, from + r * one->left.row + whole, rest);
            for (int c = 0; c < DOT_COLUMNS; c++)
                sums[r][c] += row * seen[c];
        }
    }
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < DOT_COLUMNS; c++)
            found[r][c] = NAME(total)(sums[r][c]);
}

#define DOT(r)                                                                                     \
    TARGET static void NAME(dot##r)(const struct product *one, const REAL *left,                   \
                                    const REAL *const *columns, REAL (*found)[DOT_COLUMNS]) {      \
        NAME(dot)(one, left, columns, r, found);                                                   \
    }
typedef void (*NAME(dot_of))(const struct product *, const REAL *, const REAL *const *,
                             REAL (*)[DOT_COLUMNS]);
DOT(1) DOT(2) DOT(3) DOT(4)
static const NAME(dot_of) NAME(dots)[] = {NAME(dot1), NAME(dot2), NAME(dot3), NAME(dot4)};

/* One matrix, summed up over all places; in each of a vector's lanes are sums of their own. */
TARGET static void NAME(dotted)(const struct product *one, const REAL *left, const REAL *right,
                                REAL *out) {
    struct cut rows = {one->rows, (one->rows + DOT_ROWS - 1) / DOT_ROWS};
    for (int64_t column = 0; column < one->columns; column += DOT_COLUMNS) {
        int64_t count = least(one->columns - column, DOT_COLUMNS);
        const REAL *columns[DOT_COLUMNS];
        for (int64_t c = 0; c < DOT_COLUMNS; c++)
            columns[c] = right + (column + least(c, count - 1)) * one->right.column;
        for (int64_t t = 0; t < rows.parts; t++) {
            int64_t first = cut_at(rows, t), some = cut_at(rows, t + 1) - first;
            REAL found[DOT_ROWS][DOT_COLUMNS];
            NAME(dots)[some - 1](one, left + first * one->left.row, columns, found);
            for (int64_t r = 0; r < some; r++)
                memcpy(out + (first + r) * one->out.row + column, found[r], (size_t)count * sizeof(REAL));
        }
    }
}

/* All matrices of a product. */
TARGET static void NAME(multiplied)(const struct product *one, struct room room) {
    for (int64_t g = 0; g < one->groups; g++) {
        if (one->lanes && one->depth >= 2 * WIDTH) {
            NAME(dotted)(one, (const REAL *)one->left_array + g * one->left.group,
                         (const REAL *)one->right_array + g * one->right.group,
                         (REAL *)one->out_array + g * one->out.group);
            continue;
        }
        for (int64_t p = 0; p < one->places; p++) {
            const REAL *left = (const REAL *)one->left_array + g * one->left.group + p * one->left.place;
            const REAL *right = (const REAL *)one->right_array + g * one->right.group
                                + p * one->right.place;
            const REAL *bias = one->bias_array ? (const REAL *)one->bias_array + g * one->rows : NULL;
            REAL *out = (REAL *)one->out_array + g * one->out.group + p * one->out.place;
            NAME(matrix)(one, left, right, bias, out, one->adds || (p && !one->out.place), room);
        }
    }
}

#undef DOT
#undef DOT_ROWS
#undef DOT_COLUMNS
#undef APART
#undef NAMED
#undef WIDES
#undef WIDE
#undef SEEN
#undef AT
#undef INLINE
#undef LANES
#undef WIDTH
#undef ROWS
#undef TARGET
#undef NAME
#undef BYTES
