"""One thing done to many files, in several processes where that pays; knows not what it is."""

from __future__ import annotations

import os
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TypeVar

    Job = TypeVar("Job")
    Outcome = TypeVar("Outcome")

#: With more files than these, more processes save more than they cost.
MANY_FILES = 40
MOST_PROCESSES = 8
#: So many parcels of files for each process, so that none waits long for the last one.
PARCELS = 8


def do_all(work: Callable[[Job], Outcome], jobs: Sequence[Job]) -> list[Outcome]:
    """Return `work(job)` for each job, in order; both must be picklable.

    Ctrl-C stops after the parcels that are being worked on.
    """
    processes = min(_processors(), MOST_PROCESSES)
    if len(jobs) <= MANY_FILES or processes < 2:
        return [work(job) for job in jobs]
    from concurrent.futures import ProcessPoolExecutor

    # What the pool starts begins with `python -c`, for which a module that lies in the working
    # directory comes before Python's own.
    os.environ["PYTHONSAFEPATH"] = "1"
    pool = ProcessPoolExecutor(processes, initializer=_leave_interrupts_to_parent)
    try:
        parcel = max(1, len(jobs) // (PARCELS * processes))
        with _interrupts_held():
            answers = pool.map(work, jobs, chunksize=parcel)
        return list(answers)
    finally:
        pool.shutdown(cancel_futures=True)


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back while processes start: they inherit that until they ignore it."""
    import signal

    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT,))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _leave_interrupts_to_parent() -> None:
    """Ctrl-C reaches every process; only the parent says so."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
