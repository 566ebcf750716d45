"""Faults that keep a network from being built, as values; knows no language.

A place is the name of a text and a span of its UTF-8 bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from netsharp_lsp.cntk.networks.node import Network


class Place(NamedTuple):
    """A place: the name of a text and a span of its bytes."""

    source: str
    start: int
    end: int


class BuildingFault(NamedTuple):
    """A fault of an evaluation: a kind that identifies it, a message, the place, and the calls that
    lead there, innermost last.  `word`: a text that it is about, which may have been written
    elsewhere.
    """

    kind: str
    message: str
    place: Place
    calls: tuple[Place, ...] = ()
    word: str = ""


class Outcome(NamedTuple):
    """The result of an evaluation: a network, or None, and all faults found."""

    network: Network | None
    faults: tuple[BuildingFault, ...]
