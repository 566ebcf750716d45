"""How a marker's question is put to a snapshot, and the answer shown as lines for people.

Places are shown in their line, between « and »; changes as a diff.  `FEATURES` has all of them.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from netsharp_lsp.diagnostics.fixes import fix_all
from netsharp_lsp.diagnostics.selection import Selection
from netsharp_lsp.examining import examine
from netsharp_lsp.ide.answers import (
    DOCUMENT,
    TOKEN_KINDS,
    TOKEN_MODIFIERS,
    Action,
    Changes,
    Elsewhere,
    Flow,
    HintOptions,
    LensOptions,
    Refusal,
    Symbol,
)
from netsharp_lsp.layout.options import FormatOptions
from netsharp_lsp.text.edits import Edit, apply_edits
from netsharp_lsp.text.lines import LineIndex
from tests.features.markers import Marker

if TYPE_CHECKING:
    from netsharp_lsp.interface import Language, Snapshot


class Asked(NamedTuple):
    """A question with all that is needed to answer it."""

    snapshot: Snapshot
    marker: Marker
    language: Language

    @property
    def words(self) -> list[str]:
        """The words after the feature's name."""
        return self.marker.argument.split()

    @property
    def range(self) -> tuple[int, int]:
        """What the marker points at; one caret is a cursor, which holds nothing."""
        start, end = self.marker.start, self.marker.end
        return start, start if len(self.snapshot.data[start:end].decode()) < 2 else end

    @property
    def settings(self) -> dict[str, str]:
        """The words after the feature's name that are `name=value`."""
        return dict(word.split("=", 1) for word in self.words if "=" in word)

    def shown(self, start: int, end: int) -> str:
        """The line of a place, the place between « and »; only its ends where it has several."""
        return shown(self.snapshot.data, start, end)

    def beside(self, file: str, start: int, end: int) -> str:
        """The line of a place in another file."""
        around = self.snapshot.context.workspace
        data = around.files.read(file) if around is not None else None
        text = Path(file).read_bytes() if data is None else data
        return f"{Path(file).name} {shown(text, start, end)}"

    def changed(self, edits: Sequence[Edit]) -> list[str]:
        """The lines that edits take away and put in."""
        return diff(self.snapshot.data, apply_edits(self.snapshot.data, edits))


def shown(data: bytes, start: int, end: int) -> str:
    """The line of a place, the place between « and »; only its ends where it has several."""
    index = LineIndex(data)
    first, last = index.line_at(start), index.line_at(end)
    head, tail = index.span(first)[0], index.span(last)[1]
    before, inside, after = (
        data[a:b].decode() for a, b in ((head, start), (start, end), (end, tail))
    )
    if last > first:
        lines = inside.splitlines() or [""]
        closing = lines[-1] if inside[-1:] not in "\r\n" else ""
        inside = f"{lines[0]} … {closing.lstrip()}"
    number = f"{first + 1}" if last == first else f"{first + 1}-{last + 1}"
    return f"{number}: {before.lstrip()}«{inside}»{after.rstrip()}"


def diff(before: bytes, after: bytes) -> list[str]:
    """The lines that a text loses and those that it gets."""
    lines = difflib.unified_diff(
        before.decode().splitlines(keepends=True), after.decode().splitlines(keepends=True), n=0
    )
    found = [line.rstrip("\r\n") for line in lines][2:]
    return [line for line in found if not line.startswith("@@")] or ["unchanged"]


def hover(asked: Asked) -> list[str]:
    found = asked.snapshot.hover(asked.marker.start)
    if found is None:
        return ["nothing"]
    return [asked.shown(found.start, found.end), *found.markdown.splitlines()]


def hints(asked: Asked) -> list[str]:
    options = HintOptions(**{word.lstrip("-"): not word.startswith("-") for word in asked.words})
    found = asked.snapshot.hints(asked.marker.start, asked.marker.end, options)
    return [
        f"{asked.shown(hint.offset, hint.offset).replace('«»', f'«{hint.label}»')}"
        f"{f'  {hint.tooltip!r}' if hint.tooltip else ''}"
        for hint in found
    ] or ["none"]


def completion(asked: Asked) -> list[str]:
    """All proposals, or with names after the marker those, with what they insert."""
    found = sorted(
        asked.snapshot.complete(asked.marker.start).items, key=lambda item: (item.rank, item.label)
    )
    out = []
    for item in found:
        if not asked.words:
            out.append(f"{item.label} ({item.kind}) {item.detail}".rstrip())
        elif item.label in asked.words:
            edit = Edit(item.start, item.end, item.plain)
            out += [f"{item.label}: {item.insert!r}", *asked.changed([edit])]
    return out or ["none"]


def documentation(asked: Asked) -> list[str]:
    found = {item.label: item.topic for item in asked.snapshot.complete(asked.marker.start).items}
    topic = found.get(asked.marker.argument)
    return ["none"] if topic is None else asked.snapshot.document(topic).splitlines() or ["none"]


def signature(asked: Asked) -> list[str]:
    found = asked.snapshot.signature(asked.marker.start)
    if found is None:
        return ["nothing"]
    out = [found.label, *found.documentation.splitlines()]
    for number, parameter in enumerate(found.parameters):
        here = "> " if number == found.active else "  "
        label = found.label[parameter.start : parameter.end]
        out.append(f"{here}{label}: {parameter.documentation}".rstrip(": "))
    return out


def definition(asked: Asked) -> list[str]:
    found = asked.snapshot.definition(asked.marker.start)
    if found is None:
        return ["nothing"]
    if found.file is not None:
        return [asked.beside(found.file, found.name_start, found.name_end)]
    return [
        asked.shown(found.name_start, found.name_end),
        "whole " + asked.shown(found.start, found.end),
    ]


def implementation(asked: Asked) -> list[str]:
    out = []
    for found in asked.snapshot.implementations(asked.marker.start):
        if found.file is not None:
            out.append(asked.beside(found.file, found.start, found.end))
        else:
            out.append(asked.shown(found.name_start, found.name_end))
            out.append("whole " + asked.shown(found.start, found.end))
    return out or ["nothing"]


def references(asked: Asked) -> list[str]:
    found = asked.snapshot.references(asked.marker.start, "declaration" in asked.words)
    return [
        asked.beside(place.file, place.start, place.end)
        if isinstance(place, Elsewhere)
        else asked.shown(*place)
        for place in found
    ] or ["none"]


def highlight(asked: Asked) -> list[str]:
    found = asked.snapshot.highlights(asked.marker.start)
    return [f"{place.kind} {asked.shown(place.start, place.end)}" for place in found] or ["none"]


def prepare(asked: Asked) -> list[str]:
    found = asked.snapshot.prepare_rename(asked.marker.start)
    if isinstance(found, Refusal):
        return [f"refused: {found.message}"]
    return [f"{found.name} {asked.shown(found.start, found.end)}"]


def rename(asked: Asked) -> list[str]:
    found = asked.snapshot.rename(asked.marker.start, asked.marker.argument)
    if isinstance(found, Refusal):
        return [f"refused: {found.message}"]
    changes = found if isinstance(found, Changes) else Changes(tuple(found))
    return [*(asked.changed(changes.edits) if changes.edits else ()), *elsewhere(asked, changes)]


def elsewhere(asked: Asked, changes: Changes | Action) -> list[str]:
    """What changes in other files, a line each; of a file that comes to be, its text."""
    out = []
    for change in changes.elsewhere:
        name = Path(change.file).name
        for edit in change.edits:
            if change.creates:
                out += [f"{name}:", *(f"    {line}" for line in edit.text.splitlines())]
            else:
                out.append(f"{asked.beside(change.file, edit.start, edit.end)} -> {edit.text!r}")
    return out


def symbols(asked: Asked) -> list[str]:
    return [line for symbol in asked.snapshot.symbols() for line in outline(asked, symbol, 0)]


def outline(asked: Asked, symbol: Symbol, depth: int) -> list[str]:
    """A symbol and those inside it, indented."""
    assert symbol.start <= symbol.name_start <= symbol.name_end <= symbol.end
    head = f"{'  ' * depth}{symbol.kind} {symbol.name}"
    place = asked.shown(symbol.name_start, symbol.name_end)
    inner = (outline(asked, child, depth + 1) for child in symbol.children)
    return [
        f"{head}{f', {symbol.detail}' if symbol.detail else ''} | {place}",
        *(line for lines in inner for line in lines),
    ]


def folding(asked: Asked) -> list[str]:
    found = asked.snapshot.folds()
    return [f"{fold.kind} {asked.shown(fold.start, fold.end)}" for fold in found] or ["none"]


def selection(asked: Asked) -> list[str]:
    return [asked.shown(*place) for place in asked.snapshot.selections(asked.marker.start)]


def tokens(asked: Asked) -> list[str]:
    """One line for each token; `//: tokens` shows all, a marker below a line those it points at."""
    out = []
    for start, end, kind, modifiers in asked.snapshot.tokens(asked.marker.start, asked.marker.end):
        names = [name for bit, name in enumerate(TOKEN_MODIFIERS) if modifiers >> bit & 1]
        text = asked.snapshot.data[start:end].decode()
        out.append(" ".join((text, "-", TOKEN_KINDS[kind], *names)))
    return out or ["none"]


def links(asked: Asked) -> list[str]:
    """All links, or those that touch what a marker points at."""
    return [
        f"{link.url or link.code} {asked.shown(link.start, link.end)}"
        for link in asked.snapshot.links()
        if link.start < asked.marker.end and asked.marker.start < link.end
    ] or ["none"]


def flow(asked: Asked) -> list[str]:
    found = asked.snapshot.flow(asked.marker.start)
    return ["nothing"] if found is None else [in_flow(asked, found)]


def feeding(backwards: bool) -> Callable[[Asked], list[str]]:
    """What feeds the layer at a place, or what it feeds."""

    def ask(asked: Asked) -> list[str]:
        layer = asked.snapshot.flow(asked.marker.start)
        if layer is None:
            return ["nothing"]
        out = []
        for found in asked.snapshot.feeds(layer.name, backwards=backwards):
            out.append(in_flow(asked, found))
            out += [f"  by {asked.shown(*place)}" for place in found.places]
        return out or ["none"]

    return ask


def in_flow(asked: Asked, found: Flow) -> str:
    """One layer in the flow of data."""
    place = asked.shown(found.target.name_start, found.target.name_end)
    return f"{found.kind} {found.name}, {found.detail} | {place}"


def lenses(asked: Asked) -> list[str]:
    words = asked.words
    options = LensOptions(
        asked.settings.get("run_file"), "parameters" in words, trained="trained" in words
    )
    out = []
    for lens in asked.snapshot.lenses(options):
        title = lens.title or f"(later) {asked.snapshot.lens_title(lens.key)}"
        command = f" -> {lens.command.id}" if lens.command else ""
        out.append(f"{title}{command} | {asked.shown(lens.start, lens.end)}")
    return out or ["none"]


def actions(asked: Asked) -> list[str]:
    """The titles of all that can be done to a range; words after the marker are kinds wanted."""
    found = asked.snapshot.actions(*asked.range, asked.words or None)
    return [entitled(action) for action in found] or ["none"]


def doing(kind: str) -> Callable[[Asked], list[str]]:
    """What the actions of a kind do; words after the marker choose by their titles."""

    def ask(asked: Asked) -> list[str]:
        found = asked.snapshot.actions(*asked.range, [kind])
        out = []
        for action in found:
            if asked.marker.argument not in action.title:
                continue
            if action.edits or action.elsewhere:
                changed = asked.changed(action.edits) if action.edits else []
                out += [
                    entitled(action),
                    *changed,
                    *elsewhere(asked, action),
                    *named(asked, action),
                ]
        return out or ["none"]

    return ask


def fixing_all(asked: Asked) -> list[str]:
    """All safe fixes, again and again, as the command line and the server apply them."""
    context = asked.snapshot.context
    fixed = fix_all(
        asked.snapshot.data,
        lambda text: examine(asked.language, LineIndex(text), context, Selection()),
    )
    counts = (f"{code} x {count}" for code, count in sorted(fixed.applied.items()))
    return [", ".join(counts) or "nothing", *diff(asked.snapshot.data, fixed.text)]


def entitled(action: Action) -> str:
    """An action in one line."""
    fixes = "".join(f" fixes {code}" for code, _, _ in action.fixes)
    command = ""
    if action.command is not None:
        words = ("uri" if each is DOCUMENT else str(each) for each in action.command.arguments)
        arguments = ", ".join(words)
        command = f" -> {action.command.id}({arguments})"
    preferred = " (preferred)" if action.preferred else ""
    return f"{action.kind}: {action.title}{preferred}{fixes}{command}"


def named(asked: Asked, action: Action) -> list[str]:
    """The name that people may type after an action, if there is one."""
    if action.rename_at is None:
        return []
    text = apply_edits(asked.snapshot.data, action.edits)
    after = asked._replace(snapshot=asked.language.open(text, asked.snapshot.context))
    return ["name " + after.shown(action.rename_at, action.rename_at).replace("«»", "«here»")]


def formatting(asked: Asked) -> list[str]:
    """What formatting changes: of the whole text, or of the lines that the marker points at."""
    index = LineIndex(asked.snapshot.data)
    whole = (asked.marker.start, asked.marker.end) == (0, len(asked.snapshot.data))
    lines = (index.line_at(asked.marker.start) + 1, index.line_at(asked.marker.end) + 1)
    result = asked.snapshot.format(FormatOptions(ranges=() if whole else (lines,)))
    return [result.failure] if result.failure else diff(asked.snapshot.data, result.text)


#: Every feature that markers may ask for.
FEATURES: dict[str, Callable[[Asked], list[str]]] = {
    "actions": actions,
    "add-layer": doing("quickfix.layer"),
    "body": doing("refactor.rewrite.body"),
    "completion": completion,
    "convention": doing("refactor.rewrite.convention"),
    "declaration": definition,
    "definition": definition,
    "documentation": documentation,
    "extract": doing("refactor.extract"),
    "fix": doing("quickfix"),
    "fix-all": fixing_all,
    "flow": flow,
    "flow-in": feeding(backwards=True),
    "flow-out": feeding(backwards=False),
    "folding": folding,
    "format": formatting,
    "format-range": formatting,
    "highlight": highlight,
    "hints": hints,
    "hover": hover,
    "implementation": implementation,
    "inline": doing("refactor.inline"),
    "lenses": lenses,
    "links": links,
    "migrate": doing("refactor.rewrite.migrate"),
    "padding": doing("refactor.rewrite.padding"),
    "prepare": prepare,
    "references": references,
    "rename": rename,
    "selection": selection,
    "shape": doing("refactor.rewrite.shape"),
    "share": doing("refactor.rewrite.share"),
    "signature": signature,
    "symbols": symbols,
    "tokens": tokens,
}
