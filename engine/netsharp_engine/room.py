"""The check that objects fit into memory, before any of them is made. It must not know what they
are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from netsharp_engine.graph import GraphError
from netsharp_engine.memory import free_memory, shown_bytes

#: The most parts that are named in a refusal.
NAMED = 3
#: Below this no memory is asked for: the program itself takes as much.
SMALL = 64 << 20


def require_room(
    purpose: str,
    needs: Iterable[Counter[str]],
    advice: str,
    origins: Mapping[str, object] | None = None,
) -> None:
    """Raise GraphError, a sentence, where the bytes of all parts are more than may be taken.

    ``purpose`` begins the sentence, ``advice`` ends it.  ``origins`` are where parts were asked
    for: the error has that of the part which takes most.
    """
    total: Counter[str] = Counter()
    for part in needs:
        total.update(part)
    count = total.total()
    free = free_memory() if count > SMALL else None
    if free is None or count <= free:
        return
    most = total.most_common(NAMED)
    largest = ", ".join(
        f"{what} {shown_bytes(part)} ({100 * part / count:.0f} %)" for what, part in most
    )
    raise GraphError(
        f"{purpose} takes about {shown_bytes(count)} of memory, and {shown_bytes(free)} are free. "
        f"Most takes {largest}. {advice}",
        (origins or {}).get(most[0][0]),
    )
