"""Proposals for misspelt words: a word that the release of the run does not have is mentioned, but
never written by a fix.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from netsharp_lsp.diagnostics.nearest import MOST_NAMES, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from netsharp_lsp.cntk.run.experiment import Experiment
    from netsharp_lsp.cntk.versions import Releases


class MeantWord(NamedTuple):
    """The word that may replace a misspelt one, None if there is none, and a sentence, with a blank
    before it, on a word that only another release has, or "".
    """

    word: str | None
    other: str = ""

    @property
    def sentence(self) -> str:
        """Return the suffix of a message, with a blank before it."""
        return f" Did you mean '{self.word}'?" if self.word is not None else self.other


NONE = MeantWord(None)


def proposal(word: str, among: Iterable[tuple[str, Releases]], experiment: Experiment) -> MeantWord:
    """Return the nearest word; among equally near ones, one that the run's release has."""
    known = dict(islice(among, MOST_NAMES))
    has = {one: experiment.has(releases) for one, releases in known.items()}
    found = nearest(word, sorted(known, key=lambda one: not has[one]))
    return NONE if found is None else proposed(found, known[found], experiment)


def proposed(found: str, known: Releases, experiment: Experiment) -> MeantWord:
    """Return the proposal for the word that is nearest."""
    if experiment.has(known):
        return MeantWord(found)
    version = experiment.version
    return MeantWord(
        None, f" CNTK knows '{found}' {known}; this is for {version.name}, {version.because}."
    )
