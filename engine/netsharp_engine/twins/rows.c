/* Rows of a matrix that sparse samples choose, and rows of a gradient, each times a number, summed
   up by the place that they belong to. */
#include "twins.h"

/* As many columns are summed up beside each other, and as many bits are sorted by at once. */
#define BESIDE 64
#define BITS 11

/* What one entry is: its place, its sample, and where it stood. */
struct entry {
    int64_t place, sample, number;
};

struct summing {
    const float *rows, *factors;
    const int64_t *places, *starts;
    int64_t width, entries, samples, *found;
    float *sums;
};

/* Entries in the order of their places, those of one place in their own; from and to change. */
static struct entry *sorted(struct entry *from, struct entry *to, int64_t count, int64_t most) {
    for (int shift = 0; shift < 63 && most >> shift; shift += BITS) {
        int64_t begins[(1 << BITS) + 1] = {0};
        for (int64_t i = 0; i < count; i++)
            begins[((from[i].place >> shift) & ((1 << BITS) - 1)) + 1]++;
        for (int i = 0; i < 1 << BITS; i++)
            begins[i + 1] += begins[i];
        for (int64_t i = 0; i < count; i++)
            to[begins[(from[i].place >> shift) & ((1 << BITS) - 1)]++] = from[i];
        struct entry *other = from;
        from = to;
        to = other;
    }
    return from;
}

static void sum_place(const struct summing *one, const struct entry *entries, int64_t count,
                      float *out) {
    for (int64_t first = 0; first < one->width; first += BESIDE) {
        int64_t columns = one->width - first < BESIDE ? one->width - first : BESIDE;
        double sums[BESIDE] = {0};
        for (int64_t i = 0; i < count; i++) {
            const float *row = one->rows + entries[i].sample * one->width + first;
            float factor = one->factors[entries[i].number];
            for (int64_t j = 0; j < columns; j++)
                sums[j] += row[j] * factor;
        }
        for (int64_t j = 0; j < columns; j++)
            out[first + j] = (float)sums[j];
    }
}

/* How many places there are. */
static int64_t summed(const struct summing *one, struct entry *room, int64_t most) {
    int64_t places = 0;
    for (int64_t sample = 0; sample < one->samples; sample++)
        for (int64_t i = one->starts[sample]; i < one->starts[sample + 1]; i++)
            room[i] = (struct entry){one->places[i], sample, i};
    const struct entry *all = sorted(room, room + one->entries, one->entries, most);
    for (int64_t begin = 0, end; begin < one->entries; begin = end, places++) {
        for (end = begin + 1; end < one->entries && all[end].place == all[begin].place; end++)
            ;
        one->found[places] = all[begin].place;
        sum_place(one, all + begin, end - begin, one->sums + places * one->width);
    }
    return places;
}

/* Whether entries are parted by samples; the largest place. */
static int parted(const struct summing *one, int64_t *most) {
    int64_t wrong = one->starts[0] != 0 || one->starts[one->samples] != one->entries;
    *most = 0;
    for (int64_t i = 0; i < one->samples; i++)
        wrong |= one->starts[i] > one->starts[i + 1];
    for (int64_t i = 0; i < one->entries; i++)
        *most = one->places[i] > *most ? one->places[i] : *most;
    return !wrong;
}

/* Whether no place is below 0. */
static int above(const struct summing *one) {
    int64_t wrong = 0;
    for (int64_t i = 0; i < one->entries; i++)
        wrong |= one->places[i] < 0;
    return !wrong;
}

/* rows [samples, width], factors and places [entries], starts [samples + 1]; the places in their
   order and the sums [entries, width] at most: how many there are. */
PyObject *rows_summed(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    (void)module;
    if (count != 6) {
        PyErr_SetString(PyExc_TypeError, "another number of arguments is needed");
        return NULL;
    }
    struct arrays arrays = {.count = 0};
    struct summing one;
    struct entry *room = NULL;
    PyObject *found = NULL;
    int64_t most, places;
    if (!(one.rows = memory_of(&arrays, given[0], 0, 0))
        || !(one.factors = memory_of(&arrays, given[1], 0, 0))
        || !(one.places = memory_of(&arrays, given[2], arrays.views[1].len * 2, 0))
        || !(one.starts = memory_of(&arrays, given[3], 2 * sizeof(int64_t), 0))
        || !(one.found = memory_of(&arrays, given[4], arrays.views[1].len * 2, 1))
        || !(one.sums = memory_of(&arrays, given[5], 0, 1)))
        goto end;
    one.entries = arrays.views[1].len / 4;
    one.samples = arrays.views[3].len / 8 - 1;
    one.width = arrays.views[0].len / 4 / one.samples;
    if (!parted(&one, &most) || !above(&one) || arrays.views[5].len / 4 < one.entries * one.width) {
        PyErr_SetString(PyExc_ValueError, "an index is out of range");
        goto end;
    }
    if (!(room = PyMem_Malloc((size_t)(2 * one.entries + 1) * sizeof(struct entry)))) {
        PyErr_NoMemory();
        goto end;
    }
    Py_BEGIN_ALLOW_THREADS
    places = summed(&one, room, most);
    Py_END_ALLOW_THREADS
    found = PyLong_FromSsize_t((Py_ssize_t)places);
end:
    PyMem_Free(room);
    let_go(&arrays);
    return found;
}

enum { FOUND, SEVERAL, BEYOND };

/* Each sample's row of a matrix times its number, 0 where it has none; whether that could be. */
static int chosen(const float *matrix, int64_t height, int64_t width, const float *factors,
                  const int64_t *places, const int64_t *starts, int64_t samples, float *out) {
    for (int64_t sample = 0; sample < samples; sample++, out += width) {
        int64_t at = starts[sample], count = starts[sample + 1] - at;
        if (!count) {
            memset(out, 0, (size_t)width * sizeof(float));
            continue;
        }
        if (count > 1)
            return SEVERAL;
        if (places[at] < 0 || places[at] >= height)
            return BEYOND;
        const float *row = matrix + places[at] * width;
        float factor = factors[at];
        if (factor == 1)
            memcpy(out, row, (size_t)width * sizeof(float));
        else
            for (int64_t j = 0; j < width; j++)
                out[j] = row[j] * factor;
    }
    return FOUND;
}

/* Width; matrix [places, width], factors and places [entries], starts [samples + 1], rows [samples,
   width]: 0, or 1 where a sample has several numbers, or 2 where a place is beyond the matrix. */
PyObject *rows_chosen(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    (void)module;
    if (count != 6) {
        PyErr_SetString(PyExc_TypeError, "another number of arguments is needed");
        return NULL;
    }
    int64_t width = PyLong_AsSsize_t(given[0]), most;
    if (PyErr_Occurred())
        return NULL;
    struct arrays arrays = {.count = 0};
    struct summing one;
    const float *matrix;
    float *out;
    PyObject *found = NULL;
    int how = FOUND;
    if (!(matrix = memory_of(&arrays, given[1], 0, 0))
        || !(one.factors = memory_of(&arrays, given[2], 0, 0))
        || !(one.places = memory_of(&arrays, given[3], arrays.views[1].len * 2, 0))
        || !(one.starts = memory_of(&arrays, given[4], sizeof(int64_t), 0))
        || !(out = memory_of(&arrays, given[5], 0, 1)))
        goto end;
    one.entries = arrays.views[1].len / 4;
    one.samples = arrays.views[3].len / 8 - 1;
    int64_t room = arrays.views[4].len / 4;
    if (width < 1 || room / width < one.samples || !parted(&one, &most)) {
        PyErr_SetString(PyExc_ValueError, "an index is out of range");
        goto end;
    }
    Py_BEGIN_ALLOW_THREADS
    how = chosen(matrix, arrays.views[0].len / 4 / width, width, one.factors, one.places,
                 one.starts, one.samples, out);
    Py_END_ALLOW_THREADS
    found = PyLong_FromSsize_t(how);
end:
    let_go(&arrays);
    return found;
}
