/* The Python door to the parser of CNTK configurations, NDL and MEL: one function. */
#include <Python.h>

typedef struct TSLanguage TSLanguage;

const TSLanguage *tree_sitter_cntk(void);

static PyObject *language(PyObject *module, PyObject *arguments) {
    (void)module;
    (void)arguments;
    return PyCapsule_New((void *)tree_sitter_cntk(), "tree_sitter.Language", NULL);
}

static PyMethodDef methods[] = {
    {"language", language, METH_NOARGS, "The tree-sitter language as a capsule."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "_cntk",
    .m_methods = methods,
};

PyMODINIT_FUNC PyInit__cntk(void) { return PyModule_Create(&definition); }
