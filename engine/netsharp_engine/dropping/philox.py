"""Philox-4x32-10, a counter-based random generator, in numpy; it knows nothing of dropout.

Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011, section 3.2.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

#: Factors of both products of a round, what both words of the key grow by, and how many rounds.
FACTORS = (0xD2511F53, 0xCD9E8D57)
GROWTH = (0x9E3779B9, 0xBB67AE85)
ROUNDS = 10
#: The words of a counter and of a result.
WORDS = 4
_LOW, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)
Words = npt.NDArray[np.uint64]


def random_words(counter: tuple[Words, Words, Words, Words], key: tuple[int, int]) -> Words:
    """Return uint64 [4, ...] with a random number below 2**32 for each word of each counter.

    The arrays of ``counter`` are of uint64 below 2**32 and are broadcast together; ``key`` has two
    numbers below 2**32.
    """
    a, b, c, d = np.broadcast_arrays(*counter)
    first, second = key
    for _ in range(ROUNDS):
        left, right = a * np.uint64(FACTORS[0]), c * np.uint64(FACTORS[1])
        a, b, c, d = (
            (right >> _HALF) ^ b ^ np.uint64(first),
            right & _LOW,
            (left >> _HALF) ^ d ^ np.uint64(second),
            left & _LOW,
        )
        # 32 bits: the words of a key.
        first, second = (first + GROWTH[0]) & 0xFFFFFFFF, (second + GROWTH[1]) & 0xFFFFFFFF
    return np.stack((a, b, c, d))
