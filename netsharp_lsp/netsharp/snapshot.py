"""One version of a Net# text that is being edited; every feature of an editor starts here.

It passes each request to the module of `ide` that answers it and decides nothing itself.
"""

from __future__ import annotations

from netsharp_lsp.diagnostics.model import Result
from netsharp_lsp.netsharp.check import Examination, Sides
from netsharp_lsp.netsharp.meaning.steps.revision import resolve
from netsharp_lsp.netsharp.reading.incremental import Reading
from netsharp_lsp.text.conflicts import conflicts_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from netsharp_lsp.context import Context
    from netsharp_lsp.diagnostics.model import Diagnostic
    from netsharp_lsp.ide import answers
    from netsharp_lsp.layout.options import FormatOptions, Formatted
    from netsharp_lsp.netsharp.meaning.network import Network
    from netsharp_lsp.netsharp.reading.comments import Comments
    from netsharp_lsp.text.conflicts import Conflict
    from netsharp_lsp.text.edits import Edit


class Snapshot:
    """A text, what is known around it, and the network it describes.

    The versions of a document share one network, which each edit updates.
    """

    def __init__(
        self, reading: Reading, examination: Examination, sides: Sides | None = None
    ) -> None:
        self.reading = reading
        self.examination = examination
        #: The readings of a text with conflicts, once its diagnostics were requested.
        self._sides = sides
        self._result: Result | None = None

    @classmethod
    def opened(cls, data: bytes, context: Context) -> Snapshot:
        """Read a text for the first time."""
        reading = Reading.of(data)
        return cls(reading, Examination(resolve(reading.specification, context)))

    @property
    def data(self) -> bytes:
        """Return the text."""
        return self.reading.data

    @property
    def network(self) -> Network:
        """Return the network that the text describes."""
        return self.examination.network

    @property
    def context(self) -> Context:
        """Return its context."""
        return self.network.context

    @property
    def _conflicts(self) -> tuple[Conflict, ...]:
        return conflicts_in(self.data) if self.reading.disputed else ()

    def edited(self, data: bytes, edits: Sequence[Edit]) -> Snapshot:
        """Return the next version of the text."""
        reading, delta = self.reading.edited(data, edits)
        self.examination.edited(reading.specification, delta)
        return Snapshot(reading, self.examination, self._sides)

    def with_context(self, context: Context) -> Snapshot:
        """Return the same text in another context."""
        network = resolve(self.reading.specification, context)
        return Snapshot(self.reading, Examination(network))

    def check(self) -> Result:
        """Return the result of `check` for the same text and context."""
        if self._result is None:
            conflicts = self._conflicts
            if not conflicts:
                self._sides = None
                comments = spans_of(self.reading.specification.comments)
                self._result = Result(self.examination.late_diagnostics(), comments)
            else:
                if self._sides is None:
                    self._sides = Sides(self.data, conflicts, self.context)
                else:
                    self._sides.edited(self.data, conflicts)
                comments = spans_of(self._sides.ours.reading.specification.comments)
                self._result = Result(self._sides.diagnostics(conflicts), comments)
        return self._result

    def most_severe(
        self, most: int, wants: Callable[[str], bool]
    ) -> tuple[int, Sequence[Diagnostic]]:
        """Return the number of diagnostics with a wanted code, and the most severe of them."""
        if self._conflicts:
            return self.check().most_severe(most, wants)
        return self.examination.most_severe(most, wants)

    def hover(self, offset: int) -> answers.Hover | None:
        """Return the description of the words at a place."""
        from netsharp_lsp.netsharp.ide.hover import hover_at

        return hover_at(self.network, offset)

    def hints(self, start: int, end: int, options: answers.HintOptions) -> list[answers.InlayHint]:
        """Return the inlay hints of a range."""
        from netsharp_lsp.netsharp.ide.hints import hints_in

        return hints_in(self.network, start, end, options)

    def complete(self, offset: int) -> answers.Completions:
        """Return the proposals for a place."""
        from netsharp_lsp.netsharp.ide.completion import completions_at

        return completions_at(self.network, offset)

    def document(self, topic: str) -> str:
        """Return a completion's documentation."""
        from netsharp_lsp.netsharp.ide.completion import documentation

        return documentation(self.network, topic)

    def signature(self, offset: int) -> answers.Signature | None:
        """Return the form of the attribute block or call at a place."""
        from netsharp_lsp.netsharp.ide.signature import signature_at

        return signature_at(self.network, offset)

    def definition(self, offset: int) -> answers.Target | None:
        """Return the declaration of the name at a place."""
        from netsharp_lsp.netsharp.ide.navigation.names import definition_at

        return definition_at(self.network, offset)

    def implementations(self, offset: int) -> tuple[answers.Target, ...]:
        """Return nothing: a layer is implemented by its declaration."""
        return ()

    def references(self, offset: int, declaration: bool) -> list[answers.Range]:
        """Return the uses of the name at a place."""
        from netsharp_lsp.netsharp.ide.navigation.names import references_at

        return references_at(self.network, offset, declaration)

    def highlights(self, offset: int) -> list[answers.Highlight]:
        """Return the other occurrences of the name or word at a place."""
        from netsharp_lsp.netsharp.ide.navigation.names import highlights_at

        return highlights_at(self.network, offset)

    def prepare_rename(self, offset: int) -> answers.Renaming | answers.Refusal:
        """Return the name at a place, if it can be renamed."""
        from netsharp_lsp.netsharp.ide.rename import renaming_at

        return renaming_at(self.network, offset)

    def rename(self, offset: int, name: str) -> list[Edit] | answers.Refusal:
        """Return the edits that rename the name at a place."""
        from netsharp_lsp.netsharp.ide.rename import rename

        return rename(self.network, offset, name)

    def symbols(self) -> list[answers.Symbol]:
        """Return the outline."""
        from netsharp_lsp.netsharp.ide.structure.symbols import symbols_of

        return symbols_of(self.network)

    def outline(self) -> Sequence[tuple[int, answers.OutlinePart]]:
        """Return the outline as one part."""
        from netsharp_lsp.ide.answers import OutlinePart

        return [(0, OutlinePart(len(self.data), tuple(self.symbols())))]

    def folds(self) -> list[answers.Fold]:
        """Return the folding ranges."""
        from netsharp_lsp.netsharp.ide.structure.folding import folds_of

        return folds_of(self.network)

    def selections(self, offset: int) -> list[answers.Range]:
        """Return the ranges around a place."""
        from netsharp_lsp.netsharp.ide.structure.selection import selections_at

        return selections_at(self.network, offset)

    def tokens(self, start: int, end: int) -> list[answers.Token]:
        """Return the semantic tokens of a range."""
        from netsharp_lsp.netsharp.ide.structure.tokens import tokens_in

        return tokens_in(self.network, start, end)

    def links(self) -> list[answers.Link]:
        """Return the links in comments."""
        from netsharp_lsp.netsharp.ide.links import links_of

        return links_of(self.network)

    def flow(self, offset: int) -> answers.Flow | None:
        """Return the layer at a place."""
        from netsharp_lsp.netsharp.ide.navigation.flow import flow_at

        return flow_at(self.network, offset)

    def feeds(self, name: str, *, backwards: bool) -> list[answers.Flow]:
        """Return the layers that a layer feeds, or reads."""
        from netsharp_lsp.netsharp.ide.navigation.flow import feeds

        return feeds(self.network, name, backwards=backwards)

    def lenses(self, options: answers.LensOptions) -> list[answers.Lens]:
        """Return the lenses above declarations."""
        from netsharp_lsp.netsharp.ide.lenses import lenses_of

        return lenses_of(self.network, options)

    def lens_title(self, key: str) -> str:
        """Return the title that a lens shows."""
        from netsharp_lsp.netsharp.ide.lenses import lens_title

        return lens_title(self.network, key)

    def start(self, command: str) -> answers.StartedRun | None:
        """Return None: a specification does not start a program."""
        return None

    def actions(self, start: int, end: int, only: Sequence[str] | None) -> list[answers.Action]:
        """Return the actions on a range."""
        from netsharp_lsp.netsharp.ide.actions import actions_in

        return actions_in(self.network, self.check, start, end, only)

    def migrate(self) -> answers.Migration:
        """Return no changes: Net# is the language to migrate to."""
        from netsharp_lsp.ide.answers import Migration

        return Migration(None, ("A specification of Net# needs no migration.",))

    def graph(self) -> answers.Graph:
        """Return the network and its picture."""
        from netsharp_lsp.netsharp.ide.graph import graph_of

        return graph_of(self.network)

    def format(self, options: FormatOptions) -> Formatted:
        """Return the formatted text."""
        from netsharp_lsp.netsharp.formatting import format_text

        return format_text(self.data, options)


def spans_of(comments: Comments) -> Iterator[tuple[int, int]]:
    """Yield the spans of comments, computed on request: most texts have no suppressions.

    Not a method of `Snapshot`: a generator that referred to a snapshot would keep old versions
    alive.
    """
    yield from comments.spans()
