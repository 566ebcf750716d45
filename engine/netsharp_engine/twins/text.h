/* Numbers of a column of CNTK's text format, each with one rounding, or left to the careful reading. */
#ifndef NETSHARP_TEXT_H
#define NETSHARP_TEXT_H

#include <stdint.h>
#include <string.h>

/* Ten to these powers, and whole numbers up to this one, are exact as double: one rounding is left. */
#define EXACT_POWER 22
#define EXACT_WHOLE (INT64_C(1) << 53)

static const double powers[EXACT_POWER + 1] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
};

static inline int is_digit(char c) { return c >= '0' && c <= '9'; }

static inline int is_blank(char c) { return c == ' ' || c == '\t'; }

/* What follows a number's text; NULL where it is none, or one that takes more than one rounding. */
static inline const char *number(const char *at, const char *end, double *found) {
    int64_t whole = 0, power = 0;
    int negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    if (at == end || !is_digit(*at))
        return NULL;
    for (; at < end && is_digit(*at); at++) {
        whole = whole * 10 + (*at - '0');
        if (whole > EXACT_WHOLE)
            return NULL;
    }
    if (at < end && *at == '.')
        for (at++; at < end && is_digit(*at); at++, power--) {
            whole = whole * 10 + (*at - '0');
            if (whole > EXACT_WHOLE)
                return NULL;
        }
    if (at < end && (*at == 'e' || *at == 'E')) {
        int64_t told = 0;
        int down = ++at < end && *at == '-';
        if (at < end && (*at == '-' || *at == '+'))
            at++;
        if (at == end || !is_digit(*at))
            return NULL;
        for (; at < end && is_digit(*at); at++)
            if ((told = told * 10 + (*at - '0')) > 1000)
                return NULL;
        power += down ? -told : told;
    }
    if (power < -EXACT_POWER || power > EXACT_POWER)
        return NULL;
    double value = power < 0 ? (double)whole / powers[-power] : (double)whole * powers[power];
    *found = negative ? -value : value;
    return at;
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
