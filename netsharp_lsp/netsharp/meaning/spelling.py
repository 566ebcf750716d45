"""Names in which the one meant by a misspelt word is found; does not know what they name.

It answers as `diagnostics.nearest` does over all of them, without comparing each.
"""

from __future__ import annotations

from netsharp_lsp.diagnostics.nearest import allowed_edits, edit_distance

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Bits of a word's letters: letters that share one count as equal, so the filter lets more words
#: pass.
BITS = 63


class Spellings:
    """A set of names with a search for those near a word."""

    __slots__ = ("_by_length", "_by_lower", "_letters")

    def __init__(self) -> None:
        #: Each name by its lower case, where its spellings are kept in the order of coming.
        self._by_lower: dict[str, tuple[str, ...]] = {}
        #: Lower-case names and their letters, by length; filled in when first needed.
        self._by_length: dict[int, dict[str, int]] = {}
        self._letters: set[str] = set()

    def __len__(self) -> int:
        return len(self._by_lower)

    def spelt(self, lowered: str) -> tuple[str, ...]:
        """Return the names that are this one in lower case."""
        return self._by_lower.get(lowered, ())

    def add(self, name: str) -> None:
        """Add a name that is not there yet."""
        lowered = name.lower()
        self._by_lower[lowered] = (*self._by_lower.get(lowered, ()), name)
        self._letters.update(lowered)
        if self._by_length:
            self._by_length.setdefault(len(lowered), {})[lowered] = letters_of(lowered)

    def remove(self, name: str) -> None:
        """Remove a name that is there."""
        lowered = name.lower()
        left = tuple(other for other in self._by_lower[lowered] if other != name)
        if left:
            self._by_lower[lowered] = left
            return
        del self._by_lower[lowered]
        if self._by_length:
            del self._by_length[len(lowered)][lowered]

    def nearest(self, word: str, valid: Callable[[str], bool]) -> list[str]:
        """Return the valid names at the least edit distance within the limit for a word."""
        lowered = word.lower()
        for distance in range(allowed_edits(len(word)) + 1):
            found = [
                name
                for near in self._within(lowered, distance)
                for name in self._by_lower[near]
                if name != word and valid(name)
            ]
            if found:
                return found
        return []

    def _within(self, word: str, distance: int) -> Iterator[str]:
        """Return the names in lower case at exactly `distance` edits, where none is nearer."""
        if distance == 0:
            return iter((word,) if word in self._by_lower else ())
        if distance == 1:
            return (near for near in self._one_edit_from(word) if near in self._by_lower)
        return (
            near
            for near in self._with_letters(word, distance)
            if edit_distance(word, near, distance + 1) <= distance
        )

    def _one_edit_from(self, word: str) -> set[str]:
        parts = [(word[:at], word[at:]) for at in range(len(word) + 1)]
        found = {head + tail[1:] for head, tail in parts if tail}
        found.update(head + tail[1] + tail[0] + tail[2:] for head, tail in parts if len(tail) > 1)
        for letter in self._letters:
            found.update(head + letter + tail for head, tail in parts)
            found.update(head + letter + tail[1:] for head, tail in parts if tail)
        return found

    def _with_letters(self, word: str, distance: int) -> Iterator[str]:
        """Yield the names that may be `distance` edits away, by length and letters."""
        if not self._by_length:
            for name in self._by_lower:
                self._by_length.setdefault(len(name), {})[name] = letters_of(name)
        own = letters_of(word)
        for length in range(len(word) - distance, len(word) + distance + 1):
            for name, letters in self._by_length.get(length, {}).items():
                if (own & ~letters).bit_count() <= distance >= (letters & ~own).bit_count():
                    yield name


def letters_of(word: str) -> int:
    """Return the letters of a word as bits."""
    letters = 0
    for letter in word:
        letters |= 1 << (ord(letter) % BITS)
    return letters
