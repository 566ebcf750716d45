/* What plans of flat arrays do between matrix products: windows, slopes and update rules.

   Rows of samples lie side by side; the rows of a node may lie in any order of its dimensions. */
#include "twins.h"
#include "vectors.h"

#include <math.h>

/* A product and a sum are rounded one after the other, as numpy's path rounds them. */
#if defined(__clang__)
#pragma clang fp contract(off)
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

#define MOST_DIMENSIONS 32
#define MOST_CONSTANTS 7

enum { RECTIFIER, SIGMOID, TANH, SLOPES };
enum { PLAIN_STEP, MOMENTUM_STEP, NESTEROV_STEP, ADADELTA_STEP, ADAM_STEP, STEPS };
/* How many vectors each of the steps remembers. */
static const int remembered[] = {0, 1, 1, 2, 2};

struct rule {
    int64_t kind, count;
    void *weights, *state[2];
    const void *gradient;
    double constants[MOST_CONSTANTS];
};

struct norm {
    double alpha, offset;
    int64_t whole, quarters;
};

/* A dimension of windows: how many places, how far on the next place and the next cell are (in
   numbers), and for each place its first cell, the cell behind its last, and its centre. */
struct dimension {
    int64_t count, place_step, cell_step;
    const int64_t *spans;
};

/* Windows over an image, and where a walk over them is: the sums over the dimensions up to each of
   how far the place, the first cell and the centre are.  ``seen`` lists how far the cells of the
   window at hand are from its first, in row-major order. */
struct sums {
    int64_t place, first, centre, cells;
};

struct windows {
    int64_t samples, rank, size, room, row, count;
    struct dimension dimensions[MOST_DIMENSIONS];
    int64_t at[MOST_DIMENSIONS];
    struct sums upto[MOST_DIMENSIONS + 1];
    int64_t *seen;
};

#define HERE(one) ((one).upto[(one).rank])

static void list_cells(struct windows *one) {
    int64_t *seen = one->seen, count = 1;
    seen[0] = 0;
    for (int64_t d = 0; d < one->rank; d++) {
        int64_t cells = one->upto[d + 1].cells, step = one->dimensions[d].cell_step;
        for (int64_t i = count - 1; i >= 0; i--)
            for (int64_t c = cells - 1; c >= 0; c--)
                seen[i * cells + c] = seen[i] + c * step;
        count *= cells;
    }
    one->count = count;
}

/* Sum up from a dimension on; cells are listed where windows of another size begin. */
static inline void locate(struct windows *one, int64_t from) {
    int64_t another = 0;
    for (int64_t d = from; d < one->rank; d++) {
        const struct dimension *axis = one->dimensions + d;
        const int64_t *span = axis->spans + 3 * one->at[d];
        struct sums *sums = one->upto + d;
        another |= sums[1].cells ^ (span[1] - span[0]);
        sums[1] = (struct sums){sums[0].place + one->at[d] * axis->place_step,
                                sums[0].first + span[0] * axis->cell_step,
                                sums[0].centre + span[2] * axis->cell_step, span[1] - span[0]};
    }
    if (another)
        list_cells(one);
}

/* Go to the first place, or to the last. */
static void start(struct windows *one, int last) {
    one->row = last ? one->size - 1 : 0;
    for (int64_t d = 0; d < one->rank; d++)
        one->at[d] = last ? one->dimensions[d].count - 1 : 0;
    locate(one, 0);
    list_cells(one);
}

static inline int at_place(const struct windows *one) {
    return one->row >= 0 && one->row < one->size;
}

/* Go to the next place in row-major order, or to the one before. */
static inline void step(struct windows *one, int64_t by) {
    one->row += by;
    if (!at_place(one))
        return;
    int64_t d = one->rank - 1;
    for (;; d--) {
        one->at[d] += by;
        if (one->at[d] >= 0 && one->at[d] < one->dimensions[d].count)
            break;
        one->at[d] = by > 0 ? 0 : one->dimensions[d].count - 1;
    }
    locate(one, d);
}

#define REAL float
#define WHOLE int32_t
#define ROOT sqrtf
#define BYTES 16
#define TARGET
#define NAME(what) what##_float_16
#include "plans.h"
#define REAL double
#define WHOLE int64_t
#define ROOT sqrt
#define BYTES 16
#define TARGET
#define NAME(what) what##_double_16
#include "plans.h"
#if defined(__x86_64__)
#define REAL float
#define WHOLE int32_t
#define ROOT sqrtf
#define BYTES 32
#define TARGET TARGET_32
#define NAME(what) what##_float_32
#include "plans.h"
#define REAL double
#define WHOLE int64_t
#define ROOT sqrt
#define BYTES 32
#define TARGET TARGET_32
#define NAME(what) what##_double_32
#include "plans.h"
#define REAL float
#define WHOLE int32_t
#define ROOT sqrtf
#define BYTES 64
#define TARGET TARGET_64
#define NAME(what) what##_float_64
#include "plans.h"
#define REAL double
#define WHOLE int64_t
#define ROOT sqrt
#define BYTES 64
#define TARGET TARGET_64
#define NAME(what) what##_double_64
#include "plans.h"
#endif
#define PASS(size, what, ...)                                                                      \
    do {                                                                                           \
        if ((size) == 4)                                                                           \
            WIDEST(what##_float, __VA_ARGS__);                                                     \
        else                                                                                       \
            WIDEST(what##_double, __VA_ARGS__);                                                    \
    } while (0)

static PyObject *refused(PyObject *kind, const char *why) {
    if (!PyErr_Occurred())
        PyErr_SetString(kind, why);
    return NULL;
}

static int is_size(int64_t size) { return (size == 4 || size == 8) && !PyErr_Occurred(); }

/* Read dimensions [rank, 3] and spans; how many numbers reach to the last place and cell. */
static int read_windows(struct windows *one, struct arrays *arrays, PyObject *const *given,
                        int64_t *places, int64_t *cells) {
    const int64_t *table = memory_of(arrays, given[0], 0, 0);
    if (!table)
        return 0;
    one->rank = arrays->views[arrays->count - 1].len / 24;
    const int64_t *spans = memory_of(arrays, given[1], 0, 0);
    if (!spans)
        return 0;
    int64_t rest = arrays->views[arrays->count - 1].len / 24;
    if (one->rank < 1 || one->rank > MOST_DIMENSIONS)
        return refused(PyExc_ValueError, "a size is out of range"), 0;
    one->size = one->room = 1;
    *places = *cells = one->samples;
    for (int64_t d = 0; d < one->rank; d++) {
        struct dimension *axis = one->dimensions + d;
        *axis = (struct dimension){table[3 * d], table[3 * d + 1], table[3 * d + 2], spans};
        int64_t most = 0, last = 0;
        int wrong = axis->count < 1 || axis->count > rest || axis->place_step < 0
                    || axis->cell_step < 0 || axis->place_step > INT32_MAX
                    || axis->cell_step > INT32_MAX || axis->count > INT32_MAX / one->size;
        for (int64_t p = 0; !wrong && p < axis->count; p++) {
            int64_t low = spans[3 * p], high = spans[3 * p + 1], centre = spans[3 * p + 2];
            wrong = low < 0 || high < low || high > INT32_MAX || centre < 0 || centre > INT32_MAX;
            most = high - low > most ? high - low : most;
            last = high - 1 > last ? high - 1 : last;
            last = centre > last ? centre : last;
        }
        if (wrong || most > INT32_MAX / one->room)
            return refused(PyExc_ValueError, "a place is out of range"), 0;
        rest -= axis->count;
        spans += 3 * axis->count;
        one->size *= axis->count;
        one->room *= most ? most : 1;
        *places += (axis->count - 1) * axis->place_step;
        *cells += last * axis->cell_step;
        if (*places > INT64_MAX / 64 || *cells > INT64_MAX / 64)
            return refused(PyExc_ValueError, "a place is out of range"), 0;
    }
    return 1;
}

/* Bytes of a number, samples, then dimensions and spans. */
static int opened(struct windows *one, struct arrays *arrays, PyObject *const *given,
                  Py_ssize_t count, Py_ssize_t wanted, int64_t *size, int64_t *places,
                  int64_t *cells) {
    if (count != wanted)
        return refused(PyExc_TypeError, "another number of arguments is needed"), 0;
    *size = PyLong_AsSsize_t(given[0]);
    one->samples = PyLong_AsSsize_t(given[1]);
    if (!is_size(*size) || one->samples < 1 || one->samples > INT32_MAX)
        return refused(PyExc_ValueError, "a size is out of range"), 0;
    if (!read_windows(one, arrays, given + 2, places, cells))
        return 0;
    one->seen = PyMem_Malloc((size_t)one->room * sizeof(int64_t));
    return one->seen ? 1 : (PyErr_NoMemory(), 0);
}

static PyObject *done(struct windows *one, struct arrays *arrays, int well) {
    PyMem_Free(one->seen);
    let_go(arrays);
    if (!well)
        return NULL;
    Py_INCREF(Py_None);
    return Py_None;
}

/* size, samples, dimensions, spans, means, image, places. */
PyObject *plan_pooled(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    (void)module;
    struct windows one = {0};
    struct arrays arrays = {.count = 0};
    int64_t size, places, cells;
    const void *image;
    void *out;
    int well = opened(&one, &arrays, given, count, 7, &size, &places, &cells)
               && (image = memory_of(&arrays, given[5], cells * size, 0))
               && (out = memory_of(&arrays, given[6], places * size, 1));
    if (well) {
        int means = PyObject_IsTrue(given[4]);
        Py_BEGIN_ALLOW_THREADS
        PASS(size, pooled, &one, image, out, means);
        Py_END_ALLOW_THREADS
    }
    return done(&one, &arrays, well);
}

/* size, samples, dimensions, spans, means, image and places (None of means), their gradients by
   places and by the image. */
PyObject *plan_pooled_back(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    (void)module;
    struct windows one = {0};
    struct arrays arrays = {.count = 0};
    int64_t size, places, cells;
    const void *image = NULL, *best = NULL, *by;
    void *down;
    int well = opened(&one, &arrays, given, count, 9, &size, &places, &cells);
    int means = well && PyObject_IsTrue(given[4]);
    well = well
           && (means
               || ((image = memory_of(&arrays, given[5], cells * size, 0))
                   && (best = memory_of(&arrays, given[6], places * size, 0))))
           && (by = memory_of(&arrays, given[7], places * size, 0))
           && (down = memory_of(&arrays, given[8], cells * size, 1));
    if (well) {
        int64_t whole = arrays.views[arrays.count - 1].len / size;
        Py_BEGIN_ALLOW_THREADS
        PASS(size, pooled_back, &one, image, best, by, down, whole, means);
        Py_END_ALLOW_THREADS
    }
    return done(&one, &arrays, well);
}

/* Alpha, offset, cells of the whole kernel (0: those that are real), beta in quarters. */
static int read_norm(struct norm *norm, PyObject *const *given) {
    norm->alpha = PyFloat_AsDouble(given[0]);
    norm->offset = PyFloat_AsDouble(given[1]);
    norm->whole = PyLong_AsSsize_t(given[2]);
    norm->quarters = PyLong_AsSsize_t(given[3]);
    if (PyErr_Occurred() || norm->whole < 0 || norm->quarters < 2 || norm->quarters > 3)
        return refused(PyExc_ValueError, "a size is out of range"), 0;
    return 1;
}

/* size, samples, dimensions, spans, the four of ``read_norm``, image, bases and powers [places,
   samples] in row-major order, places. */
PyObject *plan_normed(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    (void)module;
    struct windows one = {0};
    struct arrays arrays = {.count = 0};
    struct norm norm;
    int64_t size, places, cells;
    const void *image;
    void *bases, *powers, *out;
    int well = opened(&one, &arrays, given, count, 12, &size, &places, &cells)
               && read_norm(&norm, given + 4)
               && (image = memory_of(&arrays, given[8], cells * size, 0))
               && (bases = memory_of(&arrays, given[9], one.size * one.samples * size, 1))
               && (powers = memory_of(&arrays, given[10], one.size * one.samples * size, 1))
               && (out = memory_of(&arrays, given[11], places * size, 1));
    if (well) {
        Py_BEGIN_ALLOW_THREADS
        PASS(size, normed, &one, &norm, image, bases, powers, out);
        Py_END_ALLOW_THREADS
    }
    return done(&one, &arrays, well);
}

/* Cut windows over so many numbers into slices that share none, along a first dimension that has a cell
   for each place: how many there are, which may be one.  What belongs to a slice stays in the cache. */
static int64_t sliced(struct windows *one, int64_t cells) {
    struct dimension first = one->dimensions[0];
    int apart = one->rank > 1 && first.count * first.cell_step == cells;
    for (int64_t p = 0; apart && p < first.count; p++) {
        const int64_t *span = first.spans + 3 * p;
        apart = span[0] == p && span[1] == p + 1 && span[2] == p;
    }
    if (!apart)
        return 1;
    one->rank--;
    one->size /= first.count;
    memmove(one->dimensions, one->dimensions + 1, (size_t)one->rank * sizeof(struct dimension));
    return first.count;
}

/* size, samples, dimensions, spans, the four of ``read_norm``, image, bases, powers, places, their
   gradients by places and by the image. */
PyObject *plan_normed_back(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    (void)module;
    struct windows one = {0};
    struct arrays arrays = {.count = 0};
    struct norm norm;
    int64_t size, places, cells;
    const char *image, *bases, *powers, *made, *by;
    char *down;
    int well = opened(&one, &arrays, given, count, 14, &size, &places, &cells)
               && read_norm(&norm, given + 4)
               && (bases = memory_of(&arrays, given[9], one.size * one.samples * size, 0))
               && (powers = memory_of(&arrays, given[10], one.size * one.samples * size, 0))
               && (made = memory_of(&arrays, given[11], places * size, 0))
               && (by = memory_of(&arrays, given[12], places * size, 0))
               && (down = memory_of(&arrays, given[13], cells * size, 1));
    int64_t whole = well ? arrays.views[arrays.count - 1].len / size : 0;
    well = well && (image = memory_of(&arrays, given[8], whole * size, 0));
    if (well) {
        int64_t far = one.dimensions[0].place_step * size, slices = sliced(&one, whole);
        int64_t cells_far = whole / slices * size, places_far = one.size * one.samples * size;
        Py_BEGIN_ALLOW_THREADS
        for (int64_t i = 0; i < slices; i++)
            PASS(size, normed_back, &one, &norm, image + i * cells_far, bases + i * places_far,
                 powers + i * places_far, made + i * far, by + i * far, down + i * cells_far,
                 whole / slices);
        Py_END_ALLOW_THREADS
    }
    return done(&one, &arrays, well);
}

/* size, which function, what it gave, the gradient by that and by what it took. */
PyObject *plan_sloped(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    (void)module;
    if (count != 5)
        return refused(PyExc_TypeError, "another number of arguments is needed");
    int64_t size = PyLong_AsSsize_t(given[0]), kind = PyLong_AsSsize_t(given[1]);
    if (!is_size(size) || kind < 0 || kind >= SLOPES)
        return refused(PyExc_ValueError, "a size is out of range");
    struct arrays arrays = {.count = 0};
    PyObject *found = NULL;
    const void *kept, *by;
    void *out;
    if ((out = memory_of(&arrays, given[4], 0, 1))) {
        int64_t bytes = arrays.views[0].len;
        if ((kept = memory_of(&arrays, given[2], bytes, 0))
            && (by = memory_of(&arrays, given[3], bytes, 0))) {
            Py_BEGIN_ALLOW_THREADS
            PASS(size, sloped, kind, kept, by, out, bytes / size);
            Py_END_ALLOW_THREADS
            found = Py_None;
            Py_INCREF(found);
        }
    }
    let_go(&arrays);
    return found;
}

/* size, which rule, its constants, weights, gradient, what is remembered. */
PyObject *plan_stepped(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    (void)module;
    if (count < 5)
        return refused(PyExc_TypeError, "another number of arguments is needed");
    struct rule rule = {.kind = PyLong_AsSsize_t(given[1])};
    int64_t size = PyLong_AsSsize_t(given[0]);
    if (!is_size(size) || rule.kind < 0 || rule.kind >= STEPS)
        return refused(PyExc_ValueError, "a size is out of range");
    Py_ssize_t constants = PyTuple_Size(given[2]);
    if (PyErr_Occurred() || constants > MOST_CONSTANTS || count != 5 + remembered[rule.kind])
        return refused(PyExc_ValueError, "another number of arguments is needed");
    for (Py_ssize_t i = 0; i < constants; i++)
        rule.constants[i] = PyFloat_AsDouble(PyTuple_GetItem(given[2], i));
    struct arrays arrays = {.count = 0};
    int well = !PyErr_Occurred() && (rule.weights = memory_of(&arrays, given[3], 0, 1));
    int64_t bytes = well ? arrays.views[0].len : 0;
    well = well && (rule.gradient = memory_of(&arrays, given[4], bytes, 0));
    for (int i = 0; well && i < remembered[rule.kind]; i++)
        well = (rule.state[i] = memory_of(&arrays, given[5 + i], bytes, 1)) != NULL;
    if (well) {
        rule.count = bytes / size;
        Py_BEGIN_ALLOW_THREADS
        PASS(size, stepped, &rule);
        Py_END_ALLOW_THREADS
    }
    let_go(&arrays);
    if (!well)
        return NULL;
    Py_INCREF(Py_None);
    return Py_None;
}
