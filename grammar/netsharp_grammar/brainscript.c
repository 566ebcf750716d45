/* The Python door to the BrainScript parser: one function that hands out the language. */
#include <Python.h>

typedef struct TSLanguage TSLanguage;

const TSLanguage *tree_sitter_brainscript(void);

static PyObject *language(PyObject *module, PyObject *arguments) {
    (void)module;
    (void)arguments;
    return PyCapsule_New((void *)tree_sitter_brainscript(), "tree_sitter.Language", NULL);
}

static PyMethodDef methods[] = {
    {"language", language, METH_NOARGS, "The tree-sitter language as a capsule."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "_brainscript",
    .m_methods = methods,
};

PyMODINIT_FUNC PyInit__brainscript(void) { return PyModule_Create(&definition); }
