/* Activations for the processor's vectors.  Exponentials are within a unit in the last place of the
   exact value, sigmoid and tanh within four; what needs none is rounded as numpy rounds it. */
#include "functions.h"
#include "twins.h"
#include "vectors.h"

#include <math.h>

/* 1 / 2!, 1 / 3!, ...: so many are enough for what is below half of ln 2. */
static const double factorials[] = {
    1.0 / 2,       1.0 / 6,       1.0 / 24,       1.0 / 120,       1.0 / 720,       1.0 / 5040,
    1.0 / 40320,   1.0 / 362880,  1.0 / 3628800,  1.0 / 39916800,  1.0 / 479001600, 1.0 / 6227020800,
};

#define REAL float
#define WHOLE int32_t
#define ROOT sqrtf
#define LOG1P log1pf
#define SHIFT 12582912.0
#define LN2_HIGH 0.693145751953125
#define LN2_LOW 1.428606765330187e-06
#define TERMS 6
#define MANTISSA 23
#define EXPONENT 127
#define MOST_EXPONENT 89
#define LEAST_EXPONENT -105
#define MOST_TANGENT 10
#define BYTES 16
#define TARGET
#define NAME(what) what##_float_16
#include "functions_of.h"
#if defined(__x86_64__)
#define BYTES 32
#define TARGET TARGET_32
#define NAME(what) what##_float_32
#include "functions_of.h"
#define BYTES 64
#define TARGET TARGET_64
#define NAME(what) what##_float_64
#include "functions_of.h"
#endif
#undef REAL
#undef WHOLE
#undef ROOT
#undef LOG1P
#undef SHIFT
#undef LN2_HIGH
#undef LN2_LOW
#undef TERMS
#undef MANTISSA
#undef EXPONENT
#undef MOST_EXPONENT
#undef LEAST_EXPONENT
#undef MOST_TANGENT

#define REAL double
#define WHOLE int64_t
#define ROOT sqrt
#define LOG1P log1p
#define SHIFT 6755399441055744.0
#define LN2_HIGH 6.93147180369123816490e-01
#define LN2_LOW 1.90821492927058770002e-10
#define TERMS 12
#define MANTISSA 52
#define EXPONENT 1023
#define MOST_EXPONENT 710
#define LEAST_EXPONENT -747
#define MOST_TANGENT 20
#define BYTES 16
#define TARGET
#define NAME(what) what##_double_16
#include "functions_of.h"
#if defined(__x86_64__)
#define BYTES 32
#define TARGET TARGET_32
#define NAME(what) what##_double_32
#include "functions_of.h"
#define BYTES 64
#define TARGET TARGET_64
#define NAME(what) what##_double_64
#include "functions_of.h"
#endif

void apply(int64_t bytes, int64_t kind, const void *from, void *to, int64_t count) {
    if (bytes == 4)
        WIDEST(applied_float, kind, from, to, count);
    else
        WIDEST(applied_double, kind, from, to, count);
}

/* The bytes of a number, which function, what it takes and where it goes: as long, maybe the same. */
PyObject *plan_applied(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    (void)module;
    if (count != 4) {
        PyErr_SetString(PyExc_TypeError, "another number of arguments is needed");
        return NULL;
    }
    int64_t bytes = PyLong_AsSsize_t(given[0]), kind = PyLong_AsSsize_t(given[1]);
    if ((bytes != 4 && bytes != 8) || kind < 0 || kind >= FUNCTIONS) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "a size is out of range");
        return NULL;
    }
    struct arrays arrays = {.count = 0};
    const void *from;
    void *to = memory_of(&arrays, given[3], 0, 1);
    int64_t whole = to ? arrays.views[0].len : 0;
    int well = to && (from = memory_of(&arrays, given[2], whole, 0));
    if (well && whole >= bytes) {
        Py_BEGIN_ALLOW_THREADS
        apply(bytes, kind, from, to, whole / bytes);
        Py_END_ALLOW_THREADS
    }
    let_go(&arrays);
    if (!well)
        return NULL;
    Py_INCREF(Py_None);
    return Py_None;
}
