/* Sequences into rows: each in the first row that has room for it, in their order, and which columns
   they take there. */
#include "twins.h"

static int put(PyObject *found, Py_ssize_t at, int64_t value) {
    PyObject *number = PyLong_FromLongLong(value);
    return number && !PyTuple_SetItem(found, at, number);
}

/* lengths, then row and begin of each, all [sequences]: how many rows there are, the steps of a row,
   and those of all sequences. */
PyObject *first_fit(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    (void)module;
    if (count != 3) {
        PyErr_SetString(PyExc_TypeError, "another number of arguments is needed");
        return NULL;
    }
    struct arrays arrays = {.count = 0};
    PyObject *found = NULL;
    const int64_t *length;
    int64_t *row, *begin, *first = NULL, rows = 0, wrong = 0, width = 0, total = 0;
    if (!(length = memory_of(&arrays, given[0], 0, 0))
        || !(row = memory_of(&arrays, given[1], arrays.views[0].len, 1))
        || !(begin = memory_of(&arrays, given[2], arrays.views[0].len, 1)))
        goto end;
    int64_t sequences = arrays.views[0].len / 8;
    for (int64_t i = 0; i < sequences && !wrong; i++) {
        width = length[i] > width ? length[i] : width;
        wrong = length[i] < 0 || length[i] > INT64_MAX / 16 - total;
        total += wrong ? 0 : length[i];
    }
    if (wrong) {
        PyErr_SetString(PyExc_ValueError, "a length is out of range");
        goto end;
    }
    /* Where the first row with room for a length may be, and behind it how far rows are filled. */
    if (!(first = PyMem_Calloc((size_t)(width + 1 + sequences), sizeof(int64_t)))) {
        PyErr_NoMemory();
        goto end;
    }
    int64_t *filled = first + width + 1;
    Py_BEGIN_ALLOW_THREADS
    /* Rows only become fuller: none before the last one taken has room for the same length. */
    for (int64_t i = 0; i < sequences; i++) {
        int64_t one = length[i], at = first[one];
        while (at < rows && filled[at] + one > width)
            at++;
        rows += at == rows;
        first[one] = row[i] = at;
        begin[i] = filled[at];
        filled[at] += one;
    }
    Py_END_ALLOW_THREADS
    if ((found = PyTuple_New(3)) && (!put(found, 0, rows) || !put(found, 1, width) || !put(found, 2, total))) {
        Py_DECREF(found);
        found = NULL;
    }
end:
    PyMem_Free(first);
    let_go(&arrays);
    return found;
}

/* Rows; row, begin and length of each sequence; places and positions of all their steps, gaps, and
   as many bytes as there are columns. */
PyObject *columns_taken(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    (void)module;
    if (count != 8) {
        PyErr_SetString(PyExc_TypeError, "another number of arguments is needed");
        return NULL;
    }
    int64_t rows = PyLong_AsSsize_t(given[0]), wrong = rows < 1, steps = 0;
    if (PyErr_Occurred())
        return NULL;
    struct arrays arrays = {.count = 0};
    PyObject *found = NULL;
    const int64_t *row, *begin, *length;
    int64_t *places, *positions, *gaps;
    char *taken;
    if (!(row = memory_of(&arrays, given[1], 0, 0))
        || !(begin = memory_of(&arrays, given[2], arrays.views[0].len, 0))
        || !(length = memory_of(&arrays, given[3], arrays.views[0].len, 0))
        || !(places = memory_of(&arrays, given[4], 0, 1))
        || !(positions = memory_of(&arrays, given[5], arrays.views[3].len, 1))
        || !(gaps = memory_of(&arrays, given[6], 0, 1))
        || !(taken = memory_of(&arrays, given[7], 0, 1)))
        goto end;
    int64_t sequences = arrays.views[0].len / 8, columns = arrays.views[6].len;
    for (int64_t i = 0; i < sequences && !wrong; i++) {
        wrong = row[i] < 0 || row[i] >= rows || length[i] < 0 || begin[i] < 0
                || begin[i] > columns / rows || length[i] > columns / rows - begin[i];
        steps += wrong ? 0 : length[i];
        wrong |= steps > columns;
    }
    if (wrong || steps * 8 > arrays.views[3].len || (columns - steps) * 8 > arrays.views[5].len) {
        PyErr_SetString(PyExc_ValueError, "a sequence is out of range");
        goto end;
    }
    memset(taken, 0, (size_t)columns);
    for (int64_t i = 0; i < sequences; i++)
        for (int64_t j = 0, place = begin[i] * rows + row[i]; j < length[i]; j++, place += rows) {
            wrong |= taken[place];
            taken[place] = 1;
            *places++ = place;
            *positions++ = j;
        }
    if (wrong)
        PyErr_SetString(PyExc_ValueError, "sequences lie in the same columns");
    else {
        for (int64_t i = 0; i < columns; i++)
            if (!taken[i])
                *gaps++ = i;
        found = Py_None;
        Py_INCREF(found);
    }
end:
    let_go(&arrays);
    return found;
}

/* Steps in which sequences begin, and their rows; where those of each step start [steps + 1] among
   the rows by step, those of one step in their order. */
PyObject *begun(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    (void)module;
    if (count != 4) {
        PyErr_SetString(PyExc_TypeError, "another number of arguments is needed");
        return NULL;
    }
    struct arrays arrays = {.count = 0};
    PyObject *found = NULL;
    const int64_t *begin, *row;
    int64_t *starts, *rows, wrong = 0;
    if (!(begin = memory_of(&arrays, given[0], 0, 0))
        || !(row = memory_of(&arrays, given[1], arrays.views[0].len, 0))
        || !(starts = memory_of(&arrays, given[2], sizeof(int64_t), 1))
        || !(rows = memory_of(&arrays, given[3], arrays.views[0].len, 1)))
        goto end;
    int64_t sequences = arrays.views[0].len / 8, steps = arrays.views[2].len / 8 - 1;
    for (int64_t i = 0; i < sequences; i++)
        wrong |= begin[i] < 0 || begin[i] >= steps;
    if (wrong) {
        PyErr_SetString(PyExc_ValueError, "a step is out of range");
        goto end;
    }
    memset(starts, 0, (size_t)(steps + 1) * sizeof(int64_t));
    for (int64_t i = 0; i < sequences; i++)
        starts[begin[i] + 1]++;
    for (int64_t i = 0; i < steps; i++)
        starts[i + 1] += starts[i];
    for (int64_t i = 0; i < sequences; i++)
        rows[starts[begin[i]]++] = row[i];
    /* Each stands where the next one starts now. */
    memmove(starts + 1, starts, (size_t)steps * sizeof(int64_t));
    starts[0] = 0;
    found = Py_None;
    Py_INCREF(found);
end:
    let_go(&arrays);
    return found;
}
