"""What is not done, as values: said by name and place before anything is computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from netsharp_lsp.cntk.configuration.traced import Traced
    from netsharp_lsp.cntk.networks.node import Where


class RunRefusal(NamedTuple):
    """A sentence, and where what it is about stands."""

    message: str
    where: Where


class Refused(Exception):  # noqa: N818
    """A command that cannot be run, for these reasons."""

    def __init__(self, *refusals: RunRefusal) -> None:
        super().__init__(" ".join(one.message for one in refusals))
        self.refusals = refusals


def where_of(text: Traced) -> Where:
    """Where a text of a configuration stands; in no source where nothing is written at all."""
    if not text.pieces:
        return "", 0, 0
    place = text.place(0, len(text))
    return place.source.name, place.start, place.end
