/* Convolution and pooling over images whose samples lie side by side, for the processor's vectors. */
#include "twins.h"
#include "vectors.h"
#include <math.h>

/* Weights whose gradients are summed up at a time. */
#define AT_A_TIME 30
/* The widest vector, in floats: so many samples there have to be at least. */
#define LEAST_SAMPLES 16
/* Numbers that are summed up in float; eight of a lane, or more of narrower vectors. */
#define BESIDE 128

/* A way over images: runs [runs, 4] of places beside each other that see the same taps: the first
   place, the cell that goes with it, how many, and which class of taps; classes [classes, 2]: where
   their taps begin and end; taps [taps, 2]: how far from that cell, and which weight, ascending. */
struct walk {
    int64_t samples, places, cells, runs, classes, taps;
    const int64_t *run, *class, *tap;
};

struct run {
    int64_t place, cell, length;
    const int64_t *taps, *taps_end;
};

struct moving {
    struct walk walk;
    int64_t maps;
    const float *image, *kernels, *biases;
    float *out;
};

struct joining {
    struct walk walk;
    int64_t maps, depth;
    const float *image, *by;
    float *out, *room;
};

struct pooling {
    struct walk walk;
    int64_t turns;
    int means, every, apart;
    const float *image, *best, *by;
    float *out;
};

static inline struct run run_of(const struct walk *walk, int64_t number) {
    const int64_t *found = walk->run + 4 * number, *class = walk->class + 2 * found[3];
    return (struct run){found[0], found[1], found[2], walk->tap + 2 * class[0],
                        walk->tap + 2 * class[1]};
}

/* The first tap of a run with this weight or a later one. */
static const int64_t *weight_from(struct run run, int64_t weight) {
    int64_t low = 0, high = (run.taps_end - run.taps) / 2;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (run.taps[2 * middle + 1] < weight)
            low = middle + 1;
        else
            high = middle;
    }
    return run.taps + 2 * low;
}

#define BYTES 16
#define NAME(what) what##_16
#define TARGET
#define ROWS 4
#define MAPS 3
#define TAPS 3
#include "windows.h"

#if defined(__x86_64__)
#define BYTES 32
#define NAME(what) what##_32
#define TARGET TARGET_32
#define ROWS 4
#define MAPS 3
#define TAPS 3
#include "windows.h"

#define BYTES 64
#define NAME(what) what##_64
#define TARGET TARGET_64
#define ROWS 8
#define MAPS 4
#define TAPS 6
#include "windows.h"
#endif

/* Whether no run of a walk leaves images, places or weights. */
static int inside(const struct walk *walk, int64_t depth) {
    int wrong = 0;
    int64_t *reach = PyMem_Malloc((size_t)(2 * walk->classes + 1) * sizeof(int64_t));
    if (!reach)
        return 0;
    for (int64_t i = 0; i < walk->classes && !wrong; i++) {
        int64_t begin = walk->class[2 * i], end = walk->class[2 * i + 1], low = 0, high = 0;
        if (begin < 0 || begin >= end || end > walk->taps) {
            wrong = 1;
            break;
        }
        low = high = walk->tap[2 * begin];
        for (int64_t t = begin; t < end; t++) {
            int64_t far = walk->tap[2 * t], weight = walk->tap[2 * t + 1];
            low = far < low ? far : low;
            high = far > high ? far : high;
            wrong |= weight < 0 || weight >= depth || (t > begin && weight <= walk->tap[2 * t - 1]);
        }
        reach[2 * i] = low;
        reach[2 * i + 1] = high;
    }
    for (int64_t i = 0; i < walk->runs && !wrong; i++) {
        const int64_t *run = walk->run + 4 * i;
        if (run[3] < 0 || run[3] >= walk->classes || run[2] < 1 || run[2] > walk->places
            || run[0] < 0 || run[0] > walk->places - run[2])
            wrong = 1;
        else
            wrong = run[1] + reach[2 * run[3]] < 0
                    || run[1] + reach[2 * run[3] + 1] > walk->cells - run[2];
    }
    PyMem_Free(reach);
    return !wrong;
}

/* Samples and, with the same bounds, another size; 0 with an exception where they make no sense. */
static int sized(PyObject *const *given, Py_ssize_t count, Py_ssize_t wanted, int64_t found[2]) {
    if (count != wanted) {
        PyErr_SetString(PyExc_TypeError, "another number of arguments is needed");
        return 0;
    }
    for (int i = 0; i < 2; i++) {
        found[i] = PyLong_AsSsize_t(given[i]);
        if (found[i] < (i ? 1 : LEAST_SAMPLES) || found[i] > INT32_MAX) {
            if (!PyErr_Occurred())
                PyErr_SetString(PyExc_ValueError, "a size is out of range");
            return 0;
        }
    }
    return 1;
}

/* Runs, classes and taps; 0 with an exception where there are none. */
static int walked(struct arrays *arrays, PyObject *const *given, struct walk *walk) {
    int first = arrays->count;
    if (!(walk->run = memory_of(arrays, given[0], 32, 0))
        || !(walk->class = memory_of(arrays, given[1], 16, 0))
        || !(walk->tap = memory_of(arrays, given[2], 16, 0)))
        return 0;
    walk->runs = arrays->views[first].len / 32;
    walk->classes = arrays->views[first + 1].len / 16;
    walk->taps = arrays->views[first + 2].len / 16;
    return 1;
}

/* The floats of the array that was taken last. */
static int64_t floats(const struct arrays *arrays) {
    return arrays->views[arrays->count - 1].len / 4;
}

static PyObject *outside(void) {
    PyErr_SetString(PyExc_ValueError, "a place is out of range");
    return NULL;
}

/* samples, maps, runs, classes, taps, image [cells, samples], kernels [weights, maps], biases [maps]
   of a rectifier or None, out [maps, places, samples]. */
PyObject *windows_moved(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    (void)module;
    int64_t sizes[2];
    if (!sized(given, count, 9, sizes))
        return NULL;
    struct moving one = {.walk.samples = sizes[0], .maps = sizes[1]};
    struct arrays arrays = {.count = 0};
    PyObject *found = NULL;
    if (!walked(&arrays, given + 2, &one.walk)
        || !(one.image = memory_of(&arrays, given[5], 0, 0)))
        goto end;
    one.walk.cells = floats(&arrays) / sizes[0];
    if (!(one.kernels = memory_of(&arrays, given[6], 0, 0)))
        goto end;
    int64_t depth = floats(&arrays) / sizes[1];
    if (given[7] != Py_None && !(one.biases = memory_of(&arrays, given[7], 4 * sizes[1], 0)))
        goto end;
    if (!(one.out = memory_of(&arrays, given[8], 0, 1)))
        goto end;
    one.walk.places = floats(&arrays) / sizes[0] / sizes[1];
    if (!inside(&one.walk, depth)) {
        found = outside();
        goto end;
    }
    Py_BEGIN_ALLOW_THREADS
    WIDEST(moved, &one);
    Py_END_ALLOW_THREADS
    found = Py_None;
    Py_INCREF(found);
end:
    let_go(&arrays);
    return found;
}

/* samples, maps, runs, classes, taps, image, by [maps, places, samples], out [weights, maps]. */
PyObject *windows_joined(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    (void)module;
    int64_t sizes[2];
    if (!sized(given, count, 8, sizes))
        return NULL;
    struct joining one = {.walk.samples = sizes[0], .maps = sizes[1]};
    struct arrays arrays = {.count = 0};
    PyObject *found = NULL;
    if (!walked(&arrays, given + 2, &one.walk)
        || !(one.image = memory_of(&arrays, given[5], 0, 0)))
        goto end;
    one.walk.cells = floats(&arrays) / sizes[0];
    if (!(one.by = memory_of(&arrays, given[6], 0, 0)))
        goto end;
    one.walk.places = floats(&arrays) / sizes[0] / sizes[1];
    if (!(one.out = memory_of(&arrays, given[7], 0, 1)))
        goto end;
    one.depth = floats(&arrays) / sizes[1];
    if (!inside(&one.walk, one.depth)) {
        found = outside();
        goto end;
    }
    /* Tiles reach beyond the last map and the last weight. */
    one.room = PyMem_Malloc((size_t)((AT_A_TIME + 6) * (one.maps + 4) * 16) * sizeof(float));
    if (!one.room) {
        PyErr_NoMemory();
        goto end;
    }
    Py_BEGIN_ALLOW_THREADS
    WIDEST(joined, &one);
    Py_END_ALLOW_THREADS
    PyMem_Free(one.room);
    found = Py_None;
    Py_INCREF(found);
end:
    let_go(&arrays);
    return found;
}

/* samples, turns (images that are walked over one after the other), runs, classes, taps, means (or
   the largest), image [turns, cells, samples], out [turns, places, samples]. */
PyObject *windows_pooled(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    (void)module;
    int64_t sizes[2];
    if (!sized(given, count, 8, sizes))
        return NULL;
    struct pooling one = {.walk.samples = sizes[0], .turns = sizes[1]};
    struct arrays arrays = {.count = 0};
    PyObject *found = NULL;
    one.means = PyObject_IsTrue(given[5]);
    if (!walked(&arrays, given + 2, &one.walk)
        || !(one.image = memory_of(&arrays, given[6], 0, 0)))
        goto end;
    one.walk.cells = floats(&arrays) / sizes[0] / sizes[1];
    if (!(one.out = memory_of(&arrays, given[7], 0, 1)))
        goto end;
    one.walk.places = floats(&arrays) / sizes[0] / sizes[1];
    if (!inside(&one.walk, INT64_MAX)) {
        found = outside();
        goto end;
    }
    Py_BEGIN_ALLOW_THREADS
    WIDEST(pooled, &one);
    Py_END_ALLOW_THREADS
    found = Py_None;
    Py_INCREF(found);
end:
    let_go(&arrays);
    return found;
}

/* samples, turns, runs, classes, taps, means, every (equal cell gets it), apart (no cell is in two
   windows), image, best and by [turns, places, samples], out [turns, cells, samples], which holds 0;
   of means there is neither an image nor a best. */
PyObject *windows_pooled_back(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    (void)module;
    int64_t sizes[2];
    if (!sized(given, count, 12, sizes))
        return NULL;
    struct pooling one = {.walk.samples = sizes[0], .turns = sizes[1]};
    struct arrays arrays = {.count = 0};
    PyObject *found = NULL;
    one.means = PyObject_IsTrue(given[5]);
    one.every = PyObject_IsTrue(given[6]);
    one.apart = PyObject_IsTrue(given[7]);
    if (!walked(&arrays, given + 2, &one.walk)
        || !(one.by = memory_of(&arrays, given[10], 0, 0)))
        goto end;
    int64_t values = arrays.views[arrays.count - 1].len;
    one.walk.places = floats(&arrays) / sizes[0] / sizes[1];
    if (!(one.out = memory_of(&arrays, given[11], 0, 1)))
        goto end;
    one.walk.cells = floats(&arrays) / sizes[0] / sizes[1];
    int64_t cells = arrays.views[arrays.count - 1].len;
    if (!one.means
        && (!(one.image = memory_of(&arrays, given[8], cells, 0))
            || !(one.best = memory_of(&arrays, given[9], values, 0))))
        goto end;
    if (!inside(&one.walk, INT64_MAX)) {
        found = outside();
        goto end;
    }
    Py_BEGIN_ALLOW_THREADS
    WIDEST(pooled_back, &one);
    Py_END_ALLOW_THREADS
    found = Py_None;
    Py_INCREF(found);
end:
    let_go(&arrays);
    return found;
}

/* maps, value and by [maps, numbers], out of the same shape, sums [maps]. */
PyObject *windows_rectified_back(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    (void)module;
    if (count != 5) {
        PyErr_SetString(PyExc_TypeError, "another number of arguments is needed");
        return NULL;
    }
    int64_t maps = PyLong_AsSsize_t(given[0]);
    if (maps < 1 || maps > INT32_MAX) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "a size is out of range");
        return NULL;
    }
    struct arrays arrays = {.count = 0};
    PyObject *found = NULL;
    const float *value, *by;
    float *out, *sums;
    if (!(value = memory_of(&arrays, given[1], 0, 0)))
        goto end;
    int64_t bytes = arrays.views[0].len;
    if (!(by = memory_of(&arrays, given[2], bytes, 0))
        || !(out = memory_of(&arrays, given[3], bytes, 1))
        || !(sums = memory_of(&arrays, given[4], 4 * maps, 1)))
        goto end;
    Py_BEGIN_ALLOW_THREADS
    WIDEST(rectified_back, value, by, maps, bytes / 4 / maps, out, sums);
    Py_END_ALLOW_THREADS
    found = Py_None;
    Py_INCREF(found);
end:
    let_go(&arrays);
    return found;
}
