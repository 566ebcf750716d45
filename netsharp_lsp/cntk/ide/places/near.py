"""The part of a text near an offset, as a text of its own: the declarations around it with those
that are called there, and the names of all others, which are kept piece by piece.

Knows no feature. Where a declaration may change the meaning of others, the whole text is needed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from netsharp_lsp.cntk.brainscript.reading.syntax import Lambda, Member
from netsharp_lsp.cntk.ide.naming.occurrence import Occurrence
from netsharp_lsp.cntk.ide.places.edited import FAR, Edited
from netsharp_lsp.cntk.ide.places.sections import KEYS
from netsharp_lsp.cntk.ide.places.text import EditedText
from netsharp_lsp.cntk.library.versions import ARGUMENTS, COUNTS, STARTS, VERSIONED
from netsharp_lsp.cntk.networks.node import GROUPS
from netsharp_lsp.cntk.reading.syntax import (
    Assignment,
    ConfigurationCall,
    Flag,
    Macro,
    String,
    Text,
)
from netsharp_lsp.context import Context

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netsharp_lsp.cntk.ide.places.stretches import Stretch
    from netsharp_lsp.cntk.reading.syntax import Record
    from netsharp_lsp.ide.answers import Range

#: More declarations that one calls, and those that these call, are not looked for.
MOST = 40
_NAME = re.compile(r"[A-Za-z_]\w*\Z")
#: A name whose meaning is needed where it is used: it is called, or another name is its alias.
_CALLED = re.compile(rb"([A-Za-z_]\w*)[ \t\r\n]*[({.]|=[ \t\r\n]*([A-Za-z_]\w*)")
#: The first of names with points between them at the end of a text.
_PATH = re.compile(rb"([A-Za-z_]\w*)\.[\w.]*\Z")
#: Longer paths are not looked for.
LONGEST = 400
#: Text that may set the version of CNTK that a text is for, and with it the library.
_VERSIONED = re.compile(
    rb"\b(?:%b)\b" % "|".join(sorted({*VERSIONED, *ARGUMENTS, *COUNTS, *STARTS})).encode()
)
#: Members that CNTK looks for itself.
_SPECIAL = frozenset(f"{group}Nodes" for group in GROUPS)


class Near(NamedTuple):
    """The text near an offset, and the distance of its places from those in the whole."""

    edited: Edited
    moved: int


class DeclaredNames(NamedTuple):
    """The declarations of a piece: names without their places, in order; the places of declarations
    in the piece, by name; and of those that every other one has to know.
    """

    names: tuple[Occurrence, ...]
    places: dict[str, Range]
    known: tuple[Range, ...]


def near(edited: Edited, offset: int) -> Near | None:
    """Return the text near an offset; None where the completions depend on the whole text."""
    if edited.language not in _READ or edited.far is not None or edited.text.pieces is None:
        return None
    pieces = edited.text.pieces

    def read(stretch: Stretch, low: int, high: int) -> DeclaredNames | None:
        if not _is_text(stretch.data):
            return None
        return _READ[edited.language](edited.name, stretch, (low, high))

    found = pieces.kept("names", read)
    stretch = pieces.stretch(offset, offset)
    if found is None or stretch is None:
        return None
    parts = [(base, one) for base, one in found if one is not None]
    if len(parts) < len(found):
        return None
    begin, end = stretch.start, stretch.start + len(stretch.data)
    spans = {(base + low, base + high) for base, one in parts for low, high in one.known}
    if edited.language == "brainscript":
        called = _called(edited.data, stretch.data, parts)
        if called is None:
            return None
        spans |= called
    elif _is_inside(edited.data, offset, parts):
        return None
    above = b"".join(b"%b\n" % edited.data[a:b] for a, b in sorted(spans) if b <= begin)
    below = b"".join(b"\n%b" % edited.data[a:b] for a, b in sorted(spans) if a >= end)
    names = [name for _, one in parts for name in one.names]
    return Near(edited.shortened(above + stretch.data + below, names), begin - len(above))


def _is_inside(data: bytes, offset: int, parts: Sequence[tuple[int, DeclaredNames]]) -> bool:
    """Return whether names of a node are reached through its own, which only its declaration
    shows.
    """
    found = _PATH.search(data, max(0, offset - LONGEST), offset)
    if found is None:
        return False
    root = found.group(1).decode().lower()
    names = (name for _, one in parts for name in one.names if name.kind == "model")
    return all(name.name.lower() != root for name in names)


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _called(
    data: bytes, start: bytes, parts: Sequence[tuple[int, DeclaredNames]]
) -> set[Range] | None:
    """Return the places of the declarations whose meaning a part needs; None for too many."""
    found: set[Range] = set()
    waiting, seen = [start], set[str]()
    while waiting:
        for match in _CALLED.finditer(waiting.pop()):
            name = (match.group(1) or match.group(2)).decode()
            if name in seen:
                continue
            seen.add(name)
            for base, one in parts:
                if name in one.places:
                    low, high = one.places[name]
                    found.add((base + low, base + high))
                    waiting.append(data[base + low : base + high])
                    break
        if len(found) > MOST:
            return None
    return found


def _of_brainscript(file: str, stretch: Stretch, part: Range) -> DeclaredNames | None:
    """Return the members of a network; None for a text that includes others."""
    text = EditedText.of_stretch("brainscript", stretch)
    names, known = [], []
    places: dict[str, Range] = {}
    # In syntax a member ends with its value, whose brackets may end after that.
    ends = {node.start_byte: node.end_byte for node in stretch.tree.root_node.children}
    for one in text.islands[0].script.entries:
        place = one.place
        if not part[0] <= place.start < part[1]:
            continue
        if not isinstance(one, Member) or not _NAME.match(one.name):
            return None
        span = place.start - part[0], ends.get(place.start, place.end) - part[0]
        places.setdefault(one.name, span)
        names.append(_name(file, "brainscript", one.name, "member"))
        is_called = one.parameters is not None or isinstance(one.value, Lambda)
        is_known = is_called or one.index_range is not None or one.name in _SPECIAL
        if is_known or _VERSIONED.search(text.data, place.start, place.end):
            known.append(span)
    return DeclaredNames(tuple(names), places, tuple(known))


def _of_ndl(file: str, stretch: Stretch, part: Range) -> DeclaredNames | None:
    """Return the nodes of a network; None where a file has sections and keys."""
    document = EditedText.of_stretch("ndl", stretch).document
    names, known = [], []
    for one in document.records if document is not None else ():
        if not part[0] <= one.start < part[1]:
            continue
        if isinstance(one, Macro):
            known.append((one.start - part[0], one.end - part[0]))
        elif isinstance(one, Assignment) and _is_node(one):
            names.append(_name(file, "ndl", one.name.text, "node"))
        elif not _is_begun(one):
            return None
    return DeclaredNames(tuple(names), {}, tuple(known))


def _is_node(one: Assignment) -> bool:
    plain = one.value is None or isinstance(one.value, ConfigurationCall | Text | String)
    return plain and one.name.text.lower() not in KEYS and bool(_NAME.match(one.name.text))


def _is_begun(one: Record) -> bool:
    """Return whether a record is a single word, as every name is while it is typed."""
    return isinstance(one, Flag) and isinstance(one.value, Text)


def _of_mel(file: str, stretch: Stretch, part: Range) -> DeclaredNames | None:
    """Return the models and nodes that edits create; None where they contain more than
    statements.
    """
    document = EditedText.of_stretch("mel", stretch).document
    for one in document.records if document is not None else ():
        is_node = isinstance(one, Assignment) and _is_node(one)
        if not (is_node or isinstance(one, ConfigurationCall) or _is_begun(one)):
            return None
    found = Edited("mel", stretch.data, Context()).declarations
    here = (one for one in found if one.kind in FAR and part[0] <= one.start < part[1])
    return DeclaredNames(tuple(_name(file, "mel", one.name, one.kind) for one in here), {}, ())


def _name(file: str, language: str, name: str, kind: str) -> Occurrence:
    return Occurrence((language, file, 0), name, kind, file, 0, 0, True)


_READ = {"brainscript": _of_brainscript, "ndl": _of_ndl, "mel": _of_mel}
