"""What is not done, as values: said by name and place before anything is computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from netsharp_engine.data.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from netsharp_engine.cntk.samples.faults import DataSurvey
    from netsharp_lsp.cntk.configuration.traced import Traced
    from netsharp_lsp.cntk.networks.node import Where


class SurveyedFile(Protocol):
    """A file of data that can be read to its end for all that is wrong with it."""

    @property
    def path(self) -> str:
        """Where it is."""

    @property
    def where(self) -> Where:
        """Where it is named."""

    @property
    def most_errors(self) -> int:
        """So many errors are passed over."""

    @property
    def key(self) -> object:
        """What is equal where the same is read."""

    def survey(self) -> DataSurvey:
        """All that is wrong with it; DataError where it cannot be read."""


class RunRefusal(NamedTuple):
    """A sentence, and where what it is about stands."""

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
    """Files of data that cannot be used as they are; ``files``: those whose lines can be looked at
    all the same.
    """

    def __init__(self, refusals: Iterable[RunRefusal], files: Sequence[SurveyedFile]) -> None:
        super().__init__(*refusals)
        self.files = files


def where_of(text: Traced) -> Where:
    """Where a text of a configuration stands; in no source where nothing is written at all."""
    if not text.pieces:
        return "", 0, 0
    place = text.place(0, len(text))
    return place.source.name, place.start, place.end
