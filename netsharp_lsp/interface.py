"""The small interface that every language and snapshot answers.

Commands and servers go through it; it knows no language's inside and no editor's types.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Protocol

    from netsharp_lsp.context import Context
    from netsharp_lsp.description.comparison import Comparison
    from netsharp_lsp.diagnostics.model import Diagnostic, Result
    from netsharp_lsp.diagnostics.pages import RuleBook
    from netsharp_lsp.ide import answers
    from netsharp_lsp.layout.options import FormatOptions, Formatted
    from netsharp_lsp.text.edits import Edit

    #: A text and what is known around it.
    Text = tuple[bytes, Context]

    class Language(Protocol):
        """One language. Texts are UTF-8 without byte-order mark, offsets are bytes."""

        @property
        def id(self) -> str:
            """The language id that editors use."""

        @property
        def comment_marks(self) -> tuple[str, ...]:
            """Return the marks that begin a line comment, and so a suppression."""

        @property
        def rules(self) -> RuleBook:
            """The pages of its rules."""

        @property
        def suppression_codes(self) -> tuple[str, str]:
            """Return its codes for unused suppressions and for unknown codes."""

        @property
        def unused_codes(self) -> tuple[str, ...]:
            """Return its codes for what could be left out; editors show such text faded."""

        @property
        def asked_codes(self) -> tuple[str, ...]:
            """Return its codes that are checked on request only: a suppression of one is never
            reported as unused.
            """

        @property
        def conflict_code(self) -> str:
            """Return its code for a merge conflict in a host, "" where it has no hosts."""

        def check(self, data: bytes, context: Context) -> Result:
            """Return the findings in a text, and its comments. Never raises for any text."""

        def format(self, data: bytes, options: FormatOptions) -> Formatted:
            """Return the formatted text, or why it is left unchanged."""

        def describe(self, data: bytes, context: Context) -> dict[str, Any]:
            """Return the description of a text's network, as the JSON of `netsharp describe`."""

        def compare(self, before: Text, after: Text) -> Comparison:
            """Return the differences between the networks of two texts without errors."""

        def open(self, data: bytes, context: Context) -> Snapshot:
            """Begin to follow a text that is being edited."""

    class Snapshot(Protocol):
        """One version of a text that is being edited, and the features of an editor on it.

        Offsets are UTF-8 bytes.  A snapshot and those before it share what an edit left unchanged,
        so only the newest may be asked.
        """

        @property
        def data(self) -> bytes:
            """The text."""

        @property
        def context(self) -> Context:
            """Return its context."""

        def edited(self, data: bytes, edits: Sequence[Edit]) -> Snapshot:
            """Return the next version; `edits`, in order and apart, lead from this text to it."""

        def with_context(self, context: Context) -> Snapshot:
            """Return the same text with something else known around it."""

        def check(self) -> Result:
            """Return the result of `Language.check` for the same text and context."""

        def most_severe(
            self, most: int, wants: Callable[[str], bool]
        ) -> tuple[int, Sequence[Diagnostic]]:
            """Return the number of diagnostics with a wanted code, and at most ``most`` of them.

            All are in the order of the text; of more, the most severe come first.
            """

        def hover(self, offset: int) -> answers.Hover | None:
            """Return the hover for the words at a place."""

        def hints(
            self, start: int, end: int, options: answers.HintOptions
        ) -> list[answers.InlayHint]:
            """Return the inlay hints of a range."""

        def complete(self, offset: int) -> answers.Completions:
            """Return the completions at a place."""

        def document(self, topic: str) -> str:
            """Return a completion's documentation in Markdown; empty where there is none."""

        def signature(self, offset: int) -> answers.Signature | None:
            """Return the form of the attribute block or call at a place."""

        def definition(self, offset: int) -> answers.Target | None:
            """Return where the name at a place is declared."""

        def implementations(self, offset: int) -> Sequence[answers.Target]:
            """Return the target of the name at a place; none where that is its declaration."""

        def references(
            self, offset: int, declaration: bool
        ) -> Sequence[answers.Range | answers.Elsewhere]:
            """Return where the name at a place is used, and where declared if asked."""

        def highlights(self, offset: int) -> list[answers.Highlight]:
            """Return where the name at a place, or the words that belong together, occur."""

        def prepare_rename(self, offset: int) -> answers.Renaming | answers.Refusal:
            """Return the name at a place if it can be renamed, else why not."""

        def rename(self, offset: int, name: str) -> list[Edit] | answers.Changes | answers.Refusal:
            """Return the edits that give the name at a place another, or why there are none."""

        def symbols(self) -> list[answers.Symbol]:
            """Return the outline."""

        def outline(self) -> Sequence[tuple[int, answers.OutlinePart]]:
            """Return the outline in parts that cover the text, each with where it begins."""

        def folds(self) -> list[answers.Fold]:
            """Return the ranges that can be folded."""

        def selections(self, offset: int) -> list[answers.Range]:
            """Return the ranges around a place, from the innermost to the whole text."""

        def tokens(self, start: int, end: int) -> list[answers.Token]:
            """Return the semantic tokens that begin in a range, in order and apart."""

        def links(self) -> list[answers.Link]:
            """Return the links."""

        def flow(self, offset: int) -> answers.Flow | None:
            """Return the layer at a place, to ask what feeds it and what it feeds."""

        def feeds(self, name: str, *, backwards: bool) -> list[answers.Flow]:
            """Return the layers that a layer's values go to; `backwards`: those it reads."""

        def lenses(self, options: answers.LensOptions) -> list[answers.Lens]:
            """Return the lines above declarations; titles that cost something come later."""

        def lens_title(self, key: str) -> str:
            """Return the title that a lens without one shows."""

        def start(self, command: str) -> answers.StartedRun | None:
            """Return the command line that starts the text, for this command of it; None for texts
            that start nothing.
            """

        def actions(self, start: int, end: int, only: Sequence[str] | None) -> list[answers.Action]:
            """Return the code actions for a range; `only`: prefixes of the kinds wanted."""

        def migrate(self) -> answers.Migration:
            """Return the edits that migrate an outdated text, and its files, to the current
            language.
            """

        def format(self, options: FormatOptions) -> Formatted:
            """Return the text in its one style; `options` may name lines."""

        def graph(self) -> answers.Graph:
            """Return the network and its picture."""


class Origin:
    """The place in a text of a node or parameter of its graph, for a sentence about it.

    `start` and `end` are offsets in the text, `line` counts from 1.
    """

    __slots__ = ("end", "layer", "line", "start")

    def __init__(self, layer: str, line: int, start: int, end: int) -> None:
        self.layer = layer
        self.line = line
        self.start = start
        self.end = end

    def __str__(self) -> str:
        return f"layer '{self.layer}', line {self.line}"


class PlainSnapshot:
    """A version of a text of a language that answers what it checks and formats, and no more.

    A language derives its own from it and overrides what else it can answer.
    """

    def __init__(self, language: Language, data: bytes, context: Context) -> None:
        self.language = language
        self.data = data
        self.context = context

    def edited(self, data: bytes, edits: Sequence[Edit]) -> Snapshot:
        """Return the next version, parsed again."""
        return self.language.open(data, self.context)

    def with_context(self, context: Context) -> Snapshot:
        """Return the same text with something else known around it."""
        return self.language.open(self.data, context)

    def check(self) -> Result:
        """Return the findings of the language in the text."""
        return self.language.check(self.data, self.context)

    def most_severe(
        self, most: int, wants: Callable[[str], bool]
    ) -> tuple[int, Sequence[Diagnostic]]:
        """Return their number and the most severe of those whose codes are wanted."""
        return self.check().most_severe(most, wants)

    def format(self, options: FormatOptions) -> Formatted:
        """Return the text as the language formats it."""
        return self.language.format(self.data, options)

    def graph(self) -> answers.Graph:
        """Return the graph that the language describes, without places."""
        from netsharp_lsp.ide.answers import Graph

        return Graph(self.language.describe(self.data, self.context))

    def migrate(self) -> answers.Migration:
        """Return a migration without edits: there is no newer language."""
        from netsharp_lsp.ide.answers import Migration

        return Migration(None, ("This text needs no migration.",))

    def hover(self, offset: int) -> answers.Hover | None:
        """Return nothing."""
        return None

    def hints(self, start: int, end: int, options: answers.HintOptions) -> list[answers.InlayHint]:
        """Return none."""
        return []

    def complete(self, offset: int) -> answers.Completions:
        """Return none."""
        from netsharp_lsp.ide.answers import Completions

        return Completions()

    def document(self, topic: str) -> str:
        """Return nothing."""
        return ""

    def signature(self, offset: int) -> answers.Signature | None:
        """Return nothing."""
        return None

    def definition(self, offset: int) -> answers.Target | None:
        """Return nothing."""
        return None

    def implementations(self, offset: int) -> Sequence[answers.Target]:
        """Return none."""
        return ()

    def references(
        self, offset: int, declaration: bool
    ) -> Sequence[answers.Range | answers.Elsewhere]:
        """Return none."""
        return ()

    def highlights(self, offset: int) -> list[answers.Highlight]:
        """Return none."""
        return []

    def prepare_rename(self, offset: int) -> answers.Renaming | answers.Refusal:
        """Refuse."""
        from netsharp_lsp.ide.answers import Refusal

        return Refusal("Nothing can be renamed in this language.")

    def rename(self, offset: int, name: str) -> list[Edit] | answers.Changes | answers.Refusal:
        """Refuse."""
        from netsharp_lsp.ide.answers import Refusal

        return Refusal("Nothing can be renamed in this language.")

    def symbols(self) -> list[answers.Symbol]:
        """Return none."""
        return []

    def outline(self) -> Sequence[tuple[int, answers.OutlinePart]]:
        """Return the symbols as one part."""
        from netsharp_lsp.ide.answers import OutlinePart

        return [(0, OutlinePart(len(self.data), tuple(self.symbols())))]

    def folds(self) -> list[answers.Fold]:
        """Return none."""
        return []

    def selections(self, offset: int) -> list[answers.Range]:
        """Return the whole text."""
        return [(0, len(self.data))]

    def tokens(self, start: int, end: int) -> list[answers.Token]:
        """Return none."""
        return []

    def links(self) -> list[answers.Link]:
        """Return none."""
        return []

    def flow(self, offset: int) -> answers.Flow | None:
        """Return nothing."""
        return None

    def feeds(self, name: str, *, backwards: bool) -> list[answers.Flow]:
        """Return none."""
        return []

    def lenses(self, options: answers.LensOptions) -> list[answers.Lens]:
        """Return none."""
        return []

    def lens_title(self, key: str) -> str:
        """Return nothing."""
        return ""

    def start(self, command: str) -> answers.StartedRun | None:
        """Return the command line that starts the text; None for most."""
        return None

    def actions(self, start: int, end: int, only: Sequence[str] | None) -> list[answers.Action]:
        """Return none."""
        return []


class Foreign:
    """A file that only looks like ours; `reason` says why it is not."""

    __slots__ = ("reason",)

    def __init__(self, reason: str) -> None:
        self.reason = reason


class Sample:
    """A text to try answers on, the place of a `name` in it, one where something can be
    `completed`, and the text after an edit.
    """

    __slots__ = ("completed", "edited", "name", "text")

    def __init__(self, text: str, name: int, completed: int, edited: str) -> None:
        self.text = text
        self.name = name
        self.completed = completed
        self.edited = edited
