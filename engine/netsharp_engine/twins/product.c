/* Matrix products whose columns are samples, for the processor's vectors, in float and in double. */
#include "twins.h"
#include "vectors.h"

/* Terms that are summed up before the next rows are: so many of a strip stay in the cache. */
#define DEPTH 1024
/* From so many bytes on, rows that lie apart are put side by side before they are read again. */
#define FAR_APART 512
/* The bytes of the widest vector. */
#define WIDEST_BYTES 64

/* How far it is, in numbers, to the next matrix, row and column. */
struct steps {
    int64_t group, place, row, column;
};

/* out[g, p] = left[g] @ right[g, p] + bias[g], for each of `groups` and `places`. */
struct product {
    int64_t groups, places, rows, depth, columns;
    struct steps right, out;
    const void *left_array, *right_array, *bias_array;
    void *out_array;
};

/* Where columns are gathered, and where rows are made that are longer than those of `out`. */
struct room {
    void *gathered, *made;
};

#define REAL float

#define BYTES 16
#define NAME(what) what##_floats_16
#define TARGET
#define ROWS 4
#include "product.h"

#if defined(__x86_64__)
#define BYTES 32
#define NAME(what) what##_floats_32
#define TARGET TARGET_32
#define ROWS 4
#include "product.h"

#define BYTES 64
#define NAME(what) what##_floats_64
#define TARGET TARGET_64
#define ROWS 8
#include "product.h"
#endif

#undef REAL
#define REAL double

#define BYTES 16
#define NAME(what) what##_doubles_16
#define TARGET
#define ROWS 4
#include "product.h"

#if defined(__x86_64__)
#define BYTES 32
#define NAME(what) what##_doubles_32
#define TARGET TARGET_32
#define ROWS 4
#include "product.h"

#define BYTES 64
#define NAME(what) what##_doubles_64
#define TARGET TARGET_64
#define ROWS 8
#include "product.h"
#endif

/* Sizes and steps, none of which may be so large that products of them overflow. */
#define NUMBERS 12
static int numbered(PyObject *const *given, int64_t found[NUMBERS]) {
    for (int i = 0; i < NUMBERS; i++) {
        found[i] = PyLong_AsSsize_t(given[i]);
        if (found[i] < (i < 5 ? 1 : 0) || found[i] > INT32_MAX) {
            if (!PyErr_Occurred())
                PyErr_SetString(PyExc_ValueError, "a size is out of range");
            return 0;
        }
    }
    return 1;
}

/* The numbers between the first and the last that are reached; -1 where they are too many. */
static int64_t reach(const struct product *one, struct steps steps, int64_t rows) {
    int64_t counts[] = {one->groups, one->places, rows, one->columns};
    int64_t each[] = {steps.group, steps.place, steps.row, steps.column}, last = 0;
    for (int i = 0; i < 4; i++)
        last += (counts[i] - 1) * each[i];
    return last < INT64_MAX / 64 ? last + 1 : -1;
}

/* groups, places, rows, depth, columns; steps of right to the next group, place, row and column;
   steps of out to the next group, place and row; the bytes of a number;
   left [groups, rows, depth]; right; bias [groups, rows] or None; out. */
PyObject *product(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    (void)module;
    if (count != NUMBERS + 5) {
        PyErr_SetString(PyExc_TypeError, "another number of arguments is needed");
        return NULL;
    }
    int64_t n[NUMBERS];
    int64_t bytes = PyLong_AsSsize_t(given[NUMBERS]);
    if (!numbered(given, n))
        return NULL;
    if (bytes != 4 && bytes != 8) {
        PyErr_SetString(PyExc_ValueError, "a number has 4 or 8 bytes");
        return NULL;
    }
    struct product one = {n[0], n[1], n[2], n[3], n[4], {n[5], n[6], n[7], n[8]},
                          {n[9], n[10], n[11], 1}, NULL, NULL, NULL, NULL};
    int64_t seen = reach(&one, one.right, one.depth), made = reach(&one, one.out, one.rows);
    if (seen < 0 || made < 0 || one.groups > INT64_MAX / 64 / one.rows / one.depth) {
        PyErr_SetString(PyExc_ValueError, "a size is out of range");
        return NULL;
    }
    struct arrays arrays = {.count = 0};
    PyObject *found = NULL;
    struct room room = {NULL, NULL};
    if (!(one.left_array = memory_of(&arrays, given[13], one.groups * one.rows * one.depth * bytes, 0))
        || !(one.right_array = memory_of(&arrays, given[14], seen * bytes, 0))
        || (given[15] != Py_None
            && !(one.bias_array = memory_of(&arrays, given[15], one.groups * one.rows * bytes, 0)))
        || !(one.out_array = memory_of(&arrays, given[16], made * bytes, 1)))
        goto end;
    int64_t gathered = (one.depth < DEPTH ? one.depth : DEPTH) * 3 * WIDEST_BYTES;
    /* Three vectors are longer than what is there at most by one number less than all. */
    int64_t longer = one.columns * bytes < 3 * WIDEST_BYTES ? one.rows * 3 * WIDEST_BYTES : 0;
    if (!(room.gathered = PyMem_Malloc((size_t)(gathered + longer)))) {
        PyErr_NoMemory();
        goto end;
    }
    room.made = (char *)room.gathered + gathered;
    Py_BEGIN_ALLOW_THREADS
    if (bytes == 4)
        WIDEST(multiplied_floats, &one, room);
    else
        WIDEST(multiplied_doubles, &one, room);
    Py_END_ALLOW_THREADS
    PyMem_Free(room.gathered);
    found = Py_None;
    Py_INCREF(found);
end:
    let_go(&arrays);
    return found;
}
