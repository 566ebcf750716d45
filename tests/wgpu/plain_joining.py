"""Joining as its definition says it: the order of all kernels is computed again for each pair.

It shares with what is shipped whether two kernels fit and what both become, and nothing else.
"""

from __future__ import annotations

from netsharp_engine.wgpu_backend.planning import joining


def join(kernels):
    found, place = list(kernels), 0
    while place < len(found):
        joined = _joined(found, place)
        if joined is None:
            place += 1
        else:
            found, place = joined
    return found


def _joined(kernels, place):
    reader = kernels[place]
    if reader.sums or reader.pieces > 1:
        return None
    before = joining.orders(kernels)
    for number in sorted(before[place], reverse=True):
        maker = kernels[number]
        if not joining._fit(maker, reader) or _between(before, number, place):
            continue
        rest = kernels[:number] + kernels[number + 1 : place] + kernels[place + 1 :]
        users = [k for k in range(number + 1, place) if number in before[k]]
        at = number if users else place - 1
        if users and any(k > number for k in before[place] - {number}):
            continue
        return [*rest[:at], joining._both(maker, reader), *rest[at:]], at
    return None


def _between(before, first, last):
    after = {first}
    for place in range(first + 1, last):
        if before[place] & after:
            after.add(place)
    after.discard(first)
    return bool(before[last] & after)
