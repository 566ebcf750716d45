"""The values of a configuration, resolved, in the order of the text; prints nothing."""

from __future__ import annotations

import re

from netsharp_lsp.cntk.configuration.arrays import elements
from netsharp_lsp.cntk.configuration.faults import TextFault
from netsharp_lsp.cntk.configuration.records import is_block

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.configuration.entries import Assignment, Entry
    from netsharp_lsp.cntk.configuration.faults import TextFaults
    from netsharp_lsp.cntk.configuration.scope import Found, Scope
    from netsharp_lsp.cntk.configuration.sources import SourcePlace
    from netsharp_lsp.cntk.configuration.traced import Use

#: Keys whose block is a network and not a record.
BUILDERS = frozenset({b"brainscriptnetworkbuilder", b"experimentalnetworkbuilder"})
#: Keys that name the sections which an NDL network is loaded from.
_SECTIONS = (b"run", b"load")
#: Where one of them may be: as it is, or composed of variables.
_MAY_SAY_SECTIONS = re.compile(rb"run|load|\$\w*[ \t]*=", re.IGNORECASE)
#: Blocks that nest deeper are not opened.
DEEPEST = 60


class Value:
    """One key of the tree: its `path` as spelt, the result of its look-up, its `depth` from 0.

    `inside` is its record where it was opened: a block that is not a network.
    """

    __slots__ = ("depth", "found", "inside", "path")

    def __init__(self, path: str, found: Found, depth: int) -> None:
        self.path = path
        self.found = found
        self.depth = depth
        self.inside: Scope | None = None

    @property
    def entry(self) -> Entry:
        """The key with its history."""
        return self.found.entry

    @property
    def kind(self) -> str:
        """Return `text`, `string`, `block` or `flag`."""
        kind = self.entry.kind
        if kind == "text":
            network = self.entry.key.lower() in BUILDERS
            return "block" if network or is_block(self.found.text.text) else kind
        return kind

    @property
    def raw(self) -> str:
        """Return the value as written, without quotes and comments."""
        return _decoded(self.entry.text.raw())

    @property
    def value(self) -> str | None:
        """Return the value after substitution; None where a variable in it is unknown."""
        return None if self.found.problem is not None else _decoded(self.found.text.text)

    @property
    def elements(self) -> list[str] | None:
        """Return the value as an array; None for blocks, flags and other values that are not
        arrays.
        """
        if self.value is None or self.kind in ("block", "flag"):
            return None
        found = elements(self.found.text)
        return None if found is None else [_decoded(element.text) for element in found]

    @property
    def origin(self) -> SourcePlace:
        """Return the place where the value was written; its first part for a block in several."""
        return self.entry.parts[0].value

    @property
    def overridden(self) -> list[Assignment]:
        """Return the assignments that it overrides."""
        return self.entry.overridden

    @property
    def variables(self) -> list[Use]:
        """Return the variables in it, each once, in order of occurrence."""
        met = {(use.name.lower(), use.problem): use for use in self.found.text.uses}
        return list(met.values())


def values(scope: Scope, faults: TextFaults) -> Iterator[Value]:
    """Traverse the tree: every key, and after a block its contents."""
    return _walk(_look(scope, "", 0), network_sections(scope), faults)


def values_of(value: Value, root: Scope, faults: TextFaults) -> Iterator[Value]:
    """Traverse the contents of one value; `root` determines which sections are networks."""
    sections = network_sections(root)
    if not _opens(value, sections):
        return iter(())
    if value.inside is None:
        value.inside = value.found.scope.inside(value.found)
    return _walk(_look(value.inside, f"{value.path}.", value.depth + 1), sections, faults)


def _walk(values: Iterator[Value], sections: set[bytes], faults: TextFaults) -> Iterator[Value]:
    waiting = [values]
    while waiting:
        value = next(waiting[-1], None)
        if value is None:
            waiting.pop()
            continue
        yield value
        if not _opens(value, sections):
            continue
        if value.depth + 1 >= DEEPEST:
            message = f"Blocks that nest more than {DEEPEST} deep are not opened."
            faults.add(TextFault("deep", message, value.origin))
            continue
        value.inside = value.found.scope.inside(value.found)
        waiting.append(_look(value.inside, f"{value.path}.", value.depth + 1))


def network_sections(scope: Scope) -> set[bytes]:
    """Return the names of the sections of this configuration that are NDL, by what loads them."""
    names: set[bytes] = set()
    if not _MAY_SAY_SECTIONS.search(scope.text.text):
        return names
    for block in (scope, *_blocks(scope)):
        builder = block.here(b"NDLNetworkBuilder")
        places = [block] if builder is None else [block, _inside(block, builder)]
        for place in places:
            names |= {name for key in _SECTIONS for name in _names(place, key)}
    return {name for name in names if (entry := scope.here(name)) and is_block(entry.text.text)}


def _blocks(scope: Scope) -> list[Scope]:
    return [
        _inside(scope, entry)
        for entry in scope
        if is_block(entry.text.text) and entry.key.lower() not in BUILDERS
    ]


def _inside(scope: Scope, entry: Entry) -> Scope:
    found = scope.look_up(entry.key, climb=False)
    assert found is not None
    return scope.inside(found)


def _names(scope: Scope, key: bytes) -> set[bytes]:
    found = scope.look_up(key, climb=False)
    listed = None if found is None else elements(found.text)
    return {element.text.lower() for element in listed or ()}


def _look(scope: Scope, before: str, depth: int) -> Iterator[Value]:
    for entry in scope:
        found = scope.look_up(entry.key, climb=False)
        if found is not None:
            yield Value(before + _decoded(entry.key), found, depth)


def _opens(value: Value, sections: set[bytes]) -> bool:
    """Return whether a value is a record: a block that does not contain a network."""
    name = value.entry.key.lower()
    if value.kind != "block" or name in BUILDERS:
        return False
    return not (value.depth == 0 and name in sections)


def _decoded(text: bytes) -> str:
    return text.decode("utf-8", "replace")
