/* What outputs of a classification answer: the class of each row, and the probabilities of all. */
#include "twins.h"

enum { SINGLE, SHARES, BOUNDED, MEANINGS };

static double bounded(double value) { return value < 0 ? 0 : value > 1 ? 1 : value; }

/* One row of `count` outputs; `shares` has as many, of a single output two. */
static int64_t answer(int meaning, const double *outputs, int64_t count, double *shares) {
    int64_t best = 0, absent = 0;
    double total = 0;
    for (int64_t i = 0; i < count; i++) {
        absent |= outputs[i] != outputs[i];
        best = outputs[i] > outputs[best] ? i : best;
        if (meaning == BOUNDED)
            shares[i] = bounded(outputs[i]);
        total += meaning == BOUNDED ? shares[i] : outputs[i];
    }
    if (meaning == SINGLE) {
        shares[1] = bounded(outputs[0]);
        shares[0] = 1 - shares[1];
        return absent ? -1 : outputs[0] > 0.5;
    }
    for (int64_t i = 0; i < count; i++)
        if (meaning == SHARES)
            shares[i] = outputs[i] / total;
        else
            shares[i] = total > 0 ? shares[i] / total : 1.0 / (double)count;
    return absent ? -1 : best;
}

/* The bytes of a number; how many outputs a row has; what they mean: 0 a single one is the second
   class's, 1 those of a softmax, 2 others; outputs [rows, count]; classes [rows] as whole numbers of
   8 bytes, -1 where an output is no number; probabilities [rows, classes].  Whether every row has an
   answer. */
PyObject *answered(PyObject *module, PyObject *const *given, Py_ssize_t arguments) {
    (void)module;
    if (arguments != 6) {
        PyErr_SetString(PyExc_TypeError, "another number of arguments is needed");
        return NULL;
    }
    int64_t bytes = PyLong_AsSsize_t(given[0]), count = PyLong_AsSsize_t(given[1]);
    int64_t meaning = PyLong_AsSsize_t(given[2]);
    if ((bytes != 4 && bytes != 8) || count < 1 || count > INT32_MAX || meaning < 0
        || meaning >= MEANINGS || (meaning == SINGLE && count > 1)) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "a size is out of range");
        return NULL;
    }
    struct arrays arrays = {.count = 0};
    int64_t classes = meaning == SINGLE ? 2 : count, *codes = NULL, rows = 0;
    double *shares, *row = PyMem_Malloc((size_t)count * sizeof(double));
    const void *outputs;
    int all = 1;
    int well = row && (codes = memory_of(&arrays, given[4], 0, 1));
    if (!row)
        PyErr_NoMemory();
    if (well)
        rows = arrays.views[0].len / 8;
    well = well && (outputs = memory_of(&arrays, given[3], rows * count * bytes, 0))
           && (shares = memory_of(&arrays, given[5], rows * classes * 8, 1));
    if (well) {
        Py_BEGIN_ALLOW_THREADS
        for (int64_t r = 0; r < rows; r++) {
            for (int64_t i = 0; i < count; i++)
                row[i] = bytes == 4 ? (double)((const float *)outputs)[r * count + i]
                                    : ((const double *)outputs)[r * count + i];
            codes[r] = answer((int)meaning, row, count, shares + r * classes);
            all &= codes[r] >= 0;
        }
        Py_END_ALLOW_THREADS
    }
    PyMem_Free(row);
    let_go(&arrays);
    return well ? PyBool_FromLong(all) : NULL;
}
