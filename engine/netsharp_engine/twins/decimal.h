/* Decimal numbers as double, with one rounding; what is not decided here is left to the caller. */
#ifndef NETSHARP_DECIMAL_H
#define NETSHARP_DECIMAL_H

#include <float.h>
#include <stdint.h>
#include <string.h>

/* Ten to these powers, and whole numbers up to this one, are exact as double: one rounding is left. */
#define EXACT_POWER 22
#define EXACT_WHOLE (UINT64_C(1) << 53)
/* So many digits fit 64 bits, whatever they are. */
#define MOST_DIGITS 19

static const double powers[EXACT_POWER + 1] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
};

static const uint64_t whole_powers[MOST_DIGITS + 1] = {
    UINT64_C(1),
    UINT64_C(10),
    UINT64_C(100),
    UINT64_C(1000),
    UINT64_C(10000),
    UINT64_C(100000),
    UINT64_C(1000000),
    UINT64_C(10000000),
    UINT64_C(100000000),
    UINT64_C(1000000000),
    UINT64_C(10000000000),
    UINT64_C(100000000000),
    UINT64_C(1000000000000),
    UINT64_C(10000000000000),
    UINT64_C(100000000000000),
    UINT64_C(1000000000000000),
    UINT64_C(10000000000000000),
    UINT64_C(100000000000000000),
    UINT64_C(1000000000000000000),
    UINT64_C(10000000000000000000),
};

/* The first 64 bits of ten to the powers from -MOST_POWER to MOST_POWER, cut off behind them. */
#define MOST_POWER 64
static const uint64_t first_bits[2 * MOST_POWER + 1] = {
    UINT64_C(0xa87fea27a539e9a5), UINT64_C(0xd29fe4b18e88640e), UINT64_C(0x83a3eeeef9153e89), UINT64_C(0xa48ceaaab75a8e2b),
    UINT64_C(0xcdb02555653131b6), UINT64_C(0x808e17555f3ebf11), UINT64_C(0xa0b19d2ab70e6ed6), UINT64_C(0xc8de047564d20a8b),
    UINT64_C(0xfb158592be068d2e), UINT64_C(0x9ced737bb6c4183d), UINT64_C(0xc428d05aa4751e4c), UINT64_C(0xf53304714d9265df),
    UINT64_C(0x993fe2c6d07b7fab), UINT64_C(0xbf8fdb78849a5f96), UINT64_C(0xef73d256a5c0f77c), UINT64_C(0x95a8637627989aad),
    UINT64_C(0xbb127c53b17ec159), UINT64_C(0xe9d71b689dde71af), UINT64_C(0x9226712162ab070d), UINT64_C(0xb6b00d69bb55c8d1),
    UINT64_C(0xe45c10c42a2b3b05), UINT64_C(0x8eb98a7a9a5b04e3), UINT64_C(0xb267ed1940f1c61c), UINT64_C(0xdf01e85f912e37a3),
    UINT64_C(0x8b61313bbabce2c6), UINT64_C(0xae397d8aa96c1b77), UINT64_C(0xd9c7dced53c72255), UINT64_C(0x881cea14545c7575),
    UINT64_C(0xaa242499697392d2), UINT64_C(0xd4ad2dbfc3d07787), UINT64_C(0x84ec3c97da624ab4), UINT64_C(0xa6274bbdd0fadd61),
    UINT64_C(0xcfb11ead453994ba), UINT64_C(0x81ceb32c4b43fcf4), UINT64_C(0xa2425ff75e14fc31), UINT64_C(0xcad2f7f5359a3b3e),
    UINT64_C(0xfd87b5f28300ca0d), UINT64_C(0x9e74d1b791e07e48), UINT64_C(0xc612062576589dda), UINT64_C(0xf79687aed3eec551),
    UINT64_C(0x9abe14cd44753b52), UINT64_C(0xc16d9a0095928a27), UINT64_C(0xf1c90080baf72cb1), UINT64_C(0x971da05074da7bee),
    UINT64_C(0xbce5086492111aea), UINT64_C(0xec1e4a7db69561a5), UINT64_C(0x9392ee8e921d5d07), UINT64_C(0xb877aa3236a4b449),
    UINT64_C(0xe69594bec44de15b), UINT64_C(0x901d7cf73ab0acd9), UINT64_C(0xb424dc35095cd80f), UINT64_C(0xe12e13424bb40e13),
    UINT64_C(0x8cbccc096f5088cb), UINT64_C(0xafebff0bcb24aafe), UINT64_C(0xdbe6fecebdedd5be), UINT64_C(0x89705f4136b4a597),
    UINT64_C(0xabcc77118461cefc), UINT64_C(0xd6bf94d5e57a42bc), UINT64_C(0x8637bd05af6c69b5), UINT64_C(0xa7c5ac471b478423),
    UINT64_C(0xd1b71758e219652b), UINT64_C(0x83126e978d4fdf3b), UINT64_C(0xa3d70a3d70a3d70a), UINT64_C(0xcccccccccccccccc),
    UINT64_C(0x8000000000000000), UINT64_C(0xa000000000000000), UINT64_C(0xc800000000000000), UINT64_C(0xfa00000000000000),
    UINT64_C(0x9c40000000000000), UINT64_C(0xc350000000000000), UINT64_C(0xf424000000000000), UINT64_C(0x9896800000000000),
    UINT64_C(0xbebc200000000000), UINT64_C(0xee6b280000000000), UINT64_C(0x9502f90000000000), UINT64_C(0xba43b74000000000),
    UINT64_C(0xe8d4a51000000000), UINT64_C(0x9184e72a00000000), UINT64_C(0xb5e620f480000000), UINT64_C(0xe35fa931a0000000),
    UINT64_C(0x8e1bc9bf04000000), UINT64_C(0xb1a2bc2ec5000000), UINT64_C(0xde0b6b3a76400000), UINT64_C(0x8ac7230489e80000),
    UINT64_C(0xad78ebc5ac620000), UINT64_C(0xd8d726b7177a8000), UINT64_C(0x878678326eac9000), UINT64_C(0xa968163f0a57b400),
    UINT64_C(0xd3c21bcecceda100), UINT64_C(0x84595161401484a0), UINT64_C(0xa56fa5b99019a5c8), UINT64_C(0xcecb8f27f4200f3a),
    UINT64_C(0x813f3978f8940984), UINT64_C(0xa18f07d736b90be5), UINT64_C(0xc9f2c9cd04674ede), UINT64_C(0xfc6f7c4045812296),
    UINT64_C(0x9dc5ada82b70b59d), UINT64_C(0xc5371912364ce305), UINT64_C(0xf684df56c3e01bc6), UINT64_C(0x9a130b963a6c115c),
    UINT64_C(0xc097ce7bc90715b3), UINT64_C(0xf0bdc21abb48db20), UINT64_C(0x96769950b50d88f4), UINT64_C(0xbc143fa4e250eb31),
    UINT64_C(0xeb194f8e1ae525fd), UINT64_C(0x92efd1b8d0cf37be), UINT64_C(0xb7abc627050305ad), UINT64_C(0xe596b7b0c643c719),
    UINT64_C(0x8f7e32ce7bea5c6f), UINT64_C(0xb35dbf821ae4f38b), UINT64_C(0xe0352f62a19e306e), UINT64_C(0x8c213d9da502de45),
    UINT64_C(0xaf298d050e4395d6), UINT64_C(0xdaf3f04651d47b4c), UINT64_C(0x88d8762bf324cd0f), UINT64_C(0xab0e93b6efee0053),
    UINT64_C(0xd5d238a4abe98068), UINT64_C(0x85a36366eb71f041), UINT64_C(0xa70c3c40a64e6c51), UINT64_C(0xd0cf4b50cfe20765),
    UINT64_C(0x82818f1281ed449f), UINT64_C(0xa321f2d7226895c7), UINT64_C(0xcbea6f8ceb02bb39), UINT64_C(0xfee50b7025c36a08),
    UINT64_C(0x9f4f2726179a2245), UINT64_C(0xc722f0ef9d80aad6), UINT64_C(0xf8ebad2b84e0d58b), UINT64_C(0x9b934c3b330c8577),
    UINT64_C(0xc2781f49ffcfa6d5),
};

static inline int is_digit(char c) { return c >= '0' && c <= '9'; }

/* Eight bytes, the first one lowest. */
static inline uint64_t eight_bytes(const char *at) {
    const unsigned char *b = (const unsigned char *)at;
    return (uint64_t)b[0] | (uint64_t)b[1] << 8 | (uint64_t)b[2] << 16 | (uint64_t)b[3] << 24
           | (uint64_t)b[4] << 32 | (uint64_t)b[5] << 40 | (uint64_t)b[6] << 48 | (uint64_t)b[7] << 56;
}

/* How many of eight bytes, each a character without the bits of '0', are digits before one is none. */
static inline int digits_first(uint64_t bytes) {
    uint64_t others = ((bytes + UINT64_C(0x7676767676767676)) | bytes) & UINT64_C(0x8080808080808080);
    if (!others)
        return 8;
    /* Below the lowest bit that is set lie 8 bits for each digit and 7 more. */
    uint64_t below = ((others & (~others + 1)) - 1) & UINT64_C(0x0101010101010101);
    return (int)((below * UINT64_C(0x0101010101010101)) >> 56) - 1;
}

/* The number that eight digits make: of neighbours two, then four, then eight together. */
static inline uint64_t of_eight(uint64_t digits) {
    digits = (digits * (1 + (10 << 8))) >> 8 & UINT64_C(0x00ff00ff00ff00ff);
    digits = (digits * (1 + (100 << 16))) >> 16 & UINT64_C(0x0000ffff0000ffff);
    return (digits * (1 + (UINT64_C(10000) << 32))) >> 32;
}

/* What follows the digits at a place.  They are put behind those of `whole`, which is wrong where
   there are more than MOST_DIGITS. */
static inline const char *digits(const char *at, const char *end, uint64_t *whole) {
    while (end - at >= 8) {
        uint64_t bytes = eight_bytes(at) ^ UINT64_C(0x3030303030303030);
        int count = digits_first(bytes);
        if (!count)
            return at;
        *whole = *whole * whole_powers[count] + of_eight(bytes << 8 * (8 - count));
        at += count;
        if (count < 8)
            return at;
    }
    for (; at < end && is_digit(*at); at++)
        *whole = *whole * 10 + (uint64_t)(*at - '0');
    return at;
}

/* The upper half of a product of 128 bits, and the lower one. */
static inline uint64_t product_of(uint64_t a, uint64_t b, uint64_t *lower) {
    uint64_t low = (uint32_t)a * (uint64_t)(uint32_t)b, one = (a >> 32) * (uint32_t)b;
    uint64_t other = (uint32_t)a * (b >> 32), middle = (low >> 32) + (uint32_t)one + (uint32_t)other;
    *lower = middle << 32 | (uint32_t)low;
    return (a >> 32) * (b >> 32) + (one >> 32) + (other >> 32) + (middle >> 32);
}

/* whole * 10^power as double; 0 where that is not decided.

   The first 64 bits of the power are too small by less than one of their last, so the upper half of
   the product with `whole`, shifted to its 64 bits, is too small by less than one, too, beside what
   stands in the lower half.  The result has 53 bits of it, and the bits behind these say how it is
   rounded, but where one more might make them the half or cross it. */
static inline int scaled(uint64_t whole, int64_t power, double *found) {
    if (FLT_EVAL_METHOD == 0 && whole <= EXACT_WHOLE && power >= -EXACT_POWER && power <= EXACT_POWER) {
        double value = (double)(int64_t)whole;
        *found = power < 0 ? value / powers[-power] : value * powers[power];
        return 1;
    }
    if (!whole) {
        *found = 0;
        return 1;
    }
    if (power < -MOST_POWER || power > MOST_POWER)
        return 0;
    int shifted = 0;
    for (int step = 32; step; step /= 2) {
        int by = (whole >> (64 - step) == 0) * step;
        whole <<= by;
        shifted += by;
    }
    uint64_t lower, upper = product_of(whole, first_bits[MOST_POWER + power], &lower);
    int more = 10 + (int)(upper >> 63);
    uint64_t half = UINT64_C(1) << (more - 1), tail = upper & (2 * half - 1);
    if (tail == half - 1 || (tail == half && !lower))
        return 0;
    /* What the last of the power's 64 bits counts: 2 to the whole part of power * log2(10), less 63. */
    int64_t binary = ((217706 * power + (INT64_C(1) << 30)) >> 16) - (INT64_C(1) << 14) - 63;
    uint64_t bits = (upper >> more) + (tail >= half) - (UINT64_C(1) << 52);
    bits += (uint64_t)(binary + 64 + more - shifted + 52 + 1023) << 52;
    memcpy(found, &bits, sizeof bits);
    return 1;
}

/* What follows the number at a place, whose fraction stands behind `point`; NULL where there is none
   or it is not decided. */
static inline const char *decimal(const char *at, const char *end, char point, double *found) {
    uint64_t whole = 0;
    int64_t power = 0;
    int negative = at < end && *at == '-';
    at += negative | (at < end && *at == '+');
    const char *begin = at;
    at = digits(at, end, &whole);
    int64_t count = at - begin, counted = whole ? count : 0;
    if (count > MOST_DIGITS)
        return NULL;
    if (at < end && *at == point) {
        begin = ++at;
        at = digits(at, end, &whole);
        power = begin - at;
        count -= power;
        counted -= power;
    }
    if (!count || counted > MOST_DIGITS)
        return NULL;
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
    if (!scaled(whole, power, found))
        return NULL;
    uint64_t bits;
    memcpy(&bits, found, sizeof bits);
    bits |= (uint64_t)negative << 63;
    memcpy(found, &bits, sizeof bits);
    return at;
}

#endif
