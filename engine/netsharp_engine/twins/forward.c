/* A network forward over rows: prepared once, then one call for any number of rows.

   A row's numbers lie in one stretch of memory, those of every node somewhere in it; what a row becomes
   depends on it alone.  The processor's vectors, in float and in double. */
#include "functions.h"
#include "twins.h"
#include "vectors.h"

#include <math.h>

/* The numbers of the widest vector lie together in a panel of weights. */
#define PANEL_BYTES 64
#define MOST_ROWS 12
#define MOST_PANELS 4
/* Terms that are summed up before the next rows are: so many of a strip stay in the cache. */
#define DEPTH 1024
/* Rows that are computed together, as far as their numbers stay in the cache. */
#define BLOCK_ROWS 24
/* So many bytes of the next rows' features are asked for at each term of a product. */
#define AHEAD_BYTES 8
#define BLOCK_BYTES (1 << 19)

enum { MULTIPLY, GATHER, POOL, NORM, ADD, APPLY, KINDS };
/* Modes of these, where they have some; those of a norm are beta in quarters, 2 or 3. */
enum { ALONE, ADDED };
enum { NOTHING, LOWEST, SQUARED };
enum { LARGEST, MEAN };

/* Places are in numbers from the begin of a row, those that end in _at in the table or in `numbers`.

   MULTIPLY: runs (from, length) from each place; size columns, depth terms; numbers_at: the panels
   [panel, depth, lanes]; more_at: biases, or -1.  GATHER: runs (from, to in out, length); size numbers.
   POOL, NORM: runs are distances of cells; size numbers side by side at each place; numbers_at: shares
   of the places; of a norm factors, depth on for the next place, whose centre stands beside it, and
   more_at the offset.  ADD, APPLY: size numbers of source to out; more_at: constants, or -1. */
struct step {
    int64_t kind, mode, source, out, size, places_at, places, runs_at, runs, depth, numbers_at, more_at;
};
#define WORDS ((int64_t)(sizeof(struct step) / sizeof(int64_t)))

struct network {
    int64_t bytes, row, features, outputs_at, outputs, block, count;
    const struct step *steps;
    const int64_t *table;
    const void *numbers;
    struct arrays arrays;
    void *room;
    int busy;
};

/* Rows of features, of float or double, and where the outputs go. */
struct given {
    int64_t rows, bytes;
    const void *features, *normal;
    void *outputs;
    int finite;
};

/* Features of the next rows, which come nearer while those at hand are computed. */
struct ahead {
    const char *next, *end;
};

static inline int64_t tile_number(const int *most, int64_t panels, int64_t rows) {
    int64_t number = rows - 1;
    for (int64_t p = 0; p < panels - 1; p++)
        number += most[p];
    return number;
}

/* Sums stay in registers where every loop over them is unrolled. */
#define UNROLLED _Pragma("GCC unroll 16")

/* Rows of tiles by panels: as many sums as there are registers for. */
#define MOST_16 {2, 1, 1, 1}
#define TILES_16(X) \
    X(1, 1) X(2, 1) \
    X(1, 2) \
    X(1, 3) \
    X(1, 4)
#define MOST_32 {6, 3, 1, 1}
#define TILES_32(X) \
    X(1, 1) X(2, 1) X(3, 1) X(4, 1) X(5, 1) X(6, 1) \
    X(1, 2) X(2, 2) X(3, 2) \
    X(1, 3) \
    X(1, 4)
#define MOST_64 {12, 12, 8, 6}
#define TILES_64(X) \
    X(1, 1) X(2, 1) X(3, 1) X(4, 1) X(5, 1) X(6, 1) X(7, 1) X(8, 1) \
    X(9, 1) X(10, 1) X(11, 1) X(12, 1) \
    X(1, 2) X(2, 2) X(3, 2) X(4, 2) X(5, 2) X(6, 2) X(7, 2) X(8, 2) \
    X(9, 2) X(10, 2) X(11, 2) X(12, 2) \
    X(1, 3) X(2, 3) X(3, 3) X(4, 3) X(5, 3) X(6, 3) X(7, 3) X(8, 3) \
    X(1, 4) X(2, 4) X(3, 4) X(4, 4) X(5, 4) X(6, 4)

#define REAL float
#define WHOLE int32_t
#define ROOT sqrtf
#define BYTES 16
#define TARGET
#define NAME(what) what##_float_16
#define MOST_OF_PANELS MOST_16
#define TILES TILES_16
#include "forward_of.h"
#if defined(__x86_64__)
#define BYTES 32
#define TARGET TARGET_32
#define NAME(what) what##_float_32
#define MOST_OF_PANELS MOST_32
#define TILES TILES_32
#include "forward_of.h"
#define BYTES 64
#define TARGET TARGET_64
#define NAME(what) what##_float_64
#define MOST_OF_PANELS MOST_64
#define TILES TILES_64
#include "forward_of.h"
#endif
#undef REAL
#undef WHOLE
#undef ROOT

#define REAL double
#define WHOLE int64_t
#define ROOT sqrt
#define BYTES 16
#define TARGET
#define NAME(what) what##_double_16
#define MOST_OF_PANELS MOST_16
#define TILES TILES_16
#include "forward_of.h"
#if defined(__x86_64__)
#define BYTES 32
#define TARGET TARGET_32
#define NAME(what) what##_double_32
#define MOST_OF_PANELS MOST_32
#define TILES TILES_32
#include "forward_of.h"
#define BYTES 64
#define TARGET TARGET_64
#define NAME(what) what##_double_64
#define MOST_OF_PANELS MOST_64
#define TILES TILES_64
#include "forward_of.h"
#endif
#undef REAL
#undef WHOLE
#undef ROOT

static void *aligned(void *memory) { return (void *)(((uintptr_t)memory + 63) & ~(uintptr_t)63); }

static void *made_room(const struct network *one) {
    size_t bytes = (size_t)(one->row * one->block * one->bytes + 2 * PANEL_BYTES);
    void *room = PyMem_Malloc(bytes);
    return room ? memset(room, 0, bytes) : NULL;
}

static void forget(PyObject *capsule) {
    struct network *one = PyCapsule_GetPointer(capsule, NULL);
    let_go(&one->arrays);
    PyMem_Free(one->room);
    PyMem_Free(one);
}

static int inside(int64_t from, int64_t count, int64_t whole) {
    return from >= 0 && count >= 0 && from <= whole && count <= whole - from;
}

/* Whether a step stays in its row, the table and the numbers, of which there are so many. */
static int is_sound(const struct network *one, const struct step *step, int64_t words, int64_t numbers) {
    int64_t lanes = PANEL_BYTES / one->bytes, row = one->row - lanes, wide = step->size + lanes;
    int64_t each = step->kind == NORM ? 2 : 1;
    int64_t length = step->kind == GATHER ? 3 : step->kind == MULTIPLY ? 2 : 1;
    if (step->kind < 0 || step->kind >= KINDS || step->size < 1 || step->size > INT32_MAX
        || step->places < 0 || step->places > INT32_MAX || step->runs < 0 || step->runs > INT32_MAX
        || step->depth < 0 || step->depth > INT32_MAX || step->source < 0 || step->out < 0
        || !inside(step->places_at, step->places * each, words)
        || !inside(step->runs_at, step->runs * length, words))
        return 0;
    const int64_t *places = one->table + step->places_at, *runs = one->table + step->runs_at;
    int64_t panels = (step->size + lanes - 1) / lanes, least = 0, most = 0, depth = 0;
    switch (step->kind) {
    case ADD:
    case APPLY:
        return inside(step->source, step->size, row) && inside(step->out, step->size, row)
               && (step->kind == ADD || (step->mode >= 0 && step->mode < FUNCTIONS))
               && (step->kind == APPLY || step->more_at < 0
                   || inside(step->more_at, step->size, numbers));
    case GATHER:
        for (int64_t n = 0; n < step->runs; n++)
            if (!inside(runs[3 * n], runs[3 * n + 2], row)
                || !inside(runs[3 * n + 1], runs[3 * n + 2], step->size))
                return 0;
        return inside(step->out, step->size, row);
    case MULTIPLY:
        for (int64_t n = 0; n < step->runs; n++, depth += runs[2 * n - 1]) {
            if (!inside(runs[2 * n], runs[2 * n + 1], row) || runs[2 * n + 1] < 1)
                return 0;
            most = runs[2 * n] + runs[2 * n + 1] > most ? runs[2 * n] + runs[2 * n + 1] : most;
        }
        if (depth != step->depth || depth > INT64_MAX / 64 / lanes / panels || !step->places
            || (step->mode == ADDED && step->places > 1)
            || !inside(step->numbers_at, panels * lanes * depth, numbers)
            || (step->more_at >= 0 && !inside(step->more_at, panels * lanes, numbers)))
            return 0;
        for (int64_t p = 0; p < step->places; p++)
            if (places[p] < 0 || !inside(step->source + places[p], most, row))
                return 0;
        return inside(step->out, step->places * step->size, row);
    default:
        for (int64_t t = 0; t < step->runs; t++) {
            if (runs[t] < -one->row || runs[t] > one->row)
                return 0;
            least = runs[t] < least ? runs[t] : least;
            most = runs[t] > most ? runs[t] : most;
        }
        for (int64_t p = 0; p < step->places * each; p++)
            if (!inside(places[p] + (p % each ? 0 : least), step->size, row)
                || !inside(places[p] + (p % each ? 0 : most), step->size, row))
                return 0;
        if (step->kind == NORM && step->mode != 2 && step->mode != 3)
            return 0;
        int64_t shares = step->kind == NORM ? (step->places - 1) * step->depth + wide : step->places;
        return step->runs > 0 && inside(step->out, step->places * step->size, row)
               && (step->kind == POOL || inside(step->more_at, 1, numbers))
               && (step->mode == LARGEST || inside(step->numbers_at, shares, numbers));
    }
}

/* The bytes of a number; the numbers of a row; features, which are its first; where outputs begin, and
   how many there are; steps, the table that they refer to, and the network's numbers. */
PyObject *forward_made(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    (void)module;
    int64_t n[5];
    if (count != 8) {
        PyErr_SetString(PyExc_TypeError, "another number of arguments is needed");
        return NULL;
    }
    for (int i = 0; i < 5; i++)
        if (((n[i] = PyLong_AsSsize_t(given[i])) < 0 || n[i] > INT32_MAX) && !PyErr_Occurred())
            n[0] = 0;
    struct network *one = PyErr_Occurred() ? NULL : PyMem_Calloc(1, sizeof(struct network));
    if (!one)
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    one->bytes = n[0], one->row = n[1], one->features = n[2], one->outputs_at = n[3], one->outputs = n[4];
    int well = (one->steps = memory_of(&one->arrays, given[5], 0, 0))
               && (one->table = memory_of(&one->arrays, given[6], 0, 0))
               && (one->numbers = memory_of(&one->arrays, given[7], 0, 0));
    if (well) {
        int64_t words = one->arrays.views[1].len / 8;
        one->count = one->arrays.views[0].len / 8 / WORDS;
        well = (n[0] == 4 || n[0] == 8) && n[4] > 0 && n[2] > 0
               && inside(0, n[2] + PANEL_BYTES / n[0], n[1])
               && inside(n[3], n[4], n[1] - PANEL_BYTES / n[0]);
        for (int64_t s = 0; well && s < one->count; s++)
            well = is_sound(one, one->steps + s, words, one->arrays.views[2].len / n[0]);
        if (!well)
            PyErr_SetString(PyExc_ValueError, "a size is out of range");
    }
    if (well) {
        int64_t fit = BLOCK_BYTES / (one->row * one->bytes) / MOST_ROWS * MOST_ROWS;
        one->block = fit < MOST_ROWS ? MOST_ROWS : fit < BLOCK_ROWS ? fit : BLOCK_ROWS;
        if (!(one->room = made_room(one)))
            PyErr_NoMemory();
    }
    PyObject *capsule = one->room ? PyCapsule_New(one, NULL, forget) : NULL;
    if (!capsule) {
        let_go(&one->arrays);
        PyMem_Free(one->room);
        PyMem_Free(one);
    }
    return capsule;
}

/* Rows of features [rows, features]: false where they are no such array of float or double. */
static int rows_of(const struct network *one, struct arrays *arrays, PyObject *array,
                   struct given *given) {
    Py_buffer *view = arrays->views;
    if (PyObject_GetBuffer(array, view, PyBUF_ND | PyBUF_FORMAT)) {
        PyErr_Clear();
        return 0;
    }
    arrays->count = 1;
    char kind = view->format && !view->format[1] ? view->format[0] : 0;
    given->bytes = view->itemsize;
    given->features = view->buf;
    given->rows = view->ndim == 2 ? view->shape[0] : 0;
    return view->ndim == 2 && view->shape[1] == one->features && (kind == 'f' || kind == 'd');
}

/* A network; rows of features [rows, features]; how they are normalised, [4, features], or None;
   outputs [rows, outputs]; whether all features have to be finite.  True where outputs were written,
   False where the features are no contiguous array of float or double, or not finite. */
PyObject *forward_computed(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    if (count != 5) {
        PyErr_SetString(PyExc_TypeError, "another number of arguments is needed");
        return NULL;
    }
    struct network *one = PyCapsule_GetPointer(args[0], NULL);
    if (!one)
        return NULL;
    struct arrays arrays = {.count = 0};
    struct given given = {.finite = PyObject_IsTrue(args[4])};
    int fits = rows_of(one, &arrays, args[1], &given), well = fits;
    well = well && (given.outputs = memory_of(&arrays, args[3],
                                              given.rows * one->outputs * one->bytes, 1));
    well = well
           && (args[2] == Py_None
               || (given.normal = memory_of(&arrays, args[2], 4 * one->features * one->bytes, 0)));
    void *room = NULL, *own = NULL;
    if (well) {
        if (one->busy && !(own = made_room(one)))
            PyErr_NoMemory();
        room = one->busy ? own : one->room;
        well = room != NULL;
    }
    if (well) {
        int outer = one->busy, done;
        one->busy = 1;
        Py_BEGIN_ALLOW_THREADS
        room = aligned(room);
        if (one->bytes == 4)
            done = WIDEST(computed_float, one, &given, room);
        else
            done = WIDEST(computed_double, one, &given, room);
        Py_END_ALLOW_THREADS
        if (!outer)
            one->busy = 0;
        fits = done;
    }
    PyMem_Free(own);
    let_go(&arrays);
    return well || !fits ? PyBool_FromLong(fits) : NULL;
}
