/* Rows of a gradient, each times a number, summed up by the place that they belong to. */
#include "twins.h"

/* As many columns are summed up beside each other. */
#define BESIDE 64

struct summing {
    const float *rows, *factors;
    const int64_t *samples, *order, *starts;
    int64_t width, entries, places;
    float *sums;
};

static void sum_place(const struct summing *one, int64_t place) {
    int64_t end = place + 1 < one->places ? one->starts[place + 1] : one->entries;
    float *out = one->sums + place * one->width;
    for (int64_t first = 0; first < one->width; first += BESIDE) {
        int64_t count = one->width - first < BESIDE ? one->width - first : BESIDE;
        double sums[BESIDE] = {0};
        for (int64_t i = one->starts[place]; i < end; i++) {
            int64_t entry = one->order[i];
            const float *row = one->rows + one->samples[entry] * one->width + first;
            float factor = one->factors[entry];
            for (int64_t j = 0; j < count; j++)
                sums[j] += row[j] * factor;
        }
        for (int64_t j = 0; j < count; j++)
            out[first + j] = (float)sums[j];
    }
}

/* Whether all of these are indices below a bound. */
static int below(const int64_t *found, int64_t count, int64_t bound) {
    int64_t wrong = 0;
    for (int64_t i = 0; i < count; i++)
        wrong |= found[i] < 0 || found[i] >= bound;
    return !wrong;
}

/* rows [samples, width], factors, samples and order [entries], starts [places], sums. */
PyObject *rows_summed(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    (void)module;
    if (count != 6) {
        PyErr_SetString(PyExc_TypeError, "another number of arguments is needed");
        return NULL;
    }
    struct arrays arrays = {.count = 0};
    struct summing one;
    PyObject *found = NULL;
    if (!(one.rows = memory_of(&arrays, given[0], 0, 0))
        || !(one.factors = memory_of(&arrays, given[1], 0, 0))
        || !(one.samples = memory_of(&arrays, given[2], arrays.views[1].len * 2, 0))
        || !(one.order = memory_of(&arrays, given[3], arrays.views[1].len * 2, 0))
        || !(one.starts = memory_of(&arrays, given[4], sizeof(int64_t), 0))
        || !(one.sums = memory_of(&arrays, given[5], 0, 1)))
        goto end;
    one.entries = arrays.views[1].len / 4;
    one.places = arrays.views[4].len / 8;
    one.width = arrays.views[5].len / 4 / one.places;
    int64_t samples = one.width ? arrays.views[0].len / 4 / one.width : 0;
    if (!below(one.samples, one.entries, samples) || !below(one.order, one.entries, one.entries)
        || !below(one.starts, one.places, one.entries)) {
        PyErr_SetString(PyExc_ValueError, "an index is out of range");
        goto end;
    }
    Py_BEGIN_ALLOW_THREADS
    for (int64_t place = 0; place < one.places; place++)
        sum_place(&one, place);
    Py_END_ALLOW_THREADS
    found = Py_None;
    Py_INCREF(found);
end:
    let_go(&arrays);
    return found;
}
