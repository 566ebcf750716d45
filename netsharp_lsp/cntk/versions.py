"""The releases of CNTK, and in which of them a word is known; knows no word."""

from __future__ import annotations

from typing import NamedTuple

#: In order.  What nothing else is said of is known since the first, and still in the last.
VERSIONS = ("2016-11", "2.0", "2.1", "2.2", "2.3", "2.4", "2.5", "2.6", "2.7")
FIRST, LAST = VERSIONS[0], VERSIONS[-1]


def rank(version: str) -> int:
    """Return the rank of a release among all."""
    return VERSIONS.index(version)


class Releases(NamedTuple):
    """The releases that know a word: `since` one and `until` another, both of them included."""

    since: str = FIRST
    until: str = LAST

    def by(self, version: str) -> bool:
        """Return whether a release knows it."""
        return rank(self.since) <= rank(version) <= rank(self.until)

    def __str__(self) -> str:
        if self.until == LAST:
            return f"from {self.since} on"
        if self.since == FIRST:
            return f"up to {self.until}"
        return f"from {self.since} to {self.until}"


ALWAYS = Releases()
