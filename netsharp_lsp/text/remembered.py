"""A cache of results, keyed by all that they depend on, with the least recently used dropped first.

Values are shared by all callers and must not change.
"""

from __future__ import annotations

# Every check imports this module; `threading` around the same lock would be its largest part.
from _thread import allocate_lock
from collections import OrderedDict

from netsharp_lsp.generics import Generic, TypeVar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable

Value = TypeVar("Value")


class Remembered(Generic[Value]):
    """Values by their keys, with weights of at most `most` together; a newest one may be
    heavier.
    """

    __slots__ = ("_lock", "_values", "most", "weight")

    def __init__(self, most: int) -> None:
        self.most = most
        self.weight = 0
        self._values: OrderedDict[Hashable, tuple[Value, int]] = OrderedDict()
        self._lock = allocate_lock()

    def __len__(self) -> int:
        return len(self._values)

    def find(self, key: Hashable) -> Value | None:
        """Return the value of a key, None where there is none."""
        with self._lock:
            found = self._values.get(key)
            if found is None:
                return None
            self._values.move_to_end(key)
            return found[0]

    def keep(self, key: Hashable, value: Value, weight: int) -> None:
        """Store a value under its key, and drop the least recently used ones over the limit."""
        with self._lock:
            self._drop(self._values.pop(key, None))
            self._values[key] = (value, weight)
            self.weight += weight
            while self.weight > self.most and len(self._values) > 1:
                self._drop(self._values.popitem(last=False)[1])

    def _drop(self, known: tuple[Value, int] | None) -> None:
        self.weight -= 0 if known is None else known[1]
