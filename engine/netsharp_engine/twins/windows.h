/* What kernels and windows see on their way over images whose samples lie side by side, in floats.

   Included once for each width of vectors: BYTES, TARGET, NAME, ROWS (of a tile of maps), and MAPS and
   TAPS of a tile of the gradient by kernels are set. */

typedef float NAME(floats) __attribute__((vector_size(BYTES)));
typedef float NAME(loose) __attribute__((vector_size(BYTES), aligned(4), may_alias));
typedef int32_t NAME(marks) __attribute__((vector_size(BYTES)));

#define WIDTH ((int64_t)(BYTES / 4))
#define INLINE TARGET static inline __attribute__((always_inline))
#define AT(pointer) (*(NAME(loose) *)(pointer))
#define SEEN(pointer) (*(const NAME(loose) *)(pointer))

/* The larger of two; what is no number is larger than all. */
INLINE NAME(floats) NAME(larger)(NAME(floats) most, NAME(floats) other) {
    NAME(marks) taken = (other > most) | (other != other);
    return (NAME(floats))(((NAME(marks))other & taken) | ((NAME(marks))most & ~taken));
}

/* Some maps at so many vectors of places: all taps of a run, each with its weights. */
INLINE void NAME(tile)(const struct moving *one, struct run run, const float *image, int64_t map,
                       float *out, const int rows, const int vectors) {
    NAME(floats) sums[ROWS][3] = {{{0}}};
    const float *kernels = one->kernels + map;
    int64_t maps = one->maps, samples = one->walk.samples;
    for (const int64_t *tap = run.taps; tap < run.taps_end; tap += 2) {
        const float *from = image + (run.cell + tap[0]) * samples, *weights = kernels + tap[1] * maps;
        NAME(floats) seen[3];
        for (int v = 0; v < vectors; v++)
            seen[v] = SEEN(from + v * WIDTH);
        for (int r = 0; r < rows; r++)
            for (int v = 0; v < vectors; v++)
                sums[r][v] += weights[r] * seen[v];
    }
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < vectors; v++) {
            NAME(floats) found = sums[r][v];
            if (one->biases)
                found = NAME(larger)((NAME(floats)){0}, found + one->biases[map + r]);
            AT(out + r * one->walk.places * samples + v * WIDTH) = found;
        }
}

typedef void (*NAME(tile_of))(const struct moving *, struct run, const float *, int64_t, float *);
#define TILE(r, v)                                                                                 \
    TARGET static void NAME(tile##r##_##v)(const struct moving *one, struct run run,               \
                                           const float *image, int64_t map, float *out) {          \
        NAME(tile)(one, run, image, map, out, r, v);                                               \
    }
#define TILES(r) TILE(r, 1) TILE(r, 2) TILE(r, 3)
#define NAMED(r) {NAME(tile##r##_1), NAME(tile##r##_2), NAME(tile##r##_3)}
TILES(1) TILES(2) TILES(3) TILES(4)
#if ROWS > 4
TILES(5) TILES(6) TILES(7) TILES(8)
#endif
static const NAME(tile_of) NAME(tiles)[][3] = {
    NAMED(1), NAMED(2), NAMED(3), NAMED(4),
#if ROWS > 4
    NAMED(5), NAMED(6), NAMED(7), NAMED(8),
#endif
};

/* The last vectors of a run begin as much earlier as they are longer than what is left. */
TARGET static void NAME(moved)(const struct moving *one) {
    int64_t samples = one->walk.samples, row = one->walk.places * samples;
    for (int64_t i = 0; i < one->walk.runs; i++) {
        struct run run = run_of(&one->walk, i);
        float *out = one->out + run.place * samples;
        int64_t length = run.length * samples;
        for (int64_t at = 0, width; at < length; at += width) {
            int64_t left = length - at, vectors = left >= 3 * WIDTH ? 3 : left >= 2 * WIDTH ? 2 : 1;
            width = vectors * WIDTH;
            if (left < WIDTH)
                at = length - WIDTH;
            for (int64_t map = 0; map < one->maps; map += ROWS) {
                int64_t rows = one->maps - map < ROWS ? one->maps - map : ROWS;
                NAME(tiles)[rows - 1][vectors - 1](one, run, one->image + at, map,
                                                   out + map * row + at);
            }
        }
    }
}

/* What some taps see times what comes back to some maps, summed over the places of a run. */
INLINE void NAME(products)(const float *const *by, const float *const *seen, int64_t length,
                           float *sums, const int taps) {
    NAME(floats) found[MAPS][TAPS] = {{{0}}}, x[TAPS];
    int64_t i = 0;
    for (; i + WIDTH <= length; i += WIDTH) {
        for (int t = 0; t < taps; t++)
            x[t] = SEEN(seen[t] + i);
        for (int m = 0; m < MAPS; m++) {
            NAME(floats) told = SEEN(by[m] + i);
            for (int t = 0; t < taps; t++)
                found[m][t] += told * x[t];
        }
    }
    if (i < length) {
        size_t left = (size_t)(length - i) * sizeof(float);
        for (int t = 0; t < taps; t++) {
            x[t] = (NAME(floats)){0};
            memcpy(&x[t], seen[t] + i, left);
        }
        for (int m = 0; m < MAPS; m++) {
            NAME(floats) told = {0};
            memcpy(&told, by[m] + i, left);
            for (int t = 0; t < taps; t++)
                found[m][t] += told * x[t];
        }
    }
    for (int m = 0; m < MAPS; m++)
        for (int t = 0; t < taps; t++)
            AT(sums + (m * TAPS + t) * WIDTH) += found[m][t];
}

typedef void (*NAME(products_of))(const float *const *, const float *const *, int64_t, float *);
#define PRODUCTS(t)                                                                                \
    TARGET static void NAME(products##t)(const float *const *by, const float *const *seen,         \
                                         int64_t length, float *sums) {                            \
        NAME(products)(by, seen, length, sums, t);                                                 \
    }
PRODUCTS(1) PRODUCTS(2) PRODUCTS(3)
#if TAPS > 3
PRODUCTS(4) PRODUCTS(5) PRODUCTS(6)
#endif
static const NAME(products_of) NAME(all_products)[] = {
    NAME(products1), NAME(products2), NAME(products3),
#if TAPS > 3
    NAME(products4), NAME(products5), NAME(products6),
#endif
};

/* The products of one run for the weights from ``begin`` to ``end``, into their tiles of sums. */
TARGET static void NAME(joined_run)(const struct joining *one, struct run run, int64_t begin,
                                    int64_t end) {
    int64_t samples = one->walk.samples, tiles = (one->maps + MAPS - 1) / MAPS;
    const int64_t *first = weight_from(run, begin), *stop = weight_from(run, end);
    const float *back = one->by + run.place * samples, *image = one->image + run.cell * samples;
    for (int64_t m = 0; m < tiles; m++) {
        const float *by[MAPS], *seen[TAPS];
        for (int64_t r = 0; r < MAPS; r++) {
            int64_t map = m * MAPS + r;
            by[r] = back + (map < one->maps ? map : one->maps - 1) * one->walk.places * samples;
        }
        for (const int64_t *tap = first; tap < stop;) {
            int64_t weight = tap[1] - begin, tile = weight / TAPS, within = weight % TAPS, taps = 0;
            for (; tap < stop && within + taps < TAPS && tap[1] - begin == weight + taps; tap += 2)
                seen[taps++] = image + tap[0] * samples;
            NAME(all_products)[taps - 1](by, seen, run.length * samples,
                one->room + ((tile * tiles + m) * MAPS * TAPS + within) * WIDTH);
        }
    }
}

/* [weights, maps]; so many weights at a time that what their taps see of a run stays near. */
TARGET static void NAME(joined)(const struct joining *one) {
    int64_t maps = one->maps, tiles = (maps + MAPS - 1) / MAPS;
    for (int64_t begin = 0; begin < one->depth; begin += AT_A_TIME) {
        int64_t end = begin + AT_A_TIME < one->depth ? begin + AT_A_TIME : one->depth;
        int64_t size = (end - begin + TAPS - 1) / TAPS * tiles * MAPS * TAPS * WIDTH;
        memset(one->room, 0, (size_t)size * sizeof(float));
        for (int64_t i = 0; i < one->walk.runs; i++)
            NAME(joined_run)(one, run_of(&one->walk, i), begin, end);
        for (int64_t t = begin; t < end; t++)
            for (int64_t m = 0; m < maps; m++) {
                int64_t tile = ((t - begin) / TAPS * tiles + m / MAPS) * MAPS + m % MAPS;
                const float *sums = one->room + (tile * TAPS + (t - begin) % TAPS) * WIDTH;
                double sum = 0;
                for (int64_t i = 0; i < WIDTH; i++)
                    sum += sums[i];
                one->out[t * maps + m] = (float)sum;
            }
    }
}

/* What comes back through a rectifier, and its sum for each map: a few numbers of each
   lane in float, all of them in double. */
TARGET static void NAME(rectified_back)(const float *value, const float *by, int64_t maps,
                                        int64_t length, float *out, float *sums) {
    for (int64_t m = 0; m < maps; m++) {
        double found = 0;
        for (int64_t begin = 0; begin < length; begin += BESIDE) {
            int64_t end = begin + BESIDE < length ? begin + BESIDE : length, i = begin;
            NAME(floats) part = {0};
            for (; i + WIDTH <= end; i += WIDTH) {
                NAME(marks) open = SEEN(value + i) > 0;
                NAME(floats) back = (NAME(floats))((NAME(marks))SEEN(by + i) & open);
                part += back;
                AT(out + i) = back;
            }
            for (; i < end; i++)
                found += out[i] = value[i] > 0 ? by[i] : 0;
            for (int64_t j = 0; j < WIDTH; j++)
                found += part[j];
        }
        sums[m] = (float)found;
        value += length;
        by += length;
        out += length;
    }
}

INLINE void NAME(pool_run)(const struct pooling *one, struct run run, const float *image, float *out,
                           const int means) {
    int64_t samples = one->walk.samples, length = run.length * samples;
    float count = (float)((run.taps_end - run.taps) / 2);
    for (int64_t at = 0; at < length; at += WIDTH) {
        if (length - at < WIDTH)
            at = length - WIDTH;
        NAME(floats) found = {0};
        if (!means)
            found = (float)-INFINITY - found;
        for (const int64_t *tap = run.taps; tap < run.taps_end; tap += 2) {
            NAME(floats) cells = SEEN(image + (run.cell + tap[0]) * samples + at);
            found = means ? found + cells : NAME(larger)(found, cells);
        }
        AT(out + run.place * samples + at) = means ? found / count : found;
    }
}

/* To the first of equal cells, or to all of them; a vector or what is left of it. */
INLINE void NAME(most_back)(const struct pooling *one, struct run run, const float *image,
                            float *out, const float *best, const float *by, size_t bytes) {
    int64_t samples = one->walk.samples;
    NAME(floats) most = {0}, told = {0};
    NAME(marks) left = ~(NAME(marks)){0};
    memcpy(&most, best, bytes);
    memcpy(&told, by, bytes);
    for (const int64_t *tap = run.taps; tap < run.taps_end; tap += 2) {
        int64_t place = (run.cell + tap[0]) * samples;
        NAME(floats) cells = {0}, before = {0};
        memcpy(&cells, image + place, bytes);
        NAME(marks) hit = (cells == most) & left;
        if (!one->every)
            left &= ~hit;
        if (!one->apart)
            memcpy(&before, out + place, bytes);
        before += (NAME(floats))((NAME(marks))told & hit);
        memcpy(out + place, &before, bytes);
    }
}

INLINE void NAME(mean_back)(const struct pooling *one, struct run run, float *out, const float *by,
                            size_t bytes) {
    int64_t samples = one->walk.samples;
    NAME(floats) told = {0};
    memcpy(&told, by, bytes);
    told /= (float)((run.taps_end - run.taps) / 2);
    for (const int64_t *tap = run.taps; tap < run.taps_end; tap += 2) {
        int64_t place = (run.cell + tap[0]) * samples;
        NAME(floats) before = {0};
        if (!one->apart)
            memcpy(&before, out + place, bytes);
        before += told;
        memcpy(out + place, &before, bytes);
    }
}

TARGET static void NAME(pooled)(const struct pooling *one) {
    const struct walk *walk = &one->walk;
    for (int64_t turn = 0; turn < one->turns; turn++) {
        const float *image = one->image + turn * walk->cells * walk->samples;
        float *out = one->out + turn * walk->places * walk->samples;
        for (int64_t i = 0; i < walk->runs; i++)
            if (one->means)
                NAME(pool_run)(one, run_of(walk, i), image, out, 1);
            else
                NAME(pool_run)(one, run_of(walk, i), image, out, 0);
    }
}

TARGET static void NAME(pooled_back)(const struct pooling *one) {
    const struct walk *walk = &one->walk;
    int64_t samples = walk->samples, whole = WIDTH * (int64_t)sizeof(float);
    for (int64_t turn = 0; turn < one->turns; turn++) {
        int64_t first_cell = turn * walk->cells * samples, first = turn * walk->places * samples;
        float *out = one->out + first_cell;
        for (int64_t i = 0; i < walk->runs; i++) {
            struct run run = run_of(walk, i);
            int64_t length = run.length * samples, place = first + run.place * samples, at = 0;
            for (; at + WIDTH <= length; at += WIDTH)
                if (one->means)
                    NAME(mean_back)(one, run, out + at, one->by + place + at, (size_t)whole);
                else
                    NAME(most_back)(one, run, one->image + first_cell + at, out + at,
                                    one->best + place + at, one->by + place + at, (size_t)whole);
            size_t left = (size_t)(length - at) * sizeof(float);
            if (left && one->means)
                NAME(mean_back)(one, run, out + at, one->by + place + at, left);
            else if (left)
                NAME(most_back)(one, run, one->image + first_cell + at, out + at,
                                one->best + place + at, one->by + place + at, left);
        }
    }
}

#undef PRODUCTS
#undef NAMED
#undef TILES
#undef TILE
#undef SEEN
#undef AT
#undef INLINE
#undef WIDTH
#undef BYTES
#undef TARGET
#undef NAME
#undef ROWS
#undef MAPS
#undef TAPS
