/* Masks of dropout by Philox-4x32-10 (Salmon and others, SC 2011), as dropping/philox.py has it. */
#include "twins.h"

#define ROUNDS 10
/* So many counters are worked on together, a word of each beside the other. */
#define LANES 32
enum { KEY, STEP = 2, LAYER, KEPT_FROM, PLACES };

/* Four words of each counter (block + lane, row, step, layer). */
static void drawn(uint32_t words[4][LANES], uint32_t block, uint32_t row, const int64_t *place) {
    uint32_t first = (uint32_t)place[KEY], second = (uint32_t)place[KEY + 1];
    for (int i = 0; i < LANES; i++) {
        words[0][i] = block + (uint32_t)i;
        words[1][i] = row;
        words[2][i] = (uint32_t)place[STEP];
        words[3][i] = (uint32_t)place[LAYER];
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < LANES; i++) {
            uint64_t left = (uint64_t)words[0][i] * 0xD2511F53u;
            uint64_t right = (uint64_t)words[2][i] * 0xCD9E8D57u;
            words[0][i] = (uint32_t)(right >> 32) ^ words[1][i] ^ first;
            words[1][i] = (uint32_t)right;
            words[2][i] = (uint32_t)(left >> 32) ^ words[3][i] ^ second;
            words[3][i] = (uint32_t)left;
        }
        first += 0x9E3779B9u;
        second += 0xBB67AE85u;
    }
}

#define FILLED(type)                                                                               \
    static void filled_##type(type *out, const int64_t *rows, int64_t count, int64_t size,        \
                              double scale, const int64_t *place) {                                \
        uint32_t words[4][LANES], kept_from = (uint32_t)place[KEPT_FROM];                          \
        type kept = (type)scale;                                                                   \
        for (int64_t r = 0; r < count; r++)                                                        \
            for (int64_t start = 0; start < size; start += 4 * LANES) {                            \
                int64_t here = size - start < 4 * LANES ? size - start : 4 * LANES;                \
                type *to = out + r * size + start;                                                 \
                drawn(words, (uint32_t)(start / 4), (uint32_t)rows[r], place);                     \
                for (int64_t i = 0; i < here; i++)                                                 \
                    to[i] = words[i & 3][i >> 2] >= kept_from ? kept : 0;                          \
            }                                                                                      \
    }
FILLED(float)
FILLED(double)

/* The bytes of a number; the nodes of a row; what is kept becomes; both words of the key, the step,
   the layer, and the smallest word that is kept, as whole numbers of 8 bytes; the numbers of the rows
   in their batch; the mask [rows, nodes]. */
PyObject *mask_drawn(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    (void)module;
    if (count != 6) {
        PyErr_SetString(PyExc_TypeError, "another number of arguments is needed");
        return NULL;
    }
    int64_t bytes = PyLong_AsSsize_t(given[0]), size = PyLong_AsSsize_t(given[1]);
    double scale = PyFloat_AsDouble(given[2]);
    if (PyErr_Occurred() || (bytes != 4 && bytes != 8) || size < 1 || size > INT32_MAX) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "a size is out of range");
        return NULL;
    }
    struct arrays arrays = {.count = 0};
    const int64_t *place, *rows;
    void *out;
    int64_t many = 0;
    int well = (place = memory_of(&arrays, given[3], 8 * PLACES, 0))
               && (rows = memory_of(&arrays, given[4], 0, 0));
    if (well)
        many = arrays.views[1].len / 8;
    well = well && (out = memory_of(&arrays, given[5], many * size * bytes, 1));
    if (well) {
        Py_BEGIN_ALLOW_THREADS
        if (bytes == 4)
            filled_float(out, rows, many, size, scale, place);
        else
            filled_double(out, rows, many, size, scale, place);
        Py_END_ALLOW_THREADS
    }
    let_go(&arrays);
    if (!well)
        return NULL;
    Py_RETURN_NONE;
}
