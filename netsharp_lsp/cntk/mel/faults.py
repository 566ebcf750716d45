"""What is wrong in a text of MEL, as values that know where it was written; prints nothing."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.configuration.traced import Traced


#: Kinds of faults after which the program goes on.
GOES_ON = frozenset(
    (
        *("shortened", "ignored", "model-twice", "old-property", "missing-file", "outside"),
        *("snippet-whole", "not-saved", "separator", "no-effect"),
    )
)
#: What the kinds of troubles of networks begin with here.
NETWORK = "network-"


class Replacement:
    """A text that could stand in the place of another; safe where what is edited stays equal.

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
    """One fault: a `kind` to tell faults apart, a sentence, and the text that it is about.

    `notes` are sentences about other texts; `grave` is false where the program only warns.
    """

    __slots__ = ("grave", "kind", "message", "notes", "replacement", "text")

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
        self.grave = True

    @property
    def stops(self) -> bool:
        """Whether the program stops there."""
        return self.grave and self.kind not in GOES_ON

    def __repr__(self) -> str:
        return f"EditFault({self.kind!r}, {self.message!r})"
