/* The activations, in the order of ``FUNCTIONS`` of kernels/functions.py, and what applies one. */
#ifndef NETSHARP_FUNCTIONS_H
#define NETSHARP_FUNCTIONS_H

#include <stdint.h>

enum {
    F_SIGMOID, F_LINEAR, F_SOFTMAX, F_RLINEAR, F_SQUARE, F_SQRT, F_SRLINEAR, F_ABS, F_TANH,
    F_BRLINEAR, FUNCTIONS
};

/* to[i] = function(from[i]) of `count` numbers; a softmax is over all of them. */
void apply(int64_t bytes, int64_t kind, const void *from, void *to, int64_t count);

#endif
