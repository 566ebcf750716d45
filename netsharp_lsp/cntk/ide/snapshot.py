"""One version of a text of CNTK's languages that is being edited; every feature starts here.

It passes each request to the module of `ide` that answers it and decides nothing itself.
"""

from __future__ import annotations

from netsharp_lsp.cntk.ide.places.edited import Edited
from netsharp_lsp.diagnostics.model import Result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from netsharp_lsp.context import Context
    from netsharp_lsp.diagnostics.model import Diagnostic
    from netsharp_lsp.ide import answers
    from netsharp_lsp.interface import Language
    from netsharp_lsp.layout.options import FormatOptions, Formatted
    from netsharp_lsp.text.edits import Edit


class Snapshot:
    """A text and its context. Each version is analysed again, in milliseconds."""

    def __init__(self, language: Language, text: Edited) -> None:
        self.language = language
        self.text = text
        self._result: Result | None = None

    @classmethod
    def opened(cls, language: Language, data: bytes, context: Context) -> Snapshot:
        """Return the snapshot of a text that was just opened."""
        return cls(language, Edited(language.id, data, context))

    @property
    def data(self) -> bytes:
        """The text."""
        return self.text.data

    @property
    def context(self) -> Context:
        """Return its context."""
        return self.text.context

    def edited(self, data: bytes, edits: Sequence[Edit]) -> Snapshot:
        """Return the next version of the text."""
        return Snapshot(self.language, self.text.next_version(data))

    def with_context(self, context: Context) -> Snapshot:
        """Return the same text with another context."""
        return Snapshot.opened(self.language, self.data, context)

    def check(self) -> Result:
        """Return the result of `check` for the same text and context."""
        if self._result is None:
            from netsharp_lsp.cntk.checking.analysis import diagnostics_in
            from netsharp_lsp.cntk.checking.comments import comments_of

            found = diagnostics_in(self.text.experiments, self.text.name)
            self._result = Result(found, comments_of(self.language.id, self.data))
        return self._result

    def most_severe(
        self, most: int, wants: Callable[[str], bool]
    ) -> tuple[int, Sequence[Diagnostic]]:
        """Return the number of diagnostics with wanted codes, and at most `most` of them, the most
        severe.
        """
        return self.check().most_severe(most, wants)

    def hover(self, offset: int) -> answers.Hover | None:
        """Return the hover at an offset."""
        from netsharp_lsp.cntk.ide.hover import hover_at

        return hover_at(self.text, offset)

    def hints(self, start: int, end: int, options: answers.HintOptions) -> list[answers.InlayHint]:
        """Return the inlay hints of a range."""
        from netsharp_lsp.cntk.ide.hints import hints_in

        return hints_in(self.text, start, end, options)

    def complete(self, offset: int) -> answers.Completions:
        """Return the completions at an offset."""
        from netsharp_lsp.cntk.ide.completion import completions_at

        return completions_at(self.text, offset)

    def document(self, topic: str) -> str:
        """Return a completion's documentation."""
        from netsharp_lsp.cntk.ide.completion import documentation

        return documentation(self.text, topic)

    def signature(self, offset: int) -> answers.Signature | None:
        """Return the form of the call at an offset."""
        from netsharp_lsp.cntk.ide.signature import signature_at

        return signature_at(self.text, offset)

    def definition(self, offset: int) -> answers.Target | None:
        """Return where the name at an offset is declared."""
        from netsharp_lsp.cntk.ide.navigation.names import definition_at

        return definition_at(self.text, offset)

    def implementations(self, offset: int) -> Sequence[answers.Target]:
        """Return the implementations of the name at an offset."""
        from netsharp_lsp.cntk.ide.navigation.implementation import implementations_at

        return implementations_at(self.text, offset)

    def references(self, offset: int, declaration: bool) -> list[answers.Range | answers.Elsewhere]:
        """Return where the name at an offset is used."""
        from netsharp_lsp.cntk.ide.navigation.names import references_at

        return references_at(self.text, offset, declaration)

    def highlights(self, offset: int) -> list[answers.Highlight]:
        """Return where the name at an offset occurs in the text."""
        from netsharp_lsp.cntk.ide.navigation.names import highlights_at

        return highlights_at(self.text, offset)

    def prepare_rename(self, offset: int) -> answers.Renaming | answers.Refusal:
        """Return the name at an offset, if it can be renamed."""
        from netsharp_lsp.cntk.ide.changes.rename import renaming_at

        return renaming_at(self.text, offset)

    def rename(self, offset: int, name: str) -> answers.Changes | answers.Refusal:
        """Return the changes that rename a name, in every file that uses it."""
        from netsharp_lsp.cntk.ide.changes.rename import rename

        return rename(self.text, offset, name)

    def symbols(self) -> list[answers.Symbol]:
        """Return the outline."""
        from netsharp_lsp.cntk.ide.structure.symbols import symbols_of

        return symbols_of(self.text)

    def outline(self) -> Sequence[tuple[int, answers.OutlinePart]]:
        """Return the outline in parts, of which those that an edit did not touch are kept."""
        from netsharp_lsp.cntk.ide.structure.symbols import outline_of

        return outline_of(self.text)

    def folds(self) -> list[answers.Fold]:
        """Return the ranges that can be folded."""
        from netsharp_lsp.cntk.ide.structure.folding import folds_of

        return folds_of(self.text.text)

    def selections(self, offset: int) -> list[answers.Range]:
        """Return the ranges around an offset."""
        from netsharp_lsp.cntk.ide.structure.selection import selections_at

        return selections_at(self.text.text, offset)

    def tokens(self, start: int, end: int) -> list[answers.Token]:
        """Return the semantic tokens of a range."""
        from netsharp_lsp.cntk.ide.structure.tokens import tokens_in

        return tokens_in(self.text, start, end)

    def links(self) -> list[answers.Link]:
        """Return the links in the text."""
        from netsharp_lsp.cntk.ide.navigation.links import links_of

        return links_of(self.text)

    def flow(self, offset: int) -> answers.Flow | None:
        """Return the node at an offset."""
        from netsharp_lsp.cntk.ide.navigation.flow import flow_at

        return flow_at(self.text, offset)

    def feeds(self, name: str, *, backwards: bool) -> list[answers.Flow]:
        """Return the nodes that a node feeds, or reads."""
        from netsharp_lsp.cntk.ide.navigation.flow import feeds

        return feeds(self.text, name, backwards=backwards)

    def lenses(self, options: answers.LensOptions) -> list[answers.Lens]:
        """Return the lenses above declarations."""
        from netsharp_lsp.cntk.ide.lenses import lenses_of

        return lenses_of(self.text, options)

    def lens_title(self, key: str) -> str:
        """Return the title of a lens."""
        from netsharp_lsp.cntk.ide.lenses import lens_title

        return lens_title(self.text, key)

    def start(self, command: str) -> answers.StartedRun | None:
        """Return the command line that runs the text."""
        from netsharp_lsp.cntk.ide.runs import start_of

        return start_of(self.text, command)

    def actions(self, start: int, end: int, only: Sequence[str] | None) -> list[answers.Action]:
        """Return the code actions for a range."""
        from netsharp_lsp.cntk.ide.changes.actions import actions_in

        return actions_in(self.text, self.language, self.check, (start, end), only)

    def migrate(self) -> answers.Migration:
        """Return the migration of the text and its unit to BrainScript."""
        from netsharp_lsp.cntk.ide.changes.migration import migration_of

        return migration_of(self.text)

    def graph(self) -> answers.Graph:
        """Return the network and its picture."""
        from netsharp_lsp.cntk.ide.graph import graph_of

        return graph_of(self.text)

    def format(self, options: FormatOptions) -> Formatted:
        """Return the formatted text."""
        return self.language.format(self.data, options)
