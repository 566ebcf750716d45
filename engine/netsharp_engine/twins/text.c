/* A line of CNTK's text format that has nothing wrong and nothing rare in it. */
#include "twins.h"
#include "text.h"

/* Bytes of what a column holds, at two places of a tuple; 0 with an exception. */
static int put(PyObject *found, Py_ssize_t number, const void *memory, int64_t count) {
    PyObject *bytes = PyBytes_FromStringAndSize(memory, (Py_ssize_t)(count * 8));
    return bytes && !PyTuple_SetItem(found, number, bytes);
}

/* A line, where its columns begin, the aliases, and [aliases, 2]: dim, and whether it is sparse.
   Gives values and places of each as bytes, None for those that are not there; None for a line
   that is anything but plain. */
PyObject *read_columns(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    (void)module;
    char *line;
    Py_ssize_t length, start;
    if (count != 4) {
        PyErr_SetString(PyExc_TypeError, "another number of arguments is needed");
        return NULL;
    }
    if (PyBytes_AsStringAndSize(given[0], &line, &length))
        return NULL;
    start = PyLong_AsSsize_t(given[1]);
    if (start < 0 || start > length) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "a size is out of range");
        return NULL;
    }
    Py_ssize_t streams = PyTuple_Size(given[2]);
    if (streams < 0)
        return NULL;
    struct arrays arrays = {.count = 0};
    const int64_t *kinds = memory_of(&arrays, given[3], streams * 16, 0);
    double *values = PyMem_Malloc((size_t)(length + 2) * 8);
    PyObject *found = NULL;
    int any = 0, plain = 0;
    if (!kinds)
        goto end;
    if (!values) {
        PyErr_NoMemory();
        goto end;
    }
    int64_t *places = (int64_t *)values + length / 2 + 1;
    if (!(found = PyTuple_New(2 * streams)))
        goto end;
    for (Py_ssize_t i = 0; i < 2 * streams; i++) {
        Py_INCREF(Py_None);
        if (PyTuple_SetItem(found, i, Py_None))
            goto failed;
    }
    const char *at = line + start, *last = line + length;
    while (at < last && is_blank(*at))
        at++;
    if (at == last || *at != '|')
        goto end;
    while (at < last) {
        struct column column;
        at = column_of(at, last, &column);
        if (is_comment(column))
            continue;
        const char *begin = column.begin, *blank = column.blank;
        Py_ssize_t stream = 0;
        for (; stream < streams; stream++) {
            char *alias;
            Py_ssize_t size;
            if (PyBytes_AsStringAndSize(PyTuple_GetItem(given[2], stream), &alias, &size))
                goto failed;
            if (size == blank - begin && size && !memcmp(alias, begin, (size_t)size))
                break;
        }
        if (stream == streams || PyTuple_GetItem(found, 2 * stream) != Py_None)
            goto end;
        int sparse = kinds[2 * stream + 1] != 0;
        int64_t entries = column_read(blank, column.close, kinds[2 * stream], sparse, values, places);
        if (entries < 0)
            goto end;
        if (!put(found, 2 * stream, values, entries)
            || (sparse && !put(found, 2 * stream + 1, places, entries)))
            goto failed;
        any = 1;
    }
    plain = any;
    goto end;
failed:
    Py_CLEAR(found);
end:
    PyMem_Free(values);
    let_go(&arrays);
    if (found && !plain) {
        Py_DECREF(found);
        found = Py_None;
        Py_INCREF(found);
    }
    return found;
}
