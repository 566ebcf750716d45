"""A cache of evaluated builders, used if all that they depend on is unchanged: the text, the
library, what CNTK defines, and every answer about files.  Evaluates nothing itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from netsharp_lsp.cntk.brainscript.evaluation.program import evaluate_builder
from netsharp_lsp.cntk.brainscript.reading.identity import Identified
from netsharp_lsp.cntk.networks.copying import copied
from netsharp_lsp.cntk.networks.faults import Outcome
from netsharp_lsp.cntk.networks.node import Network
from netsharp_lsp.text.remembered import Remembered

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from netsharp_lsp.cntk.brainscript.evaluation.program import Surroundings
    from netsharp_lsp.cntk.networks.faults import Place
    from netsharp_lsp.cntk.networks.starting import Matrix

    #: A question about a file: its kind, the path, and the answer.
    Answer = tuple[str, str, bytes | bool | str | Matrix | Network | None]

#: The most bytes of all outcomes, and the estimated size of a node or a fault.
KEPT, EACH = 4 << 20, 1 << 10


class _Known(NamedTuple):
    """An outcome, and the answers about files that led to it."""

    outcome: Outcome
    answers: tuple[Answer, ...]

    @property
    def weight(self) -> int:
        """Return its approximate size in bytes."""
        network, faults = self.outcome
        parts = 1 + len(self.answers) + len(faults) + (len(network.nodes) if network else 0)
        read = (len(answer) for _, _, answer in self.answers if isinstance(answer, bytes))
        held = (len(one.nodes) for _, _, one in self.answers if isinstance(one, Network))
        return EACH * (parts + sum(held)) + sum(read)

    def holds(self, around: Surroundings) -> bool:
        """Return whether every question gets the same answer, in the order in which a new
        evaluation would ask them.
        """
        return all(_same(getattr(around, name)(path), one) for name, path, one in self.answers)


def _same(answer: object, other: object) -> bool:
    """Return whether two answers are equal; networks, which may be large, are compared by
    identity.
    """
    return answer is other if isinstance(answer, Network) else answer == other


_OUTCOMES: Remembered[_Known] = Remembered(KEPT)


def _same_place(place: Place) -> Place:
    return place


def outcome_of(
    data: bytes,
    source: str,
    around: Surroundings,
    outside: Callable[[Place], Place] = _same_place,
) -> Outcome:
    """Return the outcome of a builder's value, evaluated or from the cache; the network is a copy.

    `outside` maps places in the text to those in the user's files.
    """
    key = _key(data, source, around)
    known = _OUTCOMES.find(key)
    if known is None or not known.holds(around):
        known = _evaluated(data, source, around)
        _OUTCOMES.keep(key, known, len(data) + known.weight)
    network, faults = known.outcome
    return Outcome(
        None if network is None else copied(network, outside),
        tuple(
            one._replace(place=outside(one.place), calls=tuple(map(outside, one.calls)))
            for one in faults
        ),
    )


def _key(data: bytes, source: str, around: Surroundings) -> Hashable:
    defined = (around.precision, around.device, around.trace_level)
    return data, source, Identified(around.library), around.folders, defined


def _evaluated(data: bytes, source: str, around: Surroundings) -> _Known:
    answers: list[Answer] = []

    def read(path: str) -> bytes | None:
        answer = around.read(path)
        answers.append(("read", path, answer))
        return answer

    def is_outside(path: str) -> bool:
        answer = around.is_outside(path)
        answers.append(("is_outside", path, answer))
        return answer

    def measure(path: str) -> Matrix | None:
        answer = around.measure(path)
        answers.append(("measure", path, answer))
        return answer

    def model(path: str) -> Network | str | None:
        answer = around.model(path)
        answers.append(("model", path, answer))
        return answer

    asking = around._replace(read=read, is_outside=is_outside, measure=measure, model=model)
    return _Known(evaluate_builder(data, source, asking), tuple(answers))
