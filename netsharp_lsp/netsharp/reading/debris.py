"""Groups the top-level pieces of a broken text that belong together; knows no rule or finding."""

from __future__ import annotations

from netsharp_lsp.netsharp.reading.mistakes import (
    DEBRIS,
    WORD,
    is_debris,
    is_word_operator,
    lacks_only_end,
    lacks_source,
    token_kinds,
)
from netsharp_lsp.netsharp.reading.syntax import LayerItem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.netsharp.reading.specification import Specification
    from netsharp_lsp.netsharp.reading.syntax import Declaration


class Debris:
    """The pieces of one specification that are consequences of an earlier fault.

    `covered`: declarations that only continue it. `culprits`: continuations of a declaration that
    seemed to lack only its `;`; they are where the fault shows. `continued`: what is continued,
    where no `;` is missing; `ends` are the absolute offsets of those ends. `displaced`: groups
    interrupted by a declaration, with that one and the stray `}`; `interrupting`: the declarations
    that do so, with the group and the `}`. `curly`: layers whose size in curly brackets fell apart,
    with the size's absolute span. `words`: every word in these pieces.
    """

    def __init__(self, specification: Specification) -> None:
        self.specification = specification
        self.covered: set[Declaration] = set()
        self.culprits: dict[Declaration, Declaration] = {}
        self.continued: set[Declaration] = set()
        self.ends: list[int] = []
        self.displaced: dict[Declaration, tuple[Declaration, Declaration]] = {}
        self.interrupting: dict[Declaration, tuple[Declaration, Declaration]] = {}
        self.curly: dict[Declaration, tuple[int, int]] = {}
        self.words: set[str] = set()

    @classmethod
    def of(cls, specification: Specification) -> Debris:
        """Find the pieces in a text with unparsed parts."""
        debris = cls(specification)
        debris._find_continuations()
        debris._find_curly()
        debris._find_displaced()
        return debris

    def _find_continuations(self) -> None:
        """Find continuations: only doubtful declarations have one, so only these are checked."""
        declarations = self.specification.declarations
        open_ended = -1
        for position in sorted({at + step for at in self._doubtful() for step in (0, 1)}):
            if position == len(declarations):
                break
            before, declaration = declarations[position - 1], declarations[position]
            if position == 0 or open_ended != position - 1 or not self._joined(before, declaration):
                open_end = ends_open(declaration)
            elif is_bare(before):
                self.continued.add(before)
                open_end = ends_open(declaration)
            else:
                self._take(before, declaration)
                open_end = True
            if open_end:
                open_ended = position

    def _doubtful(self) -> list[int]:
        """Return the positions of doubtful declarations."""
        return [*map(self.specification.index, self.specification.doubtful)]

    def _joined(self, before: Declaration, declaration: Declaration) -> bool:
        """Return whether a declaration is the rest of the one before it."""
        end = self.specification.starts[before] + before.end
        between = self.specification.data[end : self.specification.starts[declaration]]
        one_line = b"\n" not in between and b"\r" not in between
        return continues(before, declaration) and (one_line or lacks_source(before))

    def _take(self, before: Declaration, declaration: Declaration) -> None:
        """Note a declaration as the rest of the one before it."""
        self.continued.add(before)
        chained = before in self.covered or before in self.culprits
        if lacks_only_end(before) and (not chained or is_word_operator(declaration)):
            self.culprits[declaration] = before
            self.ends.append(self.specification.starts[before] + before.end)
        else:
            self.covered.add(declaration)
        text = self.specification.text(declaration, 0, declaration.end)
        self.words.update(WORD.findall(text))

    def _find_curly(self) -> None:
        """Join `input Image {28, 28};` again: a body, numbers, a stray `}`."""
        declarations = self.specification.declarations
        for at in self._doubtful():
            if declarations[at].kind != "error" or not 0 < at < len(declarations) - 1:
                continue
            declaration, numbers, brace = declarations[at - 1 : at + 2]
            item = declaration.items[-1] if declaration.items else None
            if not isinstance(item, LayerItem) or item.size is not None or item.body is None:
                continue
            if not self._is_brace(brace) or item.bundles:
                continue
            if all(kind in ("number", ",", "identifier") for kind in token_kinds(numbers)):
                base = self.specification.starts[declaration] + item.body[0]
                self.curly[declaration] = (base, self.specification.starts[brace] + 1)
                rest = declarations[at + 2 : at + 3]
                self.covered.update((numbers, brace, *(d for d in rest if d.kind == "stray")))

    def _find_displaced(self) -> None:
        """Pair a group whose `}` is missing with a stray `}` further down."""
        opened = -1
        scraps: list[Declaration] = []
        for at in self._doubtful():
            declaration = self.specification.declarations[at]
            if declaration in self.curly:
                continue
            if any(f.text == "}" and f.start == declaration.end for f in declaration.faults):
                opened, scraps = at, []
            elif opened >= 0 and self._is_brace(declaration):
                self._displace(opened, at, scraps)
                opened = -1
            elif opened >= 0 and declaration.kind in DEBRIS:
                scraps.append(declaration)

    def _displace(self, opened: int, closed: int, scraps: list[Declaration]) -> None:
        """Note the first declaration between a group and its `}`, with the scraps after it."""
        declarations = self.specification.declarations
        inside = (one for one in declarations[opened + 1 : closed] if one not in self.curly)
        first = next(inside, None)
        if first is not None:
            self.displaced[declarations[opened]] = (first, declarations[closed])
            self.interrupting[first] = (declarations[opened], declarations[closed])
            self.covered.add(declarations[closed])
            self.covered.update(scrap for scrap in scraps if scrap is not first)

    def _is_brace(self, declaration: Declaration) -> bool:
        start = self.specification.starts[declaration]
        end = start + declaration.end
        return declaration.kind == "stray" and self.specification.data[start:end] == b"}"


def is_bare(declaration: Declaration) -> bool:
    """Return whether a declaration is its keyword alone."""
    return any(
        fault.kind == "incomplete" and fault.text == "declaration" for fault in declaration.faults
    )


def continues(before: Declaration, declaration: Declaration) -> bool:
    """Return whether a declaration is only the rest of an unparsed one before it."""
    if is_debris(declaration):
        return True
    item = declaration.items[0] if declaration.items else None
    return before.kind == "error" and isinstance(item, LayerItem) and item.size is None


def ends_open(declaration: Declaration) -> bool:
    """Return whether what follows on the same line may still belong to a declaration."""
    if declaration.kind == "error" or is_debris(declaration):
        return declaration.kind != "stray"
    for fault in declaration.faults:
        bracket = fault.text in ("]", ")") and fault.end >= declaration.end - 1
        if fault.kind in ("unexpected", "incomplete") or bracket:
            return True
    return lacks_only_end(declaration)
