"""Refusals as values: names and places of what is not supported, reported before anything is
computed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from netsharp_engine.data.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from netsharp_engine.cntk.samples.faults import DataSurvey
    from netsharp_lsp.cntk.configuration.traced import Traced
    from netsharp_lsp.cntk.networks.node import Where


class SurveyedFile(Protocol):
    """A data file that can be read to its end to find all its faults."""

    @property
    def path(self) -> str:
        """Return its path."""

    @property
    def where(self) -> Where:
        """Return the place that names it."""

    @property
    def most_errors(self) -> int:
        """Return the number of errors that are skipped."""

    @property
    def key(self) -> object:
        """Return a key that is equal for equal reads."""

    def survey(self) -> DataSurvey:
        """Return all faults of the file; DataError where it cannot be read."""


class RunRefusal(NamedTuple):
    """A sentence, and the place that it is about."""

    message: str
    where: Where


class Refused(Exception):  # noqa: N818
    """A command that cannot be run, for these reasons."""

    def __init__(self, *refusals: RunRefusal) -> None:
        super().__init__(" ".join(one.message for one in refusals))
        self.refusals = refusals


class UnreadFileError(DataError):
    """A file of data that cannot be opened; ``where`` is the place that names it."""

    def __init__(self, sentence: str, where: Where) -> None:
        super().__init__(sentence)
        self.where = where


class FilesRefused(Refused):
    """Data files that cannot be used as they are; ``files``: those whose lines can still be
    surveyed.
    """

    def __init__(self, refusals: Iterable[RunRefusal], files: Sequence[SurveyedFile]) -> None:
        super().__init__(*refusals)
        self.files = files


def where_of(text: Traced) -> Where:
    """Return the place of a text of a configuration; in no source where it is not written
    anywhere.
    """
    if not text.pieces:
        return "", 0, 0
    place = text.place(0, len(text))
    return place.source.name, place.start, place.end
