"""Memory of the work on one large text: without the cycle collector, which would find nothing and
cost half, and with trees let go as they are read.
"""

from __future__ import annotations

import gc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeVar

    Value = TypeVar("Value")


def uncollected(work: Callable[[], Value]) -> Value:
    """Return `work()`, done while no cycles are looked for.

    What a large text becomes lives until the work is done, so that each look is in vain and its
    cost grows with the text.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        return work()
    finally:
        if enabled:
            gc.enable()


class _Process:
    """Whether the process ends with one command."""

    ends_with_its_command = False


def end_with_the_command() -> None:
    """Note that the process ends with the command that it was started for."""
    _Process.ends_with_its_command = True


def settled(work: Callable[[], Value]) -> Value:
    """Return `work()`, done like `uncollected` work, whose result lives as long as the command.

    No later garbage collection scans it, unless the process continues: objects that one command
    froze cannot be released without unfreezing those of others.
    """
    value = uncollected(work)
    if _Process.ends_with_its_command:
        gc.freeze()
    return value


def released_children(children: list[Value]) -> Iterator[Value]:
    """Yield the children of a node of a tree, each for the last time.

    The node keeps this list, and each child all below it, once they are asked for.
    """
    children.reverse()
    while children:
        yield children.pop()
