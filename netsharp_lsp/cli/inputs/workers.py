"""Work on many files, in several processes where that pays; does not know what the work is."""

from __future__ import annotations

import os
from contextlib import contextmanager

from netsharp_lsp.language import added, adopt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from concurrent.futures import Future, ProcessPoolExecutor
    from typing import TypeVar

    from netsharp_lsp.family import Family

    Job = TypeVar("Job")
    Outcome = TypeVar("Outcome")

#: With more files than these, more processes save more than they cost.
MANY_FILES = 40
MOST_PROCESSES = 8
#: Parcels of files for each process: enough that none waits long for the last one.
PARCELS = 8
#: No parcel has more files: Ctrl-C waits for those that are being worked on.
MOST_IN_PARCEL = 100
#: Parcels for each process that are packed before they are processed.
AHEAD = 3


def do_all(work: Callable[[Job], Outcome], jobs: Sequence[Job]) -> list[Outcome]:
    """Return `work(job)` for each job, in order; both must be picklable."""
    return list(do_each(work, jobs))


def do_each(work: Callable[[Job], Outcome], jobs: Sequence[Job]) -> Iterator[Outcome]:
    """Yield `work(job)` for each job, in order, a little ahead of the consumer.

    Ctrl-C stops after the jobs in progress.
    """
    processes = min(_processors(), MOST_PROCESSES)
    if len(jobs) <= MANY_FILES or processes < 2:
        yield from map(work, jobs)
        return
    from concurrent.futures import ProcessPoolExecutor

    # What every job needs is loaded once, before the processes that begin as copies of this one.
    yield work(jobs[0])
    with _safe_path():
        # Even its locks start a process.
        pool = ProcessPoolExecutor(processes, initializer=_begin, initargs=(added(),))
        try:
            size = min(max(1, len(jobs) // (PARCELS * processes)), MOST_IN_PARCEL)
            parcels = (jobs[start : start + size] for start in range(1, len(jobs), size))
            yield from _in_order(pool, work, parcels, AHEAD * processes)
        finally:
            pool.shutdown(cancel_futures=True)


@contextmanager
def _safe_path() -> Iterator[None]:
    """Let processes begin without the working directory: what a pool starts begins with `python
    -c`, for which a module that lies there comes before Python's own.
    """
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        if before is None:
            os.environ.pop("PYTHONSAFEPATH", None)
        else:
            os.environ["PYTHONSAFEPATH"] = before


def _in_order(
    pool: ProcessPoolExecutor,
    work: Callable[[Job], Outcome],
    parcels: Iterable[Sequence[Job]],
    ahead: int,
) -> Iterator[Outcome]:
    """Yield the outcomes of parcels, of which never more than some wait in the pool."""
    from collections import deque

    waiting: deque[Future[list[Outcome]]] = deque()
    for parcel in parcels:
        with _interrupts_held():
            waiting.append(pool.submit(_do_parcel, work, parcel))
        if len(waiting) >= ahead:
            yield from waiting.popleft().result()
    while waiting:
        yield from waiting.popleft().result()


def _do_parcel(work: Callable[[Job], Outcome], parcel: Sequence[Job]) -> list[Outcome]:
    return [work(job) for job in parcel]


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


def _begin(known: tuple[Family, ...]) -> None:
    """Know the families that the parent knows, and follow it."""
    adopt(known)
    _follow_parent()


def _follow_parent() -> None:
    """Leave Ctrl-C to the parent, and its objects uncollected, which would copy them."""
    import gc
    import signal
    from threading import Thread

    gc.freeze()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Exit when the parent was killed, as no other process would stop this one."""
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
