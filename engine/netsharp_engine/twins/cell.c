/* A cell of long short-term memory, forward and back, for the vectors that the processor has. */
#include "twins.h"
#include "vectors.h"

/* Below it exp is 0 for what is added to 1, and is no subnormal number yet. */
#define EXP_IS_ZERO (-87.0f)
#define LOG2_E 1.44269504f
/* Added to a number it rounds it, and leaves the whole number in the last bits. */
#define ROUNDING 12582912.0f
#define LN2_HIGH 0.693359375f
#define LN2_LOW (-2.12194440e-4f)

/* The columns that belong to no sequence, in their order. */
struct gaps {
    const int64_t *columns;
    int64_t count;
};

struct forward {
    int64_t steps, rows, size;
    int backwards;
    const float *told, *weights, *first_output;
    const double *first_state;
    const int64_t *starts, *borders;
    struct gaps gaps;
    float *before, *outputs, *states, *slopes, *panels;
    double *running;
};

struct backward {
    int64_t steps, rows, size;
    int backwards;
    const float *slopes, *weights, *told_outputs, *told_states;
    const int64_t *starts, *borders;
    struct gaps gaps;
    float *by, *back, *running, *panels;
    double *first_output, *first_state, *by_bias;
};

/* Which of the gaps are in a step, from ``begin`` to before ``end``. */
static void gaps_of(struct gaps gaps, int64_t step, int64_t rows, int64_t *begin, int64_t *end) {
    for (int which = 0; which < 2; which++) {
        int64_t low = 0, high = gaps.count;
        while (low < high) {
            int64_t middle = (low + high) / 2;
            if (gaps.columns[middle] < (step + which) * rows)
                low = middle + 1;
            else
                high = middle;
        }
        *(which ? end : begin) = low;
    }
}

#define BYTES 16
#define NAME(what) what##_16
#define TARGET
#ifdef __aarch64__
#define ROWS 6
#else
#define ROWS 3
#endif
#include "cell.h"

#if defined(__x86_64__)
#define BYTES 32
#define NAME(what) what##_32
#define TARGET TARGET_32
#define ROWS 3
#include "cell.h"

#define BYTES 64
#define NAME(what) what##_64
#define TARGET TARGET_64
#define ROWS 6
#include "cell.h"
#endif

/* A pass in the widest vectors that this machine has. */
static void forward(const struct forward *one) { WIDEST(forward, one); }

static void backward(const struct backward *one) { WIDEST(backward, one); }

/* Steps, rows, cells and the direction; 0 with an exception where they make no sense. */
static int sizes(PyObject *const *given, Py_ssize_t count, Py_ssize_t wanted, int64_t found[4]) {
    if (count != wanted) {
        PyErr_SetString(PyExc_TypeError, "another number of arguments is needed");
        return 0;
    }
    for (int i = 0; i < 4; i++) {
        found[i] = PyLong_AsSsize_t(given[i]);
        if (found[i] < (i == 1 || i == 2) || found[i] > INT32_MAX) {
            if (!PyErr_Occurred())
                PyErr_SetString(PyExc_ValueError, "a size is out of range");
            return 0;
        }
    }
    return 1;
}

/* Whether borders are rows of steps that there are. */
static int bounded(const int64_t *starts, const int64_t *borders, int64_t steps, int64_t rows,
                   int64_t count) {
    if (starts[0] != 0 || starts[steps] > count)
        return 0;
    for (int64_t i = 0; i < steps; i++)
        if (starts[i] > starts[i + 1])
            return 0;
    for (int64_t i = 0; i < starts[steps]; i++)
        if (borders[i] < 0 || borders[i] >= rows)
            return 0;
    return 1;
}

/* Whether gaps are columns, in their order. */
static int in_order(const int64_t *gaps, int64_t count, int64_t columns) {
    for (int64_t i = 0; i < count; i++)
        if (gaps[i] < 0 || gaps[i] >= columns || (i && gaps[i] <= gaps[i - 1]))
            return 0;
    return 1;
}

/* The cells of slopes in a column, whatever the vectors. */
static int64_t padded(int64_t size) { return (size + 15) / 16 * 16; }

/* The floats of panels, whatever the vectors. */
static int64_t panels(int64_t size) { return 4 * size * ((size + 63) / 64 * 64); }

PyObject *cell_forward(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    (void)module;
    int64_t sized[4];
    if (!sizes(given, count, 17, sized))
        return NULL;
    struct forward one = {.steps = sized[0], .rows = sized[1], .size = sized[2],
                          .backwards = (int)sized[3]};
    struct arrays arrays = {.count = 0};
    int64_t columns = one.steps * one.rows, cells = columns * one.size, real = sizeof(float), wide = sizeof(double);
    PyObject *found = NULL;
    if (!(one.told = memory_of(&arrays, given[4], 4 * cells * real, 0))
        || !(one.weights = memory_of(&arrays, given[5], 4 * one.size * one.size * real, 0))
        || !(one.first_output = memory_of(&arrays, given[6], one.size * real, 0))
        || !(one.first_state = memory_of(&arrays, given[7], one.size * wide, 0))
        || !(one.starts = memory_of(&arrays, given[8], (one.steps + 1) * 8, 0))
        || !(one.borders = memory_of(&arrays, given[9], 0, 0))
        || !(one.gaps.columns = memory_of(&arrays, given[10], 0, 0))
        || !(one.before = memory_of(&arrays, given[11], cells * real, 1))
        || !(one.outputs = memory_of(&arrays, given[12], cells * real, 1))
        || (given[13] != Py_None
            && !(one.states = memory_of(&arrays, given[13], cells * real, 1)))
        || (given[14] != Py_None
            && !(one.slopes = memory_of(&arrays, given[14], 6 * columns * padded(one.size) * real,
                                        1)))
        || !(one.panels = memory_of(&arrays, given[15], panels(one.size) * real, 1))
        || !(one.running = memory_of(&arrays, given[16], (one.rows * one.size + 16) * wide, 1)))
        goto end;
    one.gaps.count = arrays.views[6].len / 8;
    if (!in_order(one.gaps.columns, one.gaps.count, columns)) {
        PyErr_SetString(PyExc_ValueError, "a gap is out of range");
        goto end;
    }
    if (!bounded(one.starts, one.borders, one.steps, one.rows, arrays.views[5].len / 8)) {
        PyErr_SetString(PyExc_ValueError, "a border is out of range");
        goto end;
    }
    Py_BEGIN_ALLOW_THREADS
    forward(&one);
    Py_END_ALLOW_THREADS
    found = Py_None;
    Py_INCREF(found);
end:
    let_go(&arrays);
    return found;
}

PyObject *cell_backward(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    (void)module;
    int64_t sized[4];
    if (!sizes(given, count, 17, sized))
        return NULL;
    struct backward one = {.steps = sized[0], .rows = sized[1], .size = sized[2],
                           .backwards = (int)sized[3]};
    struct arrays arrays = {.count = 0};
    int64_t columns = one.steps * one.rows, cells = columns * one.size, real = sizeof(float), wide = sizeof(double);
    int64_t row = one.rows * one.size * real;
    PyObject *found = NULL;
    if (!(one.starts = memory_of(&arrays, given[4], (one.steps + 1) * 8, 0))
        || !(one.borders = memory_of(&arrays, given[5], 0, 0))
        || !(one.gaps.columns = memory_of(&arrays, given[6], 0, 0))
        || !(one.slopes = memory_of(&arrays, given[7], 6 * columns * padded(one.size) * real, 0))
        || !(one.weights = memory_of(&arrays, given[8], 4 * one.size * one.size * real, 0))
        || (given[9] != Py_None
            && !(one.told_outputs = memory_of(&arrays, given[9], cells * real, 0)))
        || (given[10] != Py_None
            && !(one.told_states = memory_of(&arrays, given[10], cells * real, 0)))
        || !(one.by = memory_of(&arrays, given[11], 4 * cells * real, 1))
        || !(one.back = memory_of(&arrays, given[12], row, 1))
        || !(one.running = memory_of(&arrays, given[13], row, 1))
        || !(one.panels = memory_of(&arrays, given[14], panels(one.size) * real, 1))
        || !(one.first_output = memory_of(&arrays, given[15], 2 * one.size * wide, 1))
        || !(one.by_bias = memory_of(&arrays, given[16], 4 * one.size * wide, 1)))
        goto end;
    one.gaps.count = arrays.views[2].len / 8;
    if (!in_order(one.gaps.columns, one.gaps.count, columns)) {
        PyErr_SetString(PyExc_ValueError, "a gap is out of range");
        goto end;
    }
    one.first_state = one.first_output + one.size;
    if (!bounded(one.starts, one.borders, one.steps, one.rows, arrays.views[1].len / 8)) {
        PyErr_SetString(PyExc_ValueError, "a border is out of range");
        goto end;
    }
    Py_BEGIN_ALLOW_THREADS
    memset(one.back, 0, (size_t)row);
    memset(one.running, 0, (size_t)row);
    memset(one.first_output, 0, (size_t)(2 * one.size * wide));
    memset(one.by_bias, 0, (size_t)(4 * one.size * wide));
    backward(&one);
    Py_END_ALLOW_THREADS
    found = Py_None;
    Py_INCREF(found);
end:
    let_go(&arrays);
    return found;
}
