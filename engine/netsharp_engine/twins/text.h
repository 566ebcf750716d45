/* Numbers of a column of CNTK's text format, each with one rounding, or left to the careful reading. */
#ifndef NETSHARP_TEXT_H
#define NETSHARP_TEXT_H

#include <stdint.h>
#include <string.h>
#include "decimal.h"

static inline int is_blank(char c) { return c == ' ' || c == '\t'; }

/* What follows a number's text, which begins with a digit; NULL where it is none, or not decided. */
static inline const char *number(const char *at, const char *end, double *found) {
    const char *first = at + (at < end && (*at == '-' || *at == '+'));
    return first < end && is_digit(*first) ? decimal(at, end, '.', found) : NULL;
}

/* A column of a line: its name, from `begin` to `blank`, and what stands there up to `close`. */
struct column {
    const char *begin, *blank, *close;
};

/* Where the column behind the mark at `at` ends. */
static inline const char *column_of(const char *at, const char *last, struct column *one) {
    const char *begin = at + 1, *end = memchr(begin, '|', (size_t)(last - begin));
    end = end ? end : last;
    const char *close = end, *blank = begin;
    while (close > begin && (unsigned char)close[-1] <= 32)
        close--;
    while (blank < close && !is_blank(*blank))
        blank++;
    *one = (struct column){begin, blank, close};
    return end;
}

static inline int is_comment(struct column one) {
    return one.begin < one.close && *one.begin == '#';
}

/* The numbers of a column, and of a sparse one their places; -1 where it is not a plain one. */
static inline int64_t column_read(const char *at, const char *end, int64_t dim, int sparse, double *values,
                                  int64_t *places) {
    int64_t count = 0;
    while (at < end) {
        if (is_blank(*at)) {
            at++;
            continue;
        }
        if (sparse) {
            int64_t place = 0;
            const char *begin = at;
            for (; at < end && is_digit(*at); at++)
                if (at - begin >= 18 || (place = place * 10 + (*at - '0')) >= dim)
                    return -1;
            if (at == begin || at == end || *at++ != ':')
                return -1;
            places[count] = place;
        } else if (count == dim)
            return -1;
        if (!(at = number(at, end, values + count++)) || (at < end && !is_blank(*at)))
            return -1;
    }
    return sparse || count == dim ? count : -1;
}

#endif
