/* Sequences into rows: each in the first row that has room for it, in their order. */
#include "twins.h"

/* lengths, then row and begin of each, room, all [sequences]; room [steps of a row + 1]: how many
   rows there are. */
PyObject *first_fit(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    (void)module;
    if (count != 5) {
        PyErr_SetString(PyExc_TypeError, "another number of arguments is needed");
        return NULL;
    }
    struct arrays arrays = {.count = 0};
    PyObject *found = NULL;
    const int64_t *length;
    int64_t *row, *begin, *filled, *first, rows = 0, wrong = 0;
    if (!(length = memory_of(&arrays, given[0], 0, 0))
        || !(row = memory_of(&arrays, given[1], arrays.views[0].len, 1))
        || !(begin = memory_of(&arrays, given[2], arrays.views[0].len, 1))
        || !(filled = memory_of(&arrays, given[3], arrays.views[0].len, 1))
        || !(first = memory_of(&arrays, given[4], sizeof(int64_t), 1)))
        goto end;
    int64_t sequences = arrays.views[0].len / 8, width = arrays.views[4].len / 8 - 1;
    for (int64_t i = 0; i < sequences; i++)
        wrong |= length[i] < 0 || length[i] > width;
    if (wrong) {
        PyErr_SetString(PyExc_ValueError, "a length is out of range");
        goto end;
    }
    Py_BEGIN_ALLOW_THREADS
    /* Rows only become fuller: none before the last one taken has room for the same length. */
    memset(first, 0, (size_t)(width + 1) * sizeof(int64_t));
    for (int64_t i = 0; i < sequences; i++) {
        int64_t one = length[i], at = first[one];
        while (at < rows && filled[at] + one > width)
            at++;
        if (at == rows)
            filled[rows++] = 0;
        first[one] = row[i] = at;
        begin[i] = filled[at];
        filled[at] += one;
    }
    Py_END_ALLOW_THREADS
    found = PyLong_FromSsize_t((Py_ssize_t)rows);
end:
    let_go(&arrays);
    return found;
}
