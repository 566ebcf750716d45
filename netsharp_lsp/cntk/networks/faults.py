"""What keeps a network from being built, as values; knows no language.

A place is a text by its name and a span of its UTF-8 bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from netsharp_lsp.cntk.networks.node import Network


class Place(NamedTuple):
    """Where something stands: the name of a text and a span of its bytes."""

    source: str
    start: int
    end: int


class BuildingFault(NamedTuple):
    """Why something cannot be evaluated: a kind to tell faults apart, a sentence, where, and
    the calls on the way there, innermost last.  `word`: a text that it is about, which may have
    been written elsewhere.
    """

    kind: str
    message: str
    place: Place
    calls: tuple[Place, ...] = ()
    word: str = ""


class Outcome(NamedTuple):
    """What an evaluation gave: a network, or None, and every fault on the way."""

    network: Network | None
    faults: tuple[BuildingFault, ...]
