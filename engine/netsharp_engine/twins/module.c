/* The Python door to compiled twins of what the engine also does in numpy. */
#include "twins.h"
#include "vectors.h"

static PyMethodDef methods[] = {
    {"cell_forward", (PyCFunction)(void (*)(void))cell_forward, METH_FASTCALL,
     "All steps of a cell of long short-term memory."},
    {"cell_backward", (PyCFunction)(void (*)(void))cell_backward, METH_FASTCALL,
     "The gradient of its sums."},
    {"product", (PyCFunction)(void (*)(void))product, METH_FASTCALL,
     "Matrices times matrices whose columns are samples."},
    {"rows_chosen", (PyCFunction)(void (*)(void))rows_chosen, METH_FASTCALL,
     "Rows of a matrix that sparse samples choose."},
    {"rows_summed", (PyCFunction)(void (*)(void))rows_summed, METH_FASTCALL,
     "Rows, each times a number, summed up by place."},
    {"rules_applied", (PyCFunction)(void (*)(void))rules_applied, METH_FASTCALL,
     "What update rules make of parameters."},
    {"first_fit", (PyCFunction)(void (*)(void))first_fit, METH_FASTCALL,
     "Sequences into the first rows that have room."},
    {"begun", (PyCFunction)(void (*)(void))begun, METH_FASTCALL,
     "The rows of sequences by the step in which they begin."},
    {"columns_taken", (PyCFunction)(void (*)(void))columns_taken, METH_FASTCALL,
     "The columns of sequences in rows, and those between them."},
    {"read_columns", (PyCFunction)(void (*)(void))read_columns, METH_FASTCALL,
     "The numbers of a plain line of CNTK's text format."},
    {"windows_moved", (PyCFunction)(void (*)(void))windows_moved, METH_FASTCALL,
     "What kernels find on their way over images."},
    {"windows_joined", (PyCFunction)(void (*)(void))windows_joined, METH_FASTCALL,
     "The gradient by kernels."},
    {"windows_pooled", (PyCFunction)(void (*)(void))windows_pooled, METH_FASTCALL,
     "The largest or the mean of windows."},
    {"windows_pooled_back", (PyCFunction)(void (*)(void))windows_pooled_back, METH_FASTCALL,
     "The gradient by images of windows."},
    {"windows_rectified_back", (PyCFunction)(void (*)(void))windows_rectified_back, METH_FASTCALL,
     "The gradient through a rectifier, and that of the biases before it."},
    {"read_sequences", (PyCFunction)(void (*)(void))read_sequences, METH_FASTCALL,
     "Plain sequences of CNTK's text format."},
    {"plan_pooled", (PyCFunction)(void (*)(void))plan_pooled, METH_FASTCALL,
     "The largest or the mean of windows over rows in any order."},
    {"plan_pooled_back", (PyCFunction)(void (*)(void))plan_pooled_back, METH_FASTCALL,
     "The gradient by what windows were over."},
    {"plan_normed", (PyCFunction)(void (*)(void))plan_normed, METH_FASTCALL,
     "Response normalisation, with what its gradient needs."},
    {"plan_normed_back", (PyCFunction)(void (*)(void))plan_normed_back, METH_FASTCALL,
     "The gradient by what was normalised."},
    {"plan_sloped", (PyCFunction)(void (*)(void))plan_sloped, METH_FASTCALL,
     "The gradient through an activation."},
    {"plan_stepped", (PyCFunction)(void (*)(void))plan_stepped, METH_FASTCALL,
     "What an update rule makes of weights."},
    {"table_read", (PyCFunction)(void (*)(void))table_read, METH_FASTCALL,
     "Plain rows of a delimited table."},
    {"plan_applied", (PyCFunction)(void (*)(void))plan_applied, METH_FASTCALL,
     "An activation of every number."},
    {"forward_made", (PyCFunction)(void (*)(void))forward_made, METH_FASTCALL,
     "A network that is ready to be computed."},
    {"forward_computed", (PyCFunction)(void (*)(void))forward_computed, METH_FASTCALL,
     "What it makes of rows."},
    {"answered", (PyCFunction)(void (*)(void))answered, METH_FASTCALL,
     "The classes that outputs answer, and their probabilities."},
    {"mask_drawn", (PyCFunction)(void (*)(void))mask_drawn, METH_FASTCALL,
     "A mask of dropout."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "_twins",
    .m_methods = methods,
};

PyMODINIT_FUNC PyInit__twins(void) {
    PyObject *module = PyModule_Create(&definition);
    if (module && PyModule_AddIntConstant(module, "VECTOR", vector_bytes())) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
