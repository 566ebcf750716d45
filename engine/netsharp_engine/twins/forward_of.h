/* The steps of a network over a block of rows, in one type of numbers.

   Included once for each type and width of vectors: REAL, WHOLE (as wide), ROOT, BYTES, TARGET, NAME and TILES, which
   says how many rows a tile of so many panels has, are set.  Vectors may reach beyond what is meant:
   they are read and written in rising order, and behind everything there is room for one panel. */

#define INLINE TARGET static inline __attribute__((always_inline))
#define WIDTH ((int64_t)(BYTES / sizeof(REAL)))
#define LANES ((int64_t)(PANEL_BYTES / sizeof(REAL)))
#define VECTORS (PANEL_BYTES / BYTES)
#define AT(pointer) (*(NAME(loose) *)(pointer))
#define SEEN(pointer) (*(const NAME(loose) *)(pointer))

typedef REAL NAME(reals) __attribute__((vector_size(BYTES)));
typedef WHOLE NAME(marks) __attribute__((vector_size(BYTES)));
typedef REAL NAME(loose) __attribute__((vector_size(BYTES), aligned(sizeof(REAL)), may_alias));

INLINE NAME(reals) NAME(chosen)(NAME(marks) where, NAME(reals) one, NAME(reals) other) {
    return (NAME(reals))((where & (NAME(marks))one) | (~where & (NAME(marks))other));
}

/* Some rows by some panels of weights [panel, depth, LANES], whose terms are runs of numbers that lie
   side by side.  Every sum goes from its first term to its last. */
struct NAME(tile) {
    const REAL *sources[MOST_ROWS], *weights, *bias;
    REAL *out;
    int64_t panel, out_step, runs, last;
    const int64_t *run;
    const char *ahead;
    int64_t ahead_step;
    int goes_on;
};

INLINE void NAME(multiply)(const struct NAME(tile) *one, const int rows, const int panels) {
    NAME(reals) sums[MOST_ROWS][MOST_PANELS][VECTORS] = {{{{0}}}};
    const REAL *weights = one->weights;
    const char *ahead = one->ahead;
#define EACH_SUM                                                                                   \
    UNROLLED for (int r = 0; r < rows; r++)                                                        \
        UNROLLED for (int p = 0; p < panels; p++)                                                  \
            UNROLLED for (int v = 0; v < VECTORS; v++)
    if (one->goes_on)
        EACH_SUM sums[r][p][v] = SEEN(one->out + r * one->out_step + p * LANES + v * WIDTH);
    for (int64_t n = 0; n < one->runs; n++) {
        int64_t from = one->run[2 * n], length = one->run[2 * n + 1];
        for (int64_t k = from; k < from + length; k++) {
            NAME(reals) seen[MOST_PANELS][VECTORS];
            UNROLLED for (int p = 0; p < panels; p++)
                UNROLLED for (int v = 0; v < VECTORS; v++)
                    seen[p][v] = SEEN(weights + p * one->panel + v * WIDTH);
            EACH_SUM sums[r][p][v] += one->sources[r][k] * seen[p][v];
            weights += LANES;
            __builtin_prefetch(ahead);
            ahead += one->ahead_step;
        }
    }
    if (one->bias)
        EACH_SUM sums[r][p][v] = sums[r][p][v] + SEEN(one->bias + p * LANES + v * WIDTH);
    if (!one->last) {
        EACH_SUM AT(one->out + r * one->out_step + p * LANES + v * WIDTH) = sums[r][p][v];
        return;
    }
    REAL found[MOST_ROWS][MOST_PANELS * PANEL_BYTES / sizeof(REAL)];
    EACH_SUM AT(found[r] + p * LANES + v * WIDTH) = sums[r][p][v];
    for (int r = 0; r < rows; r++)
        memcpy(one->out + r * one->out_step, found[r],
               (size_t)((panels - 1) * LANES + one->last) * sizeof(REAL));
#undef EACH_SUM
}

typedef void (*NAME(tile_of))(const struct NAME(tile) *);
#define TILE(r, p)                                                                                 \
    TARGET static void NAME(tile##r##_##p)(const struct NAME(tile) *one) {                         \
        NAME(multiply)(one, r, p);                                                                 \
    }
#define NAMED(r, p) NAME(tile##r##_##p),
TILES(TILE)
static const NAME(tile_of) NAME(tiles)[] = {TILES(NAMED)};

/* Rows of a block by a matrix: the places of a row share weights, and so do rows of one place. */
TARGET static void NAME(multiplied)(const struct network *one, const struct step *step, REAL *block,
                                    int64_t rows, struct ahead *ahead) {
    static const int most[] = MOST_OF_PANELS;
    int64_t depth = step->depth, panels = (step->size + LANES - 1) / LANES;
    int64_t strips = (panels + MOST_PANELS - 1) / MOST_PANELS, alone = step->places == 1;
    int64_t parts = alone && step->runs == 1 ? (depth + DEPTH - 1) / DEPTH : 1;
    int64_t rounds = alone ? 1 : rows, each = alone ? rows : step->places;
    const int64_t *places = one->table + step->places_at, *runs = one->table + step->runs_at;
    const REAL *numbers = one->numbers;
    struct NAME(tile) tile = {.panel = depth * LANES, .out_step = alone ? one->row : step->size};
    for (int64_t s = 0, panel = 0, some; s < strips; s++, panel += some) {
        some = (panels - panel + strips - s - 1) / (strips - s);
        int exact = !alone && strips > 1 && s == strips - 1;
        tile.last = exact ? step->size % LANES : 0;
        for (int64_t part = 0; part < parts; part++) {
            int64_t from = part * DEPTH, left = depth - from;
            int64_t run[] = {parts > 1 ? runs[0] + from : 0, left < DEPTH ? left : DEPTH};
            tile.run = parts > 1 ? run : runs;
            tile.runs = step->runs;
            tile.goes_on = part > 0 || step->mode == ADDED;
            tile.weights = numbers + step->numbers_at + (panel * depth + from) * LANES;
            tile.bias = part == parts - 1 && step->more_at >= 0
                            ? numbers + step->more_at + panel * LANES : NULL;
            for (int64_t round = 0; round < rounds; round++) {
                REAL *row = block + round * one->row;
                int64_t tiles = (each + most[some - 1] - 1) / most[some - 1];
                for (int64_t t = 0, at = 0, count; t < tiles; t++, at += count) {
                    count = (each - at + tiles - t - 1) / (tiles - t);
                    for (int64_t r = 0; r < count; r++)
                        tile.sources[r] = row + step->source
                                          + (alone ? places[0] + (at + r) * one->row : places[at + r]);
                    tile.ahead_step = ahead->next < ahead->end ? AHEAD_BYTES : 0;
                    tile.ahead = tile.ahead_step ? ahead->next : (const char *)tile.weights;
                    ahead->next += tile.ahead_step * (parts > 1 ? run[1] : depth);
                    tile.out = row + step->out + panel * LANES + at * tile.out_step;
                    NAME(tiles)[tile_number(most, some, count)](&tile);
                }
            }
        }
    }
}

/* Runs of numbers to where they are wanted, and what stands between them. */
TARGET static void NAME(gathered)(const struct network *one, const struct step *step, REAL *row) {
    const int64_t *runs = one->table + step->runs_at;
    REAL *out = row + step->out, between = step->mode == LOWEST ? (REAL)-INFINITY : 0;
    for (int64_t i = 0; i < step->size; i++)
        out[i] = between;
    for (int64_t n = 0; n < step->runs; n++, runs += 3) {
        const REAL *from = row + runs[0];
        for (int64_t i = 0; i < runs[2]; i++)
            out[runs[1] + i] = from[i];
    }
    if (step->mode == SQUARED)
        for (int64_t i = 0; i < step->size; i++)
            out[i] *= out[i];
}

/* The largest, NaN where one of them is, or the mean of cells at the same distances from each place. */
TARGET static void NAME(pooled)(const struct network *one, const struct step *step, REAL *row) {
    const int64_t *places = one->table + step->places_at, *cells = one->table + step->runs_at;
    const REAL *shares = (const REAL *)one->numbers + step->numbers_at;
    for (int64_t p = 0; p < step->places; p++)
        for (int64_t i = 0; i < step->size; i += WIDTH) {
            const REAL *from = row + places[p] + i;
            NAME(reals) found = {0};
            if (step->mode == MEAN) {
                for (int64_t t = 0; t < step->runs; t++)
                    found += SEEN(from + cells[t]);
                found *= shares[p];
            } else {
                found = SEEN(from + cells[0]);
                for (int64_t t = 1; t < step->runs; t++) {
                    NAME(reals) seen = SEEN(from + cells[t]);
                    found = NAME(chosen)((seen > found) | (seen != seen), seen, found);
                }
            }
            AT(row + step->out + p * step->size + i) = found;
        }
}

INLINE NAME(reals) NAME(rooted)(NAME(reals) values) {
    REAL each[BYTES / sizeof(REAL)];
    memcpy(each, &values, BYTES);
    for (int64_t i = 0; i < WIDTH; i++)
        each[i] = ROOT(each[i]);
    memcpy(&values, each, BYTES);
    return values;
}

/* x (offset + factor * sum of squares) ^ -beta, beta in quarters. */
TARGET static void NAME(normed)(const struct network *one, const struct step *step, REAL *row) {
    const int64_t *places = one->table + step->places_at, *cells = one->table + step->runs_at;
    const REAL *factors = (const REAL *)one->numbers + step->numbers_at;
    REAL offset = ((const REAL *)one->numbers)[step->more_at];
    for (int64_t p = 0; p < step->places; p++)
        for (int64_t i = 0; i < step->size; i += WIDTH) {
            const REAL *from = row + places[2 * p] + i;
            NAME(reals) base = {0}, power;
            for (int64_t t = 0; t < step->runs; t++)
                base += SEEN(from + cells[t]);
            base = base * SEEN(factors + p * step->depth + i) + offset;
            power = NAME(rooted)(base);
            if (step->mode == 3)
                power = NAME(rooted)(power) * power;
            AT(row + step->out + p * step->size + i) = SEEN(row + places[2 * p + 1] + i) / power;
        }
}

/* out[i] += what is there, or numbers of the network. */
TARGET static void NAME(added)(const struct network *one, const struct step *step, REAL *row) {
    const REAL *other = step->more_at < 0 ? row + step->source
                                          : (const REAL *)one->numbers + step->more_at;
    REAL *out = row + step->out;
    for (int64_t i = 0; i < step->size; i++)
        out[i] += other[i];
}

/* One row of features into a block, as `normal` [4, features] says (least, most, offset, scale) where
   it is there; whether all of them were finite: x - x has no bits then. */
INLINE int NAME(entered)(const REAL *from, const REAL *normal, int64_t features, REAL *out) {
    NAME(marks) wrong = {0};
    int64_t i = 0;
    for (; i + WIDTH <= features; i += WIDTH) {
        NAME(reals) x = SEEN(from + i);
        wrong |= (NAME(marks))(x - x);
        if (normal) {
            const REAL *least = normal + i, *most = least + features, *offset = most + features;
            x = NAME(chosen)(x > SEEN(least), x, SEEN(least));
            x = NAME(chosen)(x < SEEN(most), x, SEEN(most));
            x = x - SEEN(offset);
            x = x * SEEN(offset + features);
        }
        AT(out + i) = x;
    }
    int found = 0;
    for (int64_t v = 0; v < WIDTH; v++)
        found |= wrong[v] != 0;
    for (; i < features; i++) {
        REAL x = from[i];
        found |= !(x - x == 0);
        if (normal) {
            x = x > normal[i] ? x : normal[i];
            x = x < normal[features + i] ? x : normal[features + i];
            x = x - normal[2 * features + i];
            x = x * normal[3 * features + i];
        }
        out[i] = x;
    }
    return !found;
}

/* Rows of features of any type. */
TARGET static int NAME(taken)(const struct network *one, const struct given *given, int64_t first,
                              int64_t rows, REAL *block) {
    int finite = 1;
    for (int64_t r = 0; r < rows; r++, block += one->row) {
        int64_t at = (first + r) * one->features;
        const REAL *from = (const REAL *)given->features + at;
        if (given->bytes != sizeof(REAL)) {
            for (int64_t i = 0; i < one->features; i++)
                block[i] = given->bytes == 8 ? (REAL)((const double *)given->features)[at + i]
                                             : (REAL)((const float *)given->features)[at + i];
            from = block;
        }
        finite &= given->normal ? NAME(entered)(from, given->normal, one->features, block)
                                : NAME(entered)(from, NULL, one->features, block);
    }
    return finite;
}

TARGET static int NAME(computed)(const struct network *one, const struct given *given, void *room) {
    REAL *block = room;
    for (int64_t first = 0, rows; first < given->rows; first += rows) {
        rows = given->rows - first < one->block ? given->rows - first : one->block;
        if (!NAME(taken)(one, given, first, rows, block) && given->finite)
            return 0;
        const char *behind = (const char *)given->features
                             + (first + rows) * one->features * given->bytes;
        int64_t after = given->rows - first - rows < one->block ? given->rows - first - rows
                                                                : one->block;
        struct ahead ahead = {behind, behind + after * one->features * given->bytes};
        for (const struct step *step = one->steps; step < one->steps + one->count; step++) {
            if (step->kind == MULTIPLY) {
                NAME(multiplied)(one, step, block, rows, &ahead);
                continue;
            }
            for (REAL *row = block; row < block + rows * one->row; row += one->row)
                switch (step->kind) {
                case GATHER: NAME(gathered)(one, step, row); break;
                case POOL: NAME(pooled)(one, step, row); break;
                case NORM: NAME(normed)(one, step, row); break;
                case ADD: NAME(added)(one, step, row); break;
                default:
                    /* Whole vectors: behind each node's numbers there is room. */
                    apply(sizeof(REAL), step->mode, row + step->source, row + step->out,
                          step->mode == F_SOFTMAX ? step->size : (step->size + WIDTH - 1) / WIDTH * WIDTH);
                }
        }
        for (int64_t r = 0; r < rows; r++)
            memcpy((REAL *)given->outputs + (first + r) * one->outputs,
                   block + r * one->row + one->outputs_at, (size_t)one->outputs * sizeof(REAL));
    }
    return 1;
}

#undef NAMED
#undef TILE
#undef SEEN
#undef AT
#undef VECTORS
#undef LANES
#undef WIDTH
#undef INLINE
#undef MOST_OF_PANELS
#undef TILES
#undef TARGET
#undef NAME
#undef BYTES
