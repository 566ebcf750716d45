/* Matrix products whose columns are samples, for the processor's vectors, in float and in double. */
#include "functions.h"
#include "twins.h"
#include "vectors.h"

/* Terms that are summed up before the next rows are: so many of a strip stay in the cache. */
#define DEPTH 256
/* Rows, and strips of three vectors, whose terms are put side by side at a time. */
#define BLOCK_ROWS 64
#define BLOCK_STRIPS 8
/* From so many bytes on, rows that lie apart are put side by side before they are read again. */
#define FAR_APART 512
/* The same of the terms of a row, if these are spread over so many bytes. */
#define SPREAD (1 << 18)
/* Up to so many terms, tiles are written row by row. */
#define SHALLOW 64
/* The bytes of the widest vector. */
#define WIDEST_BYTES 64

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define SHUFFLES
typedef float four __attribute__((vector_size(16)));
typedef float loose_four __attribute__((vector_size(16), aligned(4), may_alias));

/* Four columns by four terms, those of a column side by side, the other way round. */
static inline void turned_four(const float *from, int64_t column, float *to, int64_t row) {
    four a = *(const loose_four *)from, b = *(const loose_four *)(from + column);
    four c = *(const loose_four *)(from + 2 * column), d = *(const loose_four *)(from + 3 * column);
    four e = __builtin_shufflevector(a, b, 0, 4, 1, 5), f = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    four g = __builtin_shufflevector(c, d, 0, 4, 1, 5), h = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    *(loose_four *)to = __builtin_shufflevector(e, g, 0, 1, 4, 5);
    *(loose_four *)(to + row) = __builtin_shufflevector(e, g, 2, 3, 6, 7);
    *(loose_four *)(to + 2 * row) = __builtin_shufflevector(f, h, 0, 1, 4, 5);
    *(loose_four *)(to + 3 * row) = __builtin_shufflevector(f, h, 2, 3, 6, 7);
}
#endif
#endif

/* How far it is, in numbers, to the next matrix, row and column. */
struct steps {
    int64_t group, place, row, column;
};

/* out[g, p] = function(left[g, p] @ right[g, p] + bias[g]), for each of `groups` and `places`.  Places that
   lie on one another in `out` are summed up in their order, without bias and function; `adds`: to what
   is there already.  `lanes`: places are summed up, terms lie side by side on both sides, and sums need
   not go from the first term to the last. */
struct product {
    int64_t groups, places, rows, depth, columns;
    struct steps left, right, out;
    int64_t adds, function, lanes;
    const void *left_array, *right_array, *bias_array;
    void *out_array;
};

/* Where terms are put side by side: those of some columns, and those of some rows. */
struct room {
    void *columns, *rows;
};

static inline int64_t least(int64_t one, int64_t other) { return one < other ? one : other; }

/* So many in parts of which none is larger than another by more than one; the larger come first. */
struct cut {
    int64_t count, parts;
};

static inline int64_t cut_at(struct cut cut, int64_t part) {
    return part * (cut.count / cut.parts) + least(part, cut.count % cut.parts);
}

#define REAL float
#if defined(SHUFFLES)
#define TURNED turned_four
#endif

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
#undef TURNED
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

/* Room for a block, which calls leave to those that follow; who holds the lock of Python takes it. */
#define COLUMNS_ROOM (DEPTH * BLOCK_STRIPS * 3 * WIDEST_BYTES)
#define ROWS_ROOM ((DEPTH * 8 + WIDEST_BYTES) * (BLOCK_ROWS + 8))
#define MOST_ROOMS 16
static void *rooms[MOST_ROOMS];
static int rooms_count;

static void *taken_room(void) {
    return rooms_count ? rooms[--rooms_count] : PyMem_Malloc(COLUMNS_ROOM + ROWS_ROOM + WIDEST_BYTES);
}

static void left_room(void *room) {
    if (rooms_count < MOST_ROOMS)
        rooms[rooms_count++] = room;
    else
        PyMem_Free(room);
}

/* Sizes and steps, none of which may be so large that products of them overflow. */
#define NUMBERS 19
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
static int64_t reach(const struct product *one, struct steps steps, int64_t rows, int64_t columns) {
    int64_t counts[] = {one->groups, one->places, rows, columns};
    int64_t each[] = {steps.group, steps.place, steps.row, steps.column}, last = 0;
    for (int i = 0; i < 4; i++) {
        last += (counts[i] - 1) * each[i];
        if (last > INT64_MAX / 64)
            return -1;
    }
    return last + 1;
}

/* groups, places, rows, depth, columns; steps of left and of right to the next group, place, row and
   column; steps of out to the next group, place and row; whether to add; the number of the function, 0
   of none, 1 of the first; whether lanes are summed up alone; the bytes of a number;
   left, right, bias [groups, rows] or None, out. */
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
                          {n[9], n[10], n[11], n[12]}, {n[13], n[14], n[15], 1}, n[16], n[17] - 1,
                          n[18], NULL, NULL, NULL, NULL};
    int64_t taken = reach(&one, one.left, one.rows, one.depth);
    int64_t seen = reach(&one, one.right, one.depth, one.columns);
    int64_t made = reach(&one, one.out, one.rows, one.columns);
    int apart = one.depth > 1 && (one.left.column != 1 || one.right.row != 1);
    if (taken < 0 || seen < 0 || made < 0 || one.function >= FUNCTIONS || one.function == F_SOFTMAX
        || (one.lanes && (apart || one.out.place || one.adds || one.function >= 0))) {
        PyErr_SetString(PyExc_ValueError, "a size is out of range");
        return NULL;
    }
    struct arrays arrays = {.count = 0};
    PyObject *found = NULL;
    struct room room = {NULL, NULL};
    if (!(one.left_array = memory_of(&arrays, given[NUMBERS + 1], taken * bytes, 0))
        || !(one.right_array = memory_of(&arrays, given[NUMBERS + 2], seen * bytes, 0))
        || (given[NUMBERS + 3] != Py_None
            && !(one.bias_array = memory_of(&arrays, given[NUMBERS + 3],
                                            one.groups * one.rows * bytes, 0)))
        || !(one.out_array = memory_of(&arrays, given[NUMBERS + 4], made * bytes, 1)))
        goto end;
    void *memory = taken_room();
    if (!memory) {
        PyErr_NoMemory();
        goto end;
    }
    room.columns = (char *)memory + (WIDEST_BYTES - (uintptr_t)memory % WIDEST_BYTES);
    room.rows = (char *)room.columns + COLUMNS_ROOM;
    Py_BEGIN_ALLOW_THREADS
    if (bytes == 4)
        WIDEST(multiplied_floats, &one, room);
    else
        WIDEST(multiplied_doubles, &one, room);
    Py_END_ALLOW_THREADS
    left_room(memory);
    found = Py_None;
    Py_INCREF(found);
end:
    let_go(&arrays);
    return found;
}
