/* A matrix product in which every number is one sum over the depth, added up from its first term to
   its last, however many columns there are: equal columns get equal bits.

   Included once for each width of vectors and each type: BYTES, REAL, TARGET, NAME and ROWS (of a tile)
   are set. */

typedef REAL NAME(reals) __attribute__((vector_size(BYTES)));
typedef REAL NAME(loose) __attribute__((vector_size(BYTES), aligned(sizeof(REAL)), may_alias));

#define WIDTH ((int64_t)(BYTES / sizeof(REAL)))
#define LANES ((int64_t)(WIDEST_BYTES / sizeof(REAL)))
#define INLINE TARGET static inline __attribute__((always_inline))
#define AT(pointer) (*(NAME(loose) *)(pointer))
#define SEEN(pointer) (*(const NAME(loose) *)(pointer))

/* One tile of a product: where it begins, and the steps to the next row of each matrix. */
struct NAME(tile) {
    const REAL *left, *right, *bias;
    REAL *out;
    int64_t left_step, right_step, out_step, depth;
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
        left++;
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

/* Some columns of `right` side by side, [depth, vectors]; beyond the last of them are zeros. */
TARGET static void NAME(gathered)(const struct product *one, const REAL *right, int64_t depth,
                                  int64_t columns, int64_t vectors, REAL *room) {
    int64_t wide = vectors * WIDTH;
    if (one->right.column == 1 && columns == wide) {
        for (int64_t k = 0; k < depth; k++)
            for (int64_t v = 0; v < vectors; v++)
                AT(room + k * wide + v * WIDTH) = SEEN(right + k * one->right.row + v * WIDTH);
        return;
    }
    for (int64_t k = 0; k < depth; k++)
        for (int64_t c = columns; c < wide; c++)
            room[k * wide + c] = 0;
    for (int64_t from = 0; from < depth; from += LANES) {
        int64_t end = from + LANES < depth ? from + LANES : depth;
        for (int64_t c = 0; c < columns; c++)
            for (int64_t k = from; k < end; k++)
                room[k * wide + c] = right[k * one->right.row + c * one->right.column];
    }
}

/* All rows by some columns, which need not fill the last of their vectors. */
TARGET static void NAME(strip)(const struct product *one, const REAL *left, const REAL *right,
                               const REAL *bias, REAL *out, int64_t columns, int64_t vectors,
                               struct room room) {
    int64_t wide = vectors * WIDTH, tiles = (one->rows + ROWS - 1) / ROWS;
    int gathers = one->right.column != 1 || columns != wide
                  || (tiles > 2 && one->right.row * (int64_t)sizeof(REAL) > FAR_APART);
    REAL *made = columns == wide ? out : room.made;
    struct NAME(tile) tile = {.left_step = one->depth,
                              .right_step = gathers ? wide : one->right.row,
                              .out_step = columns == wide ? one->out.row : wide};
    for (int64_t from = 0; from < one->depth; from += DEPTH) {
        int64_t depth = one->depth - from < DEPTH ? one->depth - from : DEPTH;
        const REAL *seen = right + from * one->right.row;
        if (gathers) {
            NAME(gathered)(one, seen, depth, columns, vectors, room.gathered);
            seen = room.gathered;
        }
        tile.depth = depth;
        tile.goes_on = from > 0;
        int last = from + depth == one->depth;
        for (int64_t t = 0, r = 0, rows; t < tiles; t++, r += rows) {
            rows = (one->rows - r + tiles - t - 1) / (tiles - t);
            tile.left = left + r * one->depth + from;
            tile.right = seen;
            tile.out = made + r * tile.out_step;
            tile.bias = bias && last ? bias + r : NULL;
            NAME(wides)[rows - 1][vectors - 1](&tile);
        }
    }
    if (made != out)
        for (int64_t r = 0; r < one->rows; r++)
            memcpy(out + r * one->out.row, made + r * wide, (size_t)columns * sizeof(REAL));
}

/* One matrix by its columns: the last vectors begin as much earlier as they are longer than what is
   left, and where there are fewer columns than a vector has, the rest of it is for nothing. */
TARGET static void NAME(columns)(const struct product *one, const REAL *left, const REAL *right,
                                 const REAL *bias, REAL *out, struct room room) {
    int64_t vectors = (one->columns + WIDTH - 1) / WIDTH, strips = (vectors + 2) / 3;
    for (int64_t s = 0, at = 0, some; s < strips; s++, at += some * WIDTH, vectors -= some) {
        some = (vectors + strips - s - 1) / (strips - s);
        int64_t wide = some * WIDTH, columns = wide < one->columns ? wide : one->columns;
        int64_t place = at + columns > one->columns ? one->columns - columns : at;
        NAME(strip)(one, left, right + place * one->right.column, bias, out + place, columns, some,
                    room);
    }
}

/* All matrices of a product. */
TARGET static void NAME(multiplied)(const struct product *one, struct room room) {
    for (int64_t g = 0; g < one->groups; g++)
        for (int64_t p = 0; p < one->places; p++) {
            const REAL *left = (const REAL *)one->left_array + g * one->rows * one->depth;
            const REAL *right = (const REAL *)one->right_array + g * one->right.group
                                + p * one->right.place;
            const REAL *bias = one->bias_array ? (const REAL *)one->bias_array + g * one->rows : NULL;
            REAL *out = (REAL *)one->out_array + g * one->out.group + p * one->out.place;
            NAME(columns)(one, left, right, bias, out, room);
        }
}

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
