/* Plain sequences of CNTK's text format, as many as stand one after the other in a block of lines. */
#include "twins.h"
#include "text.h"

/* A stream: what the file calls it, what was read of it, and of that how much is in sequences. */
struct stream {
    const char *alias;
    Py_ssize_t size;
    int64_t dim, sparse, samples, numbers, kept_samples, kept_numbers, of_line;
    double *values;
    int64_t *places, *entries, *lengths;
};

struct reading {
    struct stream *streams;
    Py_ssize_t count;
    int has_ids;
    int64_t most_lines, sequences;
    int64_t *lines, *bytes;
};

static struct stream *stream_of(struct reading *one, const char *alias, const char *end) {
    for (Py_ssize_t i = 0; i < one->count; i++) {
        struct stream *stream = one->streams + i;
        if (stream->size == end - alias && !memcmp(alias, stream->alias, (size_t)(end - alias)))
            return stream;
    }
    return NULL;
}

/* The columns of a line behind what names its sequence; 0 where it is not plain. */
static int line_read(struct reading *one, const char *at, const char *last) {
    int any = 0;
    while (at < last && is_blank(*at))
        at++;
    if (at == last || *at != '|')
        return 0;
    for (Py_ssize_t i = 0; i < one->count; i++)
        one->streams[i].of_line = 0;
    while (at < last) {
        struct column column;
        at = column_of(at, last, &column);
        if (is_comment(column))
            continue;
        const char *begin = column.begin, *blank = column.blank;
        struct stream *stream = blank > begin ? stream_of(one, begin, blank) : NULL;
        if (!stream || stream->of_line++)
            return 0;
        int64_t *places = stream->sparse ? stream->places + stream->numbers : NULL;
        int64_t numbers = column_read(blank, column.close, stream->dim, stream->sparse != 0,
                                      stream->values + stream->numbers, places);
        if (numbers < 0)
            return 0;
        stream->entries[stream->samples++] = numbers;
        stream->numbers += numbers;
        any = 1;
    }
    return any;
}

/* Keep a sequence of so many lines; 0 where there is something to say of it. */
static int sequence_ended(struct reading *one, int64_t lines, int64_t bytes) {
    int64_t longest = 0;
    for (Py_ssize_t i = 0; i < one->count; i++) {
        struct stream *stream = one->streams + i;
        int64_t samples = stream->samples - stream->kept_samples;
        if (!samples)
            return 0;
        longest = samples > longest ? samples : longest;
        stream->lengths[one->sequences] = samples;
    }
    if (longest < lines || lines > one->most_lines)
        return 0;
    for (Py_ssize_t i = 0; i < one->count; i++) {
        struct stream *stream = one->streams + i;
        stream->kept_samples = stream->samples;
        stream->kept_numbers = stream->numbers;
    }
    one->lines[one->sequences] = lines;
    one->bytes[one->sequences++] = bytes;
    return 1;
}

/* What was read of the text up to its end: bytes of whole plain sequences, behind each of which
   another begins.  ``wrong``: the one behind them is not plain, or does not fit. */
static int64_t block_read(struct reading *one, const char *text, const char *end, int *wrong) {
    const char *begin = text, *at = text, *name = text;
    int64_t lines = 0, size = -1;
    *wrong = 0;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at)), *word = at;
        if (!stop)
            break;
        while (word < stop && is_digit(*word))
            word++;
        int another = !one->has_ids
                      || (word > at && (word - at != size || memcmp(at, name, (size_t)size)));
        if (another && lines) {
            if (!sequence_ended(one, lines, at - begin)) {
                *wrong = 1;
                return begin - text;
            }
            begin = at;
            lines = 0;
        }
        if (!lines && one->has_ids && word == at) {
            *wrong = 1;
            return begin - text;
        }
        if (!lines) {
            name = at;
            size = word - at;
        }
        if (!line_read(one, word, stop)) {
            *wrong = 1;
            return begin - text;
        }
        lines++;
        at = stop + 1;
    }
    if (lines && !one->has_ids && at == end) {
        if (!sequence_ended(one, lines, at - begin)) {
            *wrong = 1;
            return begin - text;
        }
        begin = at;
    }
    return begin - text;
}

static int put(PyObject *found, Py_ssize_t number, const void *memory, int64_t count) {
    PyObject *bytes = PyBytes_FromStringAndSize(memory, (Py_ssize_t)(count * 8));
    return bytes && !PyTuple_SetItem(found, number, bytes);
}

static PyObject *told(struct reading *one, int64_t bytes, int wrong) {
    PyObject *found = PyTuple_New(4 + 4 * one->count), *number;
    if (!found)
        return NULL;
    if (!(number = PyLong_FromLongLong(bytes)) || PyTuple_SetItem(found, 0, number)
        || !(number = PyBool_FromLong(wrong)) || PyTuple_SetItem(found, 1, number)
        || !put(found, 2, one->lines, one->sequences) || !put(found, 3, one->bytes, one->sequences))
        goto failed;
    for (Py_ssize_t i = 0; i < one->count; i++) {
        const struct stream *stream = one->streams + i;
        if (!put(found, 4 + 4 * i, stream->values, stream->kept_numbers)
            || !put(found, 5 + 4 * i, stream->sparse ? (void *)stream->places : (void *)stream->values,
                    stream->sparse ? stream->kept_numbers : 0)
            || !put(found, 6 + 4 * i, stream->entries, stream->kept_samples)
            || !put(found, 7 + 4 * i, stream->lengths, one->sequences))
            goto failed;
    }
    return found;
failed:
    Py_DECREF(found);
    return NULL;
}

/* Text of whole lines, where to begin, whether sequences have ids, the most lines of one, aliases,
   and [aliases, 2]: dim, and whether it is sparse.  Gives the bytes that were read, whether the
   sequence behind them is not plain, lines and bytes of each sequence, and of each stream values,
   places, numbers of each sample, and samples of each sequence. */
PyObject *read_sequences(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    (void)module;
    char *text;
    Py_ssize_t length;
    if (count != 6) {
        PyErr_SetString(PyExc_TypeError, "another number of arguments is needed");
        return NULL;
    }
    if (PyBytes_AsStringAndSize(given[0], &text, &length))
        return NULL;
    int64_t start = PyLong_AsSsize_t(given[1]), streams = PyTuple_Size(given[4]);
    struct reading one = {.count = streams, .has_ids = PyObject_IsTrue(given[2]),
                          .most_lines = PyLong_AsSsize_t(given[3])};
    if (PyErr_Occurred())
        return NULL;
    if (start < 0 || start > length || streams < 1) {
        PyErr_SetString(PyExc_ValueError, "a size is out of range");
        return NULL;
    }
    struct arrays arrays = {.count = 0};
    PyObject *found = NULL;
    const int64_t *kinds = memory_of(&arrays, given[5], streams * 16, 0);
    /* A number takes two bytes and more. */
    size_t most = (size_t)(length - start) / 2 + 2, lines = 1;
    for (const char *at = text + start; (at = memchr(at, '\n', (size_t)(text + length - at))); at++)
        lines++;
    one.streams = PyMem_Calloc((size_t)streams, sizeof(struct stream));
    one.lines = PyMem_Malloc(2 * lines * 8);
    if (!kinds)
        goto end;
    if (!one.streams || !one.lines)
        goto no_memory;
    one.bytes = one.lines + lines;
    for (Py_ssize_t i = 0; i < streams; i++) {
        struct stream *stream = one.streams + i;
        char *alias;
        if (PyBytes_AsStringAndSize(PyTuple_GetItem(given[4], i), &alias, &stream->size))
            goto end;
        stream->alias = alias;
        stream->dim = kinds[2 * i];
        stream->sparse = kinds[2 * i + 1];
        if (!(stream->entries = PyMem_Malloc((2 * lines + (stream->sparse ? 2 : 1) * most) * 8)))
            goto no_memory;
        stream->lengths = stream->entries + lines;
        stream->values = (double *)(stream->lengths + lines);
        stream->places = stream->lengths + lines + most;
    }
    int wrong;
    int64_t bytes = block_read(&one, text + start, text + length, &wrong);
    found = told(&one, bytes, wrong);
    goto end;
no_memory:
    PyErr_NoMemory();
end:
    for (Py_ssize_t i = 0; one.streams && i < streams; i++)
        PyMem_Free(one.streams[i].entries);
    PyMem_Free(one.streams);
    PyMem_Free(one.lines);
    let_go(&arrays);
    return found;
}
