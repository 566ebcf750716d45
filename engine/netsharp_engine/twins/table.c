/* Rows of a delimited table that have nothing odd in them: numbers, missing values, texts by their codes. */
#include "twins.h"
#include "decimal.h"

/* Longer cells than these are left to the careful reading, and shorter ones that should be numbers. */
#define MOST_CELL 65536
#define MOST_NUMBER 1200
/* More columns than these no table has. */
#define MOST_ACROSS (1 << 24)
/* So many places of a table of texts are looked at; a text that stands in none of them is new. */
#define MOST_TRIES 32

/* What a column of texts holds: where each different one begins and how long it is, in the order in
   which they come, places of these (from 1) by a text's hash, and a code for each row. */
struct texts {
    int32_t *spans, *places, *codes;
    int32_t count;
};

/* What a character is: the end of a cell, or a blank that may stand around a number. */
enum kind { INSIDE, END, AROUND };

struct table {
    unsigned char kinds[256];
    const char *begin, *end;
    char delimiter, point;
    int64_t width, across, most, rows, texts_count, strict, failed;
    const int32_t *number_of, *text_of;
    double *numbers;
    struct texts *texts;
    uint32_t places;
    int missing;
    PyThreadState *thread;
};

static inline int ends_cell(const struct table *one, char c) { return one->kinds[(unsigned char)c] == END; }

static inline int is_around(const struct table *one, char c) {
    return one->kinds[(unsigned char)c] == AROUND;
}

static inline const char *cell_end(const struct table *one, const char *at, const char *end) {
    while (at < end && !ends_cell(one, *at))
        at++;
    return at;
}

/* Behind the quote that opens a cell, blanks before it passed over as csv does; NULL where none does. */
static inline const char *quote_opened(const struct table *one, const char *at) {
    if (at == one->end || (unsigned char)*at > '"')
        return NULL;
    while (at < one->end && *at == ' ' && one->delimiter != ' ' && one->delimiter != '\t')
        at++;
    return at < one->end && *at == '"' ? at + 1 : NULL;
}

/* The quote that closes a cell, of which two are one inside; NULL where a line ends before it, or
   something else follows it than a cell's end. */
static const char *quote_closed(const struct table *one, const char *at) {
    for (; at < one->end && *at != '\n' && *at != '\r'; at++) {
        if (*at != '"')
            continue;
        if (at + 1 == one->end || (at[1] != '"' && ends_cell(one, at[1])))
            return at;
        if (*++at != '"')
            return NULL;
    }
    return NULL;
}

/* Whether a cell, in lower case, is one of those that hold no value; `nan` is a number. */
static int is_missing(const char *cell, int64_t size) {
    static const char words[][5] = {"na", "n/a", "#n/a", "null", "none", "?", ""};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        int64_t at = 0;
        while (at < size && words[i][at]) {
            char c = cell[at];
            if ((c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c) != words[i][at])
                break;
            at++;
        }
        if (at == size && !words[i][at])
            return 1;
    }
    return 0;
}

/* What Python makes of `nan`, to the last bit. */
static const uint64_t no_value = UINT64_C(0x7ff8000000000000);

/* A cell that is no plain number, as Python reads it: 1 a number or missing, 0 neither, -1 where this
   cannot be told, as blanks are more than those that are known here. */
static int careful_number(struct table *one, const char *at, const char *end, int strict, double *found) {
    char copy[MOST_NUMBER + 1];
    while (at < end && is_around(one, *at))
        at++;
    while (at < end && is_around(one, end[-1]))
        end--;
    int64_t size = end - at;
    if (is_missing(at, size)) {
        memcpy(found, &no_value, sizeof no_value);
        one->missing = 1;
        return !strict;
    }
    if (size > MOST_NUMBER || (one->point != '.' && memchr(at, '.', (size_t)size)))
        return -1;
    for (int64_t i = 0; i < size; i++) {
        if (at[i] <= ' ' || at[i] > '~')
            return -1;
        copy[i] = at[i] == one->point ? '.' : at[i];
    }
    copy[size] = 0;
    PyEval_RestoreThread(one->thread);
    *found = PyOS_string_to_double(copy, NULL, NULL);
    int wrong = PyErr_Occurred() != NULL;
    PyErr_Clear();
    one->thread = PyEval_SaveThread();
    return !wrong;
}

/* What follows a cell that should be a number and ends before `end`; NULL where it is none, or that
   cannot be told. */
static inline const char *number_read(struct table *one, const char *at, const char *end, int64_t column,
                                      double *found) {
    const char *begin = at;
    while (at < end && is_around(one, *at))
        at++;
    if ((at = decimal(at, end, one->point, found))) {
        while (at < end && is_around(one, *at))
            at++;
        if (at == end || ends_cell(one, *at))
            return at;
    }
    at = cell_end(one, begin, end);
    int known = careful_number(one, begin, at, column == one->strict, found);
    if (known == 0)
        one->failed = column;
    return known > 0 ? at : NULL;
}

/* A number for a text, which others rarely have: eight bytes at a time. */
static inline uint32_t hash_of(const struct table *one, const char *at, int64_t size) {
    uint64_t hash = (uint64_t)size, bytes;
    for (; size > 0; at += 8, size -= 8) {
        bytes = one->end - at >= 8 ? eight_bytes(at) : 0;
        for (int64_t i = 0; i < size && one->end - at < 8; i++)
            bytes |= (uint64_t)(unsigned char)at[i] << 8 * i;
        if (size < 8)
            bytes &= (UINT64_C(1) << 8 * size) - 1;
        hash = (hash ^ bytes) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    return (uint32_t)hash;
}

/* The code of a text; what is not found within some tries counts as new. */
static void text_coded(struct table *one, struct texts *texts, const char *at, const char *end) {
    while (at < end && is_around(one, *at))
        at++;
    while (at < end && is_around(one, end[-1]))
        end--;
    int32_t begin = (int32_t)(at - one->begin), size = (int32_t)(end - at);
    uint32_t hash = hash_of(one, at, size);
    int32_t *place = NULL;
    for (uint32_t i = 0; i < MOST_TRIES; i++) {
        place = texts->places + ((hash + i) & (one->places - 1));
        if (!*place)
            break;
        const int32_t *span = texts->spans + 2 * (*place - 1);
        if (span[1] == size && !memcmp(one->begin + span[0], at, (size_t)size)) {
            texts->codes[one->rows] = *place - 1;
            return;
        }
        place = NULL;
    }
    int32_t code = texts->count++;
    texts->spans[2 * code] = begin;
    texts->spans[2 * code + 1] = size;
    texts->codes[one->rows] = code;
    if (place)
        *place = code + 1;
}

/* What follows a row; NULL where it is not plain. */
static const char *row_read(struct table *one, const char *at) {
    double *numbers = one->numbers + one->rows * one->across;
    for (int64_t column = 0; column < one->width; column++) {
        int32_t number = one->number_of[column], text = one->text_of[column];
        const char *begin = at, *quoted = quote_opened(one, at), *end = one->end;
        if (quoted && !(end = quote_closed(one, begin = quoted)))
            return NULL;
        /* A single cell that is blank is no row; blank are some characters beyond ASCII, too. */
        if (one->width == 1 && (begin == end || (unsigned char)*begin <= ' ' || (unsigned char)*begin >= 0x80))
            return NULL;
        if (number >= 0)
            at = number_read(one, begin, end, column, numbers + number);
        else
            at = quoted ? end : cell_end(one, begin, end);
        if (!at || at - begin > MOST_CELL || (quoted && at != end))
            return NULL;
        if (text >= 0)
            text_coded(one, one->texts + text, begin, at);
        at += quoted != NULL;
        if (column < one->width - 1 && (at == one->end || *at++ != one->delimiter))
            return NULL;
    }
    if (at == one->end)
        return at;
    if (*at == '\r')
        at++;
    return at < one->end && *at == '\n' ? at + 1 : NULL;
}

/* What follows the rows, of which there are at most `most`; NULL where one is not plain. */
static const char *rows_read(struct table *one) {
    const char *at = one->begin;
    for (; at < one->end && one->rows < one->most; one->rows++)
        if (!(at = row_read(one, at)))
            return NULL;
    return at;
}

/* The different texts of a column, in the order of their codes. */
static PyObject *levels_of(const struct table *one, const struct texts *texts) {
    PyObject *levels = PyList_New(texts->count);
    for (int32_t i = 0; levels && i < texts->count; i++) {
        const int32_t *span = texts->spans + 2 * i;
        PyObject *level = PyUnicode_DecodeUTF8(one->begin + span[0], span[1], NULL);
        if (!level || PyList_SetItem(levels, i, level)) {
            Py_DECREF(levels);
            return NULL;
        }
    }
    return levels;
}

/* Its rows, -1 where one is not plain, their bytes, the column in which a number failed, whether values
   are missing (1), and levels. */
static PyObject *told(const struct table *one, const char *at) {
    const int64_t numbers[4] = {at ? one->rows : -1, at ? at - one->begin : 0, one->failed, one->missing};
    PyObject *found = PyTuple_New(5), *levels = PyTuple_New(at ? one->texts_count : 0), *part;
    for (int64_t i = 0; levels && at && i < one->texts_count; i++)
        if (!(part = levels_of(one, one->texts + i)) || PyTuple_SetItem(levels, i, part)) {
            Py_DECREF(levels);
            levels = NULL;
        }
    if (!found || !levels) {
        Py_XDECREF(levels);
        goto failed;
    }
    if (PyTuple_SetItem(found, 4, levels))
        goto failed;
    for (int i = 0; i < 4; i++)
        if (!(part = PyLong_FromLongLong(numbers[i])) || PyTuple_SetItem(found, i, part))
            goto failed;
    return found;
failed:
    Py_XDECREF(found);
    return NULL;
}

/* Rooms for the texts of each column; 0 with an exception. */
static int texts_made(struct table *one, int32_t *codes) {
    one->places = 8;
    while ((int64_t)one->places < 2 * one->most)
        one->places *= 2;
    one->texts = PyMem_Calloc((size_t)one->texts_count + 1, sizeof(struct texts));
    for (int64_t i = 0; one->texts && i < one->texts_count; i++) {
        struct texts *texts = one->texts + i;
        texts->codes = codes + i * one->most;
        if (!(texts->spans = PyMem_Malloc((size_t)one->most * 2 * sizeof(int32_t)))
            || !(texts->places = PyMem_Calloc(one->places, sizeof(int32_t))))
            break;
        if (i == one->texts_count - 1)
            return 1;
    }
    if (one->texts && !one->texts_count)
        return 1;
    PyErr_NoMemory();
    return 0;
}

/* Bytes of whole rows; their delimiter, decimal mark and most rows, how many numbers and texts are
   across, and the column whose numbers may not be missing, or -1; numbers [most, across] of float64,
   codes of texts [texts, most] of int32, and by column which number and which text it is, -1 for none
   [columns] of int32 each.  Gives rows, at most so many, or -1 where one is not plain, their bytes, the
   column in which a number failed, whether values are missing, and for each column of texts its
   different ones. */
PyObject *table_read(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    (void)module;
    char *text;
    Py_ssize_t length;
    if (count != 11) {
        PyErr_SetString(PyExc_TypeError, "another number of arguments is needed");
        return NULL;
    }
    if (PyBytes_AsStringAndSize(given[0], &text, &length))
        return NULL;
    int64_t sizes[6];
    for (int i = 0; i < 6; i++)
        sizes[i] = PyLong_AsSsize_t(given[i + 1]);
    if (PyErr_Occurred())
        return NULL;
    struct table one = {.begin = text, .end = text + length, .delimiter = (char)sizes[0],
                        .point = (char)sizes[1], .most = sizes[2], .across = sizes[3],
                        .texts_count = sizes[4], .strict = sizes[5], .failed = -1};
    one.kinds[' '] = one.kinds['\t'] = AROUND;
    one.kinds['\n'] = one.kinds['\r'] = one.kinds['"'] = one.kinds[(unsigned char)one.delimiter] = END;
    struct arrays arrays = {.count = 0};
    PyObject *found = NULL;
    int32_t *codes;
    if (length >= INT32_MAX || one.most < 0 || one.most > length + 1 || one.across < 0
        || one.across > MOST_ACROSS || one.texts_count < 0 || one.texts_count > MOST_ACROSS) {
        PyErr_SetString(PyExc_ValueError, "a size is out of range");
        return NULL;
    }
    if (!(one.numbers = memory_of(&arrays, given[7], one.most * one.across * 8, 1))
        || !(codes = memory_of(&arrays, given[8], one.texts_count * one.most * 4, 1))
        || !(one.number_of = memory_of(&arrays, given[9], 4, 0))
        || !(one.text_of = memory_of(&arrays, given[10], arrays.views[2].len, 0)))
        goto end;
    one.width = arrays.views[2].len / 4;
    for (int64_t i = 0; i < one.width; i++)
        if (one.number_of[i] >= one.across || one.text_of[i] >= one.texts_count) {
            PyErr_SetString(PyExc_ValueError, "a column is out of range");
            goto end;
        }
    if (!texts_made(&one, codes))
        goto end;
    one.thread = PyEval_SaveThread();
    const char *at = rows_read(&one);
    PyEval_RestoreThread(one.thread);
    found = told(&one, at);
end:
    for (int64_t i = 0; one.texts && i < one.texts_count; i++) {
        PyMem_Free(one.texts[i].spans);
        PyMem_Free(one.texts[i].places);
    }
    PyMem_Free(one.texts);
    let_go(&arrays);
    return found;
}
