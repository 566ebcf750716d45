/* CNTK's update rules for all parameters at once: new numbers and what is remembered of each. */
#include "twins.h"
#include "vectors.h"

#include <math.h>

/* A product and a sum are rounded one after the other, as numpy's path rounds them. */
#if defined(__clang__)
#pragma clang fp contract(off)
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

/* As in tensor_backend/updates.py: the first three are floats there, whatever the numbers are. */
#define LEAST_SQUARE 1e-16f
#define LEAST_MEAN_SQUARE 1e-6f
#define LARGEST_GAIN 10
#define FIRST_STEP 0.02

enum { PLAIN, SMOOTHED, ADAGRAD, FSADAGRAD, RMSPROP };
/* How many arrays each kind remembers of a parameter. */
static const int64_t remembers[] = {0, 1, 1, 2, 3};
enum { KIND, RATE, MOMENTUM, NESTEROV, BOUND, L2, L1, REST, CONSTANTS = REST + 6 };

/* One parameter.  ``places`` are the rows that its gradient has, NULL for all. */
struct job {
    int64_t kind, count, rows, width;
    int nesterov;
    double rate, momentum, bound, l2, l1;
    const double *rest;
    const int64_t *places;
    const void *gradient;
    void *values, *before[3], *next, *after[3];
};

#define REAL float
#define ROOT sqrtf
#define TARGET
#define NAME(what) what##_float_16
#include "updates.h"
#define REAL double
#define ROOT sqrt
#define TARGET
#define NAME(what) what##_double_16
#include "updates.h"
#if defined(__x86_64__)
#define HAS_WIDE (has_32())
#define REAL float
#define ROOT sqrtf
#define TARGET __attribute__((target("avx2")))
#define NAME(what) what##_float_32
#include "updates.h"
#define REAL double
#define ROOT sqrt
#define TARGET __attribute__((target("avx2")))
#define NAME(what) what##_double_32
#include "updates.h"
#define PASS(what, type, one)                                                                      \
    (HAS_WIDE ? what##_##type##_32(one) : what##_##type##_16(one))
#else
#define PASS(what, type, one) what##_##type##_16(one)
#endif

/* Put new rows where they belong. */
static void put(const struct job *one, size_t size) {
    size_t bytes = (size_t)one->width * size;
    for (int64_t row = 0; row < one->rows; row++) {
        size_t from = (size_t)row * bytes, to = (size_t)one->places[row] * bytes;
        memcpy((char *)one->values + to, (char *)one->next + from, bytes);
        if (one->after[0])
            memcpy((char *)one->before[0] + to, (char *)one->after[0] + from, bytes);
    }
}

/* The first of the jobs whose numbers are not finite then, or -1: only then rows are put in. */
static int64_t updated(const struct job *jobs, int64_t count, int64_t size) {
    for (int64_t i = 0; i < count; i++) {
        const struct job *one = jobs + i;
        int wrong = one->places ? (size == 4 ? PASS(rows, float, one) : PASS(rows, double, one))
                                : (size == 4 ? PASS(whole, float, one) : PASS(whole, double, one));
        if (wrong)
            return i;
    }
    for (int64_t i = 0; i < count; i++)
        if (jobs[i].places)
            put(jobs + i, (size_t)size);
    return -1;
}

/* One job of a tuple: constants, places or None, gradient, values, the next ones of these and of
   what is remembered, and what is remembered. */
static int read_job(struct job *one, struct arrays *arrays, PyObject *given, int64_t size) {
    Py_ssize_t length = PyTuple_Size(given);
    if (length < 5 || length > 11) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "a job has another number of parts");
        return 0;
    }
    const double *told = memory_of(arrays, PyTuple_GetItem(given, 0), CONSTANTS * 8, 0);
    if (!told)
        return 0;
    one->kind = (int64_t)told[KIND];
    if (one->kind < PLAIN || one->kind > RMSPROP) {
        PyErr_SetString(PyExc_ValueError, "there is no such rule");
        return 0;
    }
    one->rate = told[RATE], one->momentum = told[MOMENTUM], one->nesterov = told[NESTEROV] != 0;
    one->bound = told[BOUND], one->l2 = told[L2], one->l1 = told[L1], one->rest = told + REST;
    PyObject *places = PyTuple_GetItem(given, 1);
    if (places != Py_None && !(one->places = memory_of(arrays, places, 0, 0)))
        return 0;
    one->rows = one->places ? arrays->views[1].len / 8 : 0;
    if (!(one->gradient = memory_of(arrays, PyTuple_GetItem(given, 2), 0, 0)))
        return 0;
    int64_t bytes = arrays->views[arrays->count - 1].len;
    if (!(one->values = memory_of(arrays, PyTuple_GetItem(given, 3), one->places ? 0 : bytes, 1)))
        return 0;
    int64_t whole = arrays->views[arrays->count - 1].len;
    if (!(one->next = memory_of(arrays, PyTuple_GetItem(given, 4), bytes, 1)))
        return 0;
    int64_t kept = one->places && one->kind > ADAGRAD ? 1 : remembers[one->kind];
    if (length < 5 + 2 * kept) {
        PyErr_SetString(PyExc_ValueError, "a job has another number of parts");
        return 0;
    }
    for (int64_t i = 0; i < kept; i++)
        if (!(one->after[i] = memory_of(arrays, PyTuple_GetItem(given, 5 + i), bytes, 1))
            || !(one->before[i] = memory_of(arrays, PyTuple_GetItem(given, 5 + kept + i), whole, 1)))
            return 0;
    one->count = bytes / size;
    if (!one->places && whole != bytes) {
        PyErr_SetString(PyExc_ValueError, "a gradient has another size");
        return 0;
    }
    if (one->rows) {
        one->width = one->count / one->rows;
        for (int64_t i = 0; i < one->rows; i++)
            if (one->places[i] < 0 || one->places[i] >= whole / size / (one->width ? one->width : 1)) {
                PyErr_SetString(PyExc_ValueError, "a place is out of range");
                return 0;
            }
    }
    return 1;
}

/* Bytes of a number, and a tuple of jobs: the first that goes wrong, or -1. */
PyObject *rules_applied(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    (void)module;
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "another number of arguments is needed");
        return NULL;
    }
    int64_t size = PyLong_AsSsize_t(given[0]), jobs = PyTuple_Size(given[1]), ready = 0, wrong;
    if (PyErr_Occurred())
        return NULL;
    if (size != 4 && size != 8) {
        PyErr_SetString(PyExc_ValueError, "a size is out of range");
        return NULL;
    }
    PyObject *found = NULL;
    struct job *all = PyMem_Calloc((size_t)jobs + 1, sizeof(struct job));
    struct arrays *arrays = PyMem_Calloc((size_t)jobs + 1, sizeof(struct arrays));
    if (!all || !arrays) {
        PyErr_NoMemory();
        goto end;
    }
    for (; ready < jobs; ready++)
        if (!read_job(all + ready, arrays + ready, PyTuple_GetItem(given[1], ready), size)) {
            ready++;
            goto end;
        }
    Py_BEGIN_ALLOW_THREADS
    wrong = updated(all, jobs, size);
    Py_END_ALLOW_THREADS
    found = PyLong_FromSsize_t((Py_ssize_t)wrong);
end:
    for (int64_t i = 0; arrays && i < ready; i++)
        let_go(arrays + i);
    PyMem_Free(all);
    PyMem_Free(arrays);
    return found;
}
