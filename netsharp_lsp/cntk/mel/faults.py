"""Faults in a text of MEL, as values with the place where they were written; prints nothing."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.configuration.traced import Traced


#: Kinds of faults after which CNTK continues.
CONTINUES = frozenset(
    (
        *("shortened", "ignored", "model-twice", "old-property", "missing-file", "outside"),
        *("snippet-whole", "not-saved", "separator", "no-effect"),
    )
)
#: The prefix of kinds of mismatches in networks.
NETWORK = "network-"


class Replacement:
    """A proposed replacement of a text; safe if the edited models stay equal.

    `changes` are the old texts with the new ones: the first, and those that belong to it.
    """

    __slots__ = ("changes", "safe", "title")

    def __init__(
        self,
        title: str,
        old: Traced,
        new: str,
        *,
        safe: bool,
        also: tuple[tuple[Traced, str], ...] = (),
    ) -> None:
        self.title = title
        self.changes = ((old, new), *also)
        self.safe = safe


class EditFault:
    """One fault: a `kind` that identifies it, a message, and the text that it is about.

    `notes` are messages about other texts; `is_error` is false where CNTK only warns.
    """

    __slots__ = ("is_error", "kind", "message", "notes", "replacement", "text")

    def __init__(
        self,
        kind: str,
        message: str,
        text: Traced,
        replacement: Replacement | None = None,
        notes: tuple[tuple[str, Traced], ...] = (),
    ) -> None:
        self.kind = kind
        self.message = message
        self.text = text
        self.replacement = replacement
        self.notes = notes
        self.is_error = True

    @property
    def stops(self) -> bool:
        """Return whether CNTK stops there."""
        return self.is_error and self.kind not in CONTINUES

    def __repr__(self) -> str:
        return f"EditFault({self.kind!r}, {self.message!r})"
