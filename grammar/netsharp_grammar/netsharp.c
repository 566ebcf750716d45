/* The Python door to the Net# parser: one function that hands out the language. */
#include <Python.h>

typedef struct TSLanguage TSLanguage;

const TSLanguage *tree_sitter_netsharp(void);

static PyObject *language(PyObject *module, PyObject *arguments) {
    (void)module;
    (void)arguments;
    return PyCapsule_New((void *)tree_sitter_netsharp(), "tree_sitter.Language", NULL);
}

static PyMethodDef methods[] = {
    {"language", language, METH_NOARGS, "The tree-sitter language as a capsule."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "_netsharp",
    .m_methods = methods,
};

PyMODINIT_FUNC PyInit__netsharp(void) { return PyModule_Create(&definition); }
