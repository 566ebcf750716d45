"""From a logical line to a document: where the line may break when it is long or has comments.

Knows the language's precedence, not its meaning; the layout decides which breaks are used.
"""

from __future__ import annotations

from netsharp_lsp.layout.document import (
    HARDLINE,
    LINE,
    SOFTLINE,
    Concat,
    Fill,
    Group,
    Nest,
    Trailing,
    concat,
    is_forced,
)
from netsharp_lsp.netsharp.formatting.lines import COMMENTS, TIGHT_AFTER, TIGHT_BEFORE
from netsharp_lsp.netsharp.formatting.tokens import (
    ARROW,
    ASSIGN,
    BLOCK_COMMENT,
    BLOCK_OPEN,
    CLOSE,
    COMMA,
    END,
    FROM,
    OPEN,
    OPERATOR,
    SHARE_CLOSE,
    SHARE_OPEN,
    SIGN,
    STRAY,
    TIGHT_OPEN,
    TUPLE,
    WORD,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from netsharp_lsp.layout.document import Document
    from netsharp_lsp.netsharp.formatting.tokens import Token

    # Role, text, whether it is on a line of its own.
    _Comment: TypeAlias = tuple[int, bytes, bool]

INDENT = 2
#: Operators a line may break at, those that bind least first.
_LEVELS = (
    (b"||",),
    (b"&&",),
    (b"==", b"!="),
    (b"<", b"<=", b">", b">="),
    (b"+", b"-"),
    (b"*", b"/", b"%"),
)
_LEVEL = {operator: level for level, operators in enumerate(_LEVELS) for operator in operators}
_OPENERS = (OPEN, TIGHT_OPEN, SHARE_OPEN)
_CLOSERS = (CLOSE, SHARE_CLOSE)
_ENDS = (END, STRAY, BLOCK_OPEN)
#: Marks that move before the comments in front of them.
_PASSING = (COMMA, SHARE_OPEN)


class _Atom:
    """A token, or a bracket with its contents, and the comments after it.

    `hard`: what follows must start a new line; `spaced`: a space must separate what follows.
    """

    __slots__ = (
        "bare",
        "comments",
        "hard",
        "role",
        "spaced",
        "text",
        "tight_after",
        "tight_before",
    )

    def __init__(self, role: int, text: bytes, bare: Document) -> None:
        self.role = role
        self.text = text
        self.bare = bare
        self.comments: tuple[Document, ...] = ()
        self.hard = False
        self.spaced = False
        self.tight_before = role in TIGHT_BEFORE
        self.tight_after = role in TIGHT_AFTER

    @property
    def document(self) -> Document:
        """Return the token and its comments."""
        return Concat((self.bare, *self.comments)) if self.comments else self.bare


def line_document(tokens: list[Token], line_ends: Callable[[int, int], int]) -> Document:
    """Return the document of a logical line; `line_ends` counts those between two offsets."""
    levels: list[list[_Atom]] = [[]]
    for atom in _atoms(tokens, line_ends):
        if atom.role in _OPENERS:
            levels.append([atom])
        elif atom.role in _CLOSERS:
            opener, *inner = levels.pop()
            levels[-1].append(_bracket(opener, inner, atom))
        else:
            levels[-1].append(atom)
    atoms = levels[0]
    size = len(atoms)
    while size > 1 and atoms[size - 1].role in _ENDS:
        size -= 1
    return _joined(_divided(atoms[:size]), atoms[size - 1], atoms[size:])


def _atoms(tokens: list[Token], line_ends: Callable[[int, int], int]) -> list[_Atom]:
    """Return tokens as atoms, each with the comments that follow it.

    Comments that end with their line let a `,` pass, which would look lost on the next line; a
    block comment between a `,` and what follows on the same line stays with the latter.
    """
    atoms: list[_Atom] = []
    comments: list[_Comment] = []
    depth = before = 0
    for role, text, start, end in tokens:
        if role in COMMENTS:
            comments.append((role, text, line_ends(before, start) > 0))
            before = end
            continue
        atom = _Atom(role, text, _tuple_document(text) if role == TUPLE else text)
        inline = all(comment[0] == BLOCK_COMMENT for comment in comments)
        leads = comments and inline and atoms[-1].role == COMMA and role not in TIGHT_BEFORE
        if leads and not line_ends(before, start):
            atom.bare = Concat([*(c[1] + b" " for c in comments), atom.bare])
            comments = []
        elif inline or role not in _PASSING:
            _add_comments(atoms, comments, depth)
            comments = []
        atoms.append(atom)
        depth += (role in _OPENERS) - (role in _CLOSERS)
        before = end
    _add_comments(atoms, comments, depth)
    return atoms


def _add_comments(atoms: list[_Atom], comments: list[_Comment], depth: int) -> None:
    """Add comments to the last atom, after which `depth` brackets are open."""
    if not comments:
        return
    atom = atoms[-1]
    inside = depth > 0 and atom.role not in _OPENERS
    new_line = HARDLINE if inside else Nest(INDENT, HARDLINE)
    following = [*atom.comments]
    for role, text, own_line in comments:
        block = role == BLOCK_COMMENT
        if atom.hard or (own_line and not block):
            following += (new_line, text if block else Trailing(text))
        else:
            following.append(b" " + text if block else Trailing(b" " + text))
        # After a `,` a comment of several lines would else go with what follows the next time.
        atom.hard = not block or (atom.role == COMMA and is_forced(text))
    atom.comments = (*following,)
    atom.spaced = True


def _tuple_document(text: bytes) -> Document:
    """Return the document of a plain tuple `[1, 2]`, which is one token."""
    *firsts, last = text[1:-1].split(b" ")
    parts: list[Document] = []
    for first in firsts:
        parts += (first, LINE)
    parts.append(last)
    return Group(Concat((b"[", Nest(INDENT, Concat((SOFTLINE, Fill(parts)))), SOFTLINE, b"]")))


def _bracket(opener: _Atom, inner: list[_Atom], closer: _Atom) -> _Atom:
    """Return the atom of a bracket: on one line, or its content indented between the two."""
    share = opener.role == SHARE_OPEN
    edge = LINE if share else SOFTLINE
    content: Document = _edge(opener, SOFTLINE)
    if inner:
        content = Concat(
            (
                Nest(INDENT, Concat((_edge(opener, edge), _elements(inner)))),
                _edge(inner[-1], edge),
            )
        )
    document = Concat((opener.document, content, closer.bare))
    atom = _Atom(CLOSE, b"", Group(document))
    atom.tight_before = opener.role == TIGHT_OPEN
    atom.comments, atom.hard, atom.spaced = closer.comments, closer.hard, closer.spaced
    return atom


def _edge(atom: _Atom, usual: Document) -> Document:
    """Return the break after an atom: forced after a line comment, a space after a block one."""
    if atom.hard:
        return HARDLINE
    return LINE if atom.spaced and usual is SOFTLINE else usual


def _elements(atoms: list[_Atom]) -> Document:
    """Return the contents of a bracket: numbers filled into lines, longer ones one to a line."""
    elements = _split_elements(atoms)
    if len(elements) == 1 and all(atom.role == WORD for atom in atoms):
        elements = [[atom] for atom in atoms]
    parts: list[Document] = []
    for element in elements:
        size = sum(atom.role != COMMA for atom in element) or 1
        parts.append(_joined(_divided(element[:size]), element[size - 1], element[size:]))
        parts.append(_edge(element[-1], LINE))
    parts.pop()
    if all(_is_scalar(element) for element in elements):
        return Fill(parts)
    return Concat(parts)


def _split_elements(atoms: list[_Atom]) -> list[list[_Atom]]:
    """Return the atoms of each element with its `,`, or several where elements are missing."""
    elements: list[list[_Atom]] = [[]]
    for atom in atoms:
        if atom.role != COMMA and elements[-1] and elements[-1][-1].role == COMMA:
            elements.append([])
        elements[-1].append(atom)
    return elements


def _is_scalar(element: list[_Atom]) -> bool:
    return all(atom.role in (WORD, SIGN, COMMA) for atom in element) and len(element) <= 3


def _divided(atoms: list[_Atom]) -> Document:
    """Return the document of a run of atoms, broken first at the loosest operator."""
    for index in range(1, len(atoms)):
        if atoms[index].role == FROM:
            return _hanging(_divided(atoms[:index]), atoms[index - 1], atoms[index:])
    for index, atom in enumerate(atoms):
        if atom.role == ASSIGN or (atom.role == ARROW and index):
            return _assigned(atoms[: index + 1], atoms[index + 1 :])
    levels = [_LEVEL[atom.text] for atom in atoms if atom.role == OPERATOR]
    if levels:
        return _operation(atoms, min(levels))
    document = atoms[0].document
    return _joined(document, atoms[0], atoms[1:])


def _hanging(left: Document, last: _Atom, right: list[_Atom]) -> Document:
    """Return a document with the right part on the same line, or indented on the next."""
    return Group(Concat((left, Nest(INDENT, Concat((_edge(last, LINE), _divided(right)))))))


def _assigned(left: list[_Atom], right: list[_Atom]) -> Document:
    """Return `name = value`: a value in brackets stays at the `=`, another may move down."""
    start = _joined(left[0].document, left[0], left[1:])
    mark = left[-1]
    if not right:
        return start
    if len(right) == 1 and right[0].role in (CLOSE, TUPLE) and not mark.hard:
        return Concat((start, b" ", right[0].document))
    return _hanging(start, mark, right)


def _operation(atoms: list[_Atom], level: int) -> Document:
    """Return operands on one line, or each with its operator on a line of its own."""
    parts: list[Document] = []
    operand: list[_Atom] = []
    for atom in atoms:
        if atom.role == OPERATOR and _LEVEL[atom.text] == level:
            parts += (_divided(operand), _edge(operand[-1], LINE))
            operand = []
            parts += (atom.document, Nest(INDENT, HARDLINE) if atom.hard else b" ")
        else:
            operand.append(atom)
    parts.append(_divided(operand))
    return Group(Concat(parts))


def _joined(document: Document, before: _Atom, atoms: list[_Atom]) -> Document:
    """Return a document and the atoms that follow it, with the spaces between them."""
    parts = [document]
    for atom in atoms:
        if before.hard:
            parts.append(Nest(INDENT, HARDLINE))
        elif not (atom.tight_before or (before.tight_after and not before.spaced)):
            parts.append(b" ")
        parts.append(atom.document)
        before = atom
    return concat(*parts)
