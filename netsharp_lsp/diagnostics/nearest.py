"""The best spelling suggestion for an unknown word; pure text, no language."""

from __future__ import annotations

from itertools import islice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: The most names considered for one word, and the most of about its length that are compared; a
#: text with more may have as many unknown words.
MOST_NAMES = 5_000
MOST_CANDIDATES = 500
#: A word of more letters is misspelt in case alone at most: it was copied.
LONGEST = 100


class Candidates:
    """Names that many words are compared with: each word only with those of about its length."""

    __slots__ = ("_by_length",)

    def __init__(self, names: Iterable[str]) -> None:
        #: The names with their numbers, by length.
        self._by_length: dict[int, list[tuple[int, str]]] = {}
        for number, name in enumerate(islice(names, MOST_NAMES)):
            self._by_length.setdefault(len(name), []).append((number, name))

    def about(self, length: int, distance: int) -> Iterator[str]:
        """Yield the names at most `distance` longer or shorter than `length`, in their order."""
        from heapq import merge  # Few texts have an unknown word.

        lengths = range(length - distance, length + distance + 1)
        return (name for _, name in merge(*(self._by_length.get(one, ()) for one in lengths)))


def nearest(word: str, candidates: Iterable[str] | Candidates) -> str | None:
    """Return the candidate most likely meant by `word`, or None where none is close.

    Spelling that differs only in case is closest of all; otherwise insertions, deletions,
    substitutions and swaps of neighbours count one each, and about one in three letters may be
    wrong. Among equally close candidates the first wins; at most `MOST_NAMES` names, and
    `MOST_CANDIDATES` of about the word's length, are compared.
    """
    lowered = word.lower()
    best: str | None = None
    limit = allowed_edits(len(word))
    best_distance = limit + 1
    left = MOST_CANDIDATES
    if isinstance(candidates, Candidates):
        candidates = candidates.about(len(word), limit)
    for candidate in islice(candidates, MOST_NAMES):
        if candidate == word or abs(len(candidate) - len(word)) >= best_distance:
            continue
        left -= 1
        if left < 0:
            break
        distance = edit_distance(lowered, candidate.lower(), best_distance)
        if distance < best_distance:
            best, best_distance = candidate, distance
    return best


def edit_distance(first: str, second: str, limit: int) -> int:
    """Return the optimal string alignment distance, or `limit` where it is at least that."""
    if abs(len(first) - len(second)) >= limit:
        return limit
    first, second = _without_common_ends(first, second)
    letters, others = {*first}, {*second}
    # Each letter that the other side lacks costs one; most pairs of names end here.
    if len(letters - others) >= limit or len(others - letters) >= limit:
        return limit
    before: list[int] = []
    row = list(range(len(second) + 1))
    for i, letter in enumerate(first, 1):
        before, above, row = row, before, [limit] * (len(second) + 1)
        row[0] = i
        # Cells further from the diagonal have more edits than are counted.
        near = range(max(1, i - limit + 1), min(len(second), i + limit - 1) + 1)
        for j in near:
            other = second[j - 1]
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == second[j - 2] and first[i - 2] == other:
                cost = min(cost, above[j - 2] + 1)
            row[j] = cost
        if min(row) >= limit:
            return limit
    return min(row[-1], limit)


def _without_common_ends(first: str, second: str) -> tuple[str, str]:
    """Return the parts of two words between their common start and their common end."""
    start = 0
    for letter, other in zip(first, second, strict=False):
        if letter != other:
            break
        start += 1
    end, other_end = len(first), len(second)
    while end > start and other_end > start and first[end - 1] == second[other_end - 1]:
        end -= 1
        other_end -= 1
    return first[start:end], second[start:other_end]


def suggestion(word: str, candidates: Iterable[str]) -> str:
    """Return " Did you mean 'X'?" to append to a message, or "" where nothing is close."""
    found = nearest(word, candidates)
    return f" Did you mean '{found}'?" if found is not None else ""


def allowed_edits(length: int) -> int:
    """Return the edits allowed in a word of this length: one in three letters, at most four."""
    return max(1, min(4, (length + 1) // 3)) if 1 < length <= LONGEST else 0
