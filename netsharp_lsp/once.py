"""Values computed from an object once and kept as long as the object lives; knows no object."""

from __future__ import annotations

from functools import wraps
from weakref import WeakKeyDictionary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    Subject = TypeVar("Subject")
    Answer = TypeVar("Answer")


def once(work_out: Callable[[Subject], Answer]) -> Callable[[Subject], Answer]:
    """Make a function compute its value for an object once, and keep it with the object."""
    known: WeakKeyDictionary[Subject, Answer] = WeakKeyDictionary()

    @wraps(work_out)
    def answer(subject: Subject) -> Answer:
        if subject not in known:
            known[subject] = work_out(subject)
        return known[subject]

    return answer
