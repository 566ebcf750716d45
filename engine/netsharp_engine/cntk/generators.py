"""The two generators of the C++ standard library that CNTK uses: ``minstd_rand0`` for initial
values, ``mt19937_64`` for orders. They must not know what is drawn with them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
#: Of ``minstd_rand0``: C++ standard, [rand.predef]; Park and Miller (1988).
_MULTIPLIER, _MODULUS = 16807, 2**31 - 1


class MinimalStandard:
    """The generator of initial values: seeds 0 and 1 begin the same stream."""

    def __init__(self, seed: int) -> None:
        self._state = seed % _MODULUS or 1

    def draws(self, count: int) -> npt.NDArray[np.uint64]:
        """Return the next ``count`` whole numbers, uint64 [count]."""
        found = np.empty(count, np.uint64)
        if not count:
            return found
        found[0] = self._state * _MULTIPLIER % _MODULUS
        known, jump = 1, _MULTIPLIER
        while known < count:  # as many again, each at this distance after a known draw
            more = min(known, count - known)
            found[known : known + more] = found[:more] * np.uint64(jump) % np.uint64(_MODULUS)
            known, jump = known + more, jump * jump % _MODULUS
        self._state = int(found[-1])
        return found

    def units(self, count: int, dtype: str) -> Array:
        """Return the next numbers from 0 to 1, [count] (in float32 1 can be among them); a float64
        number takes two draws.
        """
        most = _MODULUS - 1
        if dtype == "float32":
            draws = (self.draws(count) - np.uint64(1)).astype(np.float32)
            return np.asarray(draws / np.float32(most))
        pairs = (self.draws(2 * count) - np.uint64(1)).astype(np.float64).reshape(-1, 2)
        return np.asarray((pairs[:, 0] + pairs[:, 1] * most) / (float(most) * most))


#: Of ``mt19937_64``, here and below: C++ standard, [rand.predef]; Nishimura (2000).
_SIZE, _MIDDLE = 312, 156
_LOW, _HIGH = np.uint64(0x7FFFFFFF), np.uint64(0xFFFFFFFF80000000)
_TWIST = np.uint64(0xB5026F5AA96619E9)
_SEEDING, _WORD = 6364136223846793005, 2**64 - 1
#: Shifts and masks of a draw's tempering: positive to the right, negative to the left.
_TEMPERING = ((29, 0x5555555555555555), (-17, 0x71D67FFFEDA60000), (-37, 0xFFF7EEE000000000))


class Twister:
    """The 64-bit Mersenne twister, which shuffles."""

    def __init__(self, seed: int) -> None:
        words = [seed & _WORD]
        for number in range(1, _SIZE):
            last = words[-1]
            words.append((_SEEDING * (last ^ (last >> 62)) + number) & _WORD)
        self._words = np.array(words, np.uint64)
        self._left: Array = np.empty(0, np.uint64)

    def draws(self, count: int) -> npt.NDArray[np.uint64]:
        """Return the next ``count`` numbers of 64 bits, uint64 [count]."""
        blocks, known = [self._left], len(self._left)
        while known < count:
            blocks.append(self._block())
            known += _SIZE
        found: Array = np.concatenate(blocks)
        self._left = found[count:]
        return found[:count]

    def _block(self) -> Array:
        """Return the next state, each word made of three of the last one or of those before it."""
        words = self._words
        one = np.uint64(1)
        for start, end in ((0, _MIDDLE), (_MIDDLE, _SIZE - 1), (_SIZE - 1, _SIZE)):
            here = np.arange(start, end)
            joined = (words[here] & _HIGH) | (words[(here + 1) % _SIZE] & _LOW)
            twisted = words[(here + _MIDDLE) % _SIZE] ^ (joined >> one)
            words[here] = twisted ^ ((joined & one) * _TWIST)
        drawn = words.copy()
        for shift, mask in _TEMPERING:
            by = np.uint64(abs(shift))
            drawn ^= (drawn >> by if shift > 0 else drawn << by) & np.uint64(mask)
        drawn ^= drawn >> np.uint64(43)
        return drawn
