"""The memory that this process may still take, as far as the system reports it; imports nothing
heavy.

Linux reports free memory, control groups and limits; elsewhere nothing is known.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

#: Where control groups are mounted, and what the two versions call limit, use and idle pages.
_GROUPS = "/sys/fs/cgroup"
_FILES = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)


def free_memory() -> int | None:
    """Return the bytes that may still be taken: the least of the reported amounts; None without
    any.
    """
    amounts = (_free_of_system(), _free_of_limit(), *_free_of_groups())
    return min((amount for amount in amounts if amount is not None), default=None)


def _free_of_system() -> int | None:
    """Return the bytes that the kernel could give without killing a process, swap included."""
    lines = _held_in("/proc/meminfo").splitlines()
    kilobytes = {
        name: int(rest.split()[0]) for name, _, rest in (line.partition(":") for line in lines)
    }
    if "MemAvailable" not in kilobytes:
        return None
    return (kilobytes["MemAvailable"] + kilobytes.get("SwapFree", 0)) * 1024


def _free_of_limit() -> int | None:
    """Return the bytes that RLIMIT_AS leaves of the process's addresses."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    taken = _held_in("/proc/self/statm").split()
    if most == resource.RLIM_INFINITY or not taken:
        return None
    return max(most - int(taken[0]) * resource.getpagesize(), 0)


def _free_of_groups() -> Iterator[int]:
    """Yield the bytes that each control group around the process leaves."""
    for line in _held_in("/proc/self/cgroup").splitlines():
        _, kinds, path = line.split(":", 2)
        if kinds and "memory" not in kinds.split(","):
            continue
        for mount in (_GROUPS, f"{_GROUPS}/unified") if not kinds else (f"{_GROUPS}/memory",):
            while True:
                yield from _free_of_group(mount + path.rstrip("/"))
                if path in ("", "/"):
                    break
                path = os.path.dirname(path)


def _free_of_group(folder: str) -> Iterator[int]:
    for limit, use, idle in _FILES:
        most, taken = (
            _held_in(f"{folder}/{limit}").strip(),
            _held_in(f"{folder}/{use}").strip(),
        )
        if most.isdecimal() and taken.isdecimal():
            shares = (line.split() for line in _held_in(f"{folder}/memory.stat").splitlines())
            given_back = sum(int(share[1]) for share in shares if share[0] == idle)
            yield max(int(most) - int(taken) + given_back, 0)


def _held_in(path: str) -> str:
    """Return a small file of the kernel's; an empty text where there is none."""
    try:
        with open(path, encoding="ascii") as stream:
            return stream.read()
    except (OSError, ValueError):
        return ""


def shown_bytes(count: int) -> str:
    """Return an amount of memory as sentences have it, in kB, MB, GB or TB (powers of 1,000)."""
    for unit, size in (("TB", 10**12), ("GB", 10**9), ("MB", 10**6)):
        if count >= size:
            return f"{count / size:,.1f} {unit}"
    return f"{max(count, 0) / 1000:,.1f} kB"
