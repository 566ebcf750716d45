/* What the files of this extension share: buffers of arrays, and the functions of its door. */
#ifndef NETSHARP_TWINS_H
#define NETSHARP_TWINS_H

#include <Python.h>
#include <stdint.h>
#include <string.h>

/* The arrays of one call, each at least as long as it has to be. */
#define MOST_ARRAYS 20
struct arrays {
    Py_buffer views[MOST_ARRAYS];
    int count;
};

/* The memory of an array of at least so many bytes; NULL with an exception where it has fewer. */
static inline void *memory_of(struct arrays *arrays, PyObject *given, int64_t bytes, int writable) {
    Py_buffer *view = &arrays->views[arrays->count];
    if (PyObject_GetBuffer(given, view, writable ? PyBUF_WRITABLE : PyBUF_SIMPLE))
        return NULL;
    arrays->count++;
    if (view->len < bytes) {
        PyErr_SetString(PyExc_ValueError, "an array is too short");
        return NULL;
    }
    return view->buf;
}

static inline void let_go(struct arrays *arrays) {
    while (arrays->count)
        PyBuffer_Release(&arrays->views[--arrays->count]);
}

PyObject *cell_forward(PyObject *module, PyObject *const *given, Py_ssize_t count);
PyObject *cell_backward(PyObject *module, PyObject *const *given, Py_ssize_t count);
PyObject *rows_chosen(PyObject *module, PyObject *const *given, Py_ssize_t count);
PyObject *rows_summed(PyObject *module, PyObject *const *given, Py_ssize_t count);
PyObject *rules_applied(PyObject *module, PyObject *const *given, Py_ssize_t count);
PyObject *first_fit(PyObject *module, PyObject *const *given, Py_ssize_t count);
PyObject *begun(PyObject *module, PyObject *const *given, Py_ssize_t count);
PyObject *columns_taken(PyObject *module, PyObject *const *given, Py_ssize_t count);
PyObject *read_columns(PyObject *module, PyObject *const *given, Py_ssize_t count);
PyObject *read_sequences(PyObject *module, PyObject *const *given, Py_ssize_t count);
PyObject *product(PyObject *module, PyObject *const *given, Py_ssize_t count);
PyObject *windows_moved(PyObject *module, PyObject *const *given, Py_ssize_t count);
PyObject *windows_joined(PyObject *module, PyObject *const *given, Py_ssize_t count);
PyObject *windows_pooled(PyObject *module, PyObject *const *given, Py_ssize_t count);
PyObject *windows_pooled_back(PyObject *module, PyObject *const *given, Py_ssize_t count);
PyObject *windows_rectified_back(PyObject *module, PyObject *const *given, Py_ssize_t count);
PyObject *plan_pooled(PyObject *module, PyObject *const *given, Py_ssize_t count);
PyObject *plan_pooled_back(PyObject *module, PyObject *const *given, Py_ssize_t count);
PyObject *plan_normed(PyObject *module, PyObject *const *given, Py_ssize_t count);
PyObject *plan_normed_back(PyObject *module, PyObject *const *given, Py_ssize_t count);
PyObject *plan_sloped(PyObject *module, PyObject *const *given, Py_ssize_t count);
PyObject *plan_stepped(PyObject *module, PyObject *const *given, Py_ssize_t count);
PyObject *table_read(PyObject *module, PyObject *const *given, Py_ssize_t count);
PyObject *plan_applied(PyObject *module, PyObject *const *given, Py_ssize_t count);
PyObject *mask_drawn(PyObject *module, PyObject *const *given, Py_ssize_t count);
PyObject *answered(PyObject *module, PyObject *const *given, Py_ssize_t count);
PyObject *forward_made(PyObject *module, PyObject *const *given, Py_ssize_t count);
PyObject *forward_computed(PyObject *module, PyObject *const *given, Py_ssize_t count);

#endif
