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

/* ``told`` are sums [columns, 4 gates, cells], or NULL; ``bias`` [4 gates, cells] is added to them.
   ``inputs`` [columns, inner] begin the rows of ``before``, which are inner + cells wide, and where
   ``by_inputs`` [inner, 4 gates, cells] is not NULL sums are made of them, too. */
struct forward {
    int64_t steps, rows, size, inner;
    int backwards;
    const float *told, *bias, *inputs, *by_inputs, *weights, *first_output;
    const double *first_state;
    const int64_t *starts, *borders;
    struct gaps gaps;
    float *before, *outputs, *states, *slopes, *panels;
    double *running;
};

/* ``back_inputs`` [columns, inner] is the gradient of inputs, or NULL. */
struct backward {
    int64_t steps, rows, size, inner;
    int backwards;
    const float *slopes, *weights, *by_inputs, *told_outputs, *told_states;
    const int64_t *starts, *borders;
    struct gaps gaps;
    float *by, *back_inputs, *back, *running, *panels;
    double *first_output, *first_state, *by_bias;
};

/* The rows of a block. */
#define ROWS 6

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
#define BESIDE 4
#else
#define BESIDE 2
#endif
#include "cell.h"

#if defined(__x86_64__)
#define BYTES 32
#define NAME(what) what##_32
#define TARGET TARGET_32
#define BESIDE 2
#include "cell.h"

#define BYTES 64
#define NAME(what) what##_64
#define TARGET TARGET_64
#define BESIDE 4
#include "cell.h"
#endif

/* A pass in the widest vectors that this machine has. */
static void forward(const struct forward *one) { WIDEST(forward, one); }

static void backward(const struct backward *one) { WIDEST(backward, one); }

/* Steps, rows, cells, the direction and inputs; 0 with an exception where they make no sense. */
static int sizes(PyObject *const *given, Py_ssize_t count, Py_ssize_t wanted, int64_t found[5]) {
    if (count != wanted) {
        PyErr_SetString(PyExc_TypeError, "another number of arguments is needed");
        return 0;
    }
    for (int i = 0; i < 5; i++) {
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
static int64_t panels(int64_t size, int64_t inner) {
    return 4 * size * ((size + 63) / 64 * 64 + (inner + 63) / 64 * 64) + 4 * 64 * inner;
}

/* The memory of an array, or none where None is given; 0 with an exception where it is too short. */
static int taken(struct arrays *arrays, PyObject *given, int64_t count, int writable, void *found) {
    void *memory = NULL;
    if (given != Py_None
        && !(memory = memory_of(arrays, given, count * (int64_t)sizeof(float), writable)))
        return 0;
    memcpy(found, &memory, sizeof(memory));
    return 1;
}

/* Borders of sequences and gaps between them; 0 with an exception where they are out of range. */
static int borders_of(struct arrays *arrays, PyObject *const *given, const int64_t *sized,
                      const int64_t **starts, const int64_t **borders, struct gaps *gaps) {
    int64_t steps = sized[0], rows = sized[1];
    if (!(*starts = memory_of(arrays, given[0], (steps + 1) * 8, 0))
        || !(*borders = memory_of(arrays, given[1], 0, 0))
        || !(gaps->columns = memory_of(arrays, given[2], 0, 0)))
        return 0;
    gaps->count = arrays->views[2].len / 8;
    if (!in_order(gaps->columns, gaps->count, steps * rows)) {
        PyErr_SetString(PyExc_ValueError, "a gap is out of range");
        return 0;
    }
    if (!bounded(*starts, *borders, steps, rows, arrays->views[1].len / 8)) {
        PyErr_SetString(PyExc_ValueError, "a border is out of range");
        return 0;
    }
    return 1;
}

/* Steps, rows, cells, whether it goes backwards, inputs; starts, borders, gaps; sums, bias, inputs
   and their weights (or None each); weights, first output and state; what is written. */
PyObject *cell_forward(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    (void)module;
    int64_t sized[5];
    if (!sizes(given, count, 21, sized))
        return NULL;
    struct forward one = {.steps = sized[0], .rows = sized[1], .size = sized[2],
                          .backwards = (int)sized[3], .inner = sized[4]};
    struct arrays arrays = {.count = 0};
    int64_t columns = one.steps * one.rows, cells = columns * one.size, gates = 4 * one.size;
    PyObject *found = NULL;
    if (!borders_of(&arrays, given + 5, sized, &one.starts, &one.borders, &one.gaps)
        || !taken(&arrays, given[8], columns * gates, 0, &one.told)
        || !taken(&arrays, given[9], gates, 0, &one.bias)
        || !taken(&arrays, given[10], columns * one.inner, 0, &one.inputs)
        || !taken(&arrays, given[11], one.inner * gates, 0, &one.by_inputs)
        || !taken(&arrays, given[12], one.size * gates, 0, &one.weights)
        || !taken(&arrays, given[13], one.size, 0, &one.first_output)
        || !taken(&arrays, given[14], 2 * one.size, 0, &one.first_state)
        || !taken(&arrays, given[15], cells + columns * one.inner, 1, &one.before)
        || !taken(&arrays, given[16], cells, 1, &one.outputs)
        || !taken(&arrays, given[17], cells, 1, &one.states)
        || !taken(&arrays, given[18], 6 * columns * padded(one.size), 1, &one.slopes)
        || !taken(&arrays, given[19], panels(one.size, one.inner), 1, &one.panels)
        || !taken(&arrays, given[20], 2 * (one.rows * one.size + 16), 1, &one.running))
        goto end;
    if (!one.weights || !one.first_output || !one.first_state || !one.before || !one.outputs
        || !one.panels || !one.running || (one.inner && !one.inputs)) {
        PyErr_SetString(PyExc_ValueError, "an array is missing");
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

/* The same five sizes; starts, borders, gaps; slopes, weights, those of inputs, gradients of outputs
   and states (or None each of these three); what is written, that of inputs or None. */
PyObject *cell_backward(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    (void)module;
    int64_t sized[5];
    if (!sizes(given, count, 20, sized))
        return NULL;
    struct backward one = {.steps = sized[0], .rows = sized[1], .size = sized[2],
                           .backwards = (int)sized[3], .inner = sized[4]};
    struct arrays arrays = {.count = 0};
    int64_t columns = one.steps * one.rows, cells = columns * one.size, gates = 4 * one.size;
    int64_t row = one.rows * one.size;
    PyObject *found = NULL;
    if (!borders_of(&arrays, given + 5, sized, &one.starts, &one.borders, &one.gaps)
        || !taken(&arrays, given[8], 6 * columns * padded(one.size), 0, &one.slopes)
        || !taken(&arrays, given[9], one.size * gates, 0, &one.weights)
        || !taken(&arrays, given[10], one.inner * gates, 0, &one.by_inputs)
        || !taken(&arrays, given[11], cells, 0, &one.told_outputs)
        || !taken(&arrays, given[12], cells, 0, &one.told_states)
        || !taken(&arrays, given[13], columns * gates, 1, &one.by)
        || !taken(&arrays, given[14], columns * one.inner, 1, &one.back_inputs)
        || !taken(&arrays, given[15], row, 1, &one.back)
        || !taken(&arrays, given[16], row, 1, &one.running)
        || !taken(&arrays, given[17], panels(one.size, one.inner), 1, &one.panels)
        || !taken(&arrays, given[18], 4 * one.size, 1, &one.first_output)
        || !taken(&arrays, given[19], 2 * gates, 1, &one.by_bias))
        goto end;
    if (!one.slopes || !one.weights || !one.by || !one.back || !one.running || !one.panels
        || !one.first_output || !one.by_bias || (one.back_inputs && !one.by_inputs)) {
        PyErr_SetString(PyExc_ValueError, "an array is missing");
        goto end;
    }
    one.first_state = one.first_output + one.size;
    Py_BEGIN_ALLOW_THREADS
    memset(one.back, 0, (size_t)row * sizeof(float));
    memset(one.running, 0, (size_t)row * sizeof(float));
    memset(one.first_output, 0, (size_t)(2 * one.size) * sizeof(double));
    memset(one.by_bias, 0, (size_t)gates * sizeof(double));
    backward(&one);
    Py_END_ALLOW_THREADS
    found = Py_None;
    Py_INCREF(found);
end:
    let_go(&arrays);
    return found;
}
