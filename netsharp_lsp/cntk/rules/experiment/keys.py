"""Rules on keys that are never read: misspelt, in the wrong block, of older releases, or unused.

A key counts as read if any command reaches its block and looks for it there, for the block or for
one inside it, or if a variable of its name is used anywhere in the run.
"""

from __future__ import annotations

import re
from functools import lru_cache

from netsharp_lsp.cntk.configuration.arrays import elements
from netsharp_lsp.cntk.configuration.options import (
    BUILDERS,
    READERS,
    TOP,
    find,
    names_within,
    within,
)
from netsharp_lsp.cntk.configuration.sources import COMMAND_LINE
from netsharp_lsp.cntk.configuration.variables import variable_names
from netsharp_lsp.cntk.rules import EXPERIMENT, emitted, rule
from netsharp_lsp.cntk.rules.findings import Change, Finding, Repair, placed
from netsharp_lsp.cntk.rules.proposals import proposed
from netsharp_lsp.diagnostics.nearest import allowed_edits, edit_distance

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from netsharp_lsp.cntk.configuration.entries import Entry
    from netsharp_lsp.cntk.configuration.meaning.usage import Visit
    from netsharp_lsp.cntk.configuration.options import Option
    from netsharp_lsp.cntk.configuration.scope import Scope
    from netsharp_lsp.cntk.run.experiment import Experiment
    from netsharp_lsp.diagnostics.model import Severity

emitted("CK041", "warning")
emitted("CK042", "hint")
emitted("CK044", "info")

_NAME = re.compile(r"[A-Za-z_][\w.-]*\Z")
#: Keys whose values name other keys.
#: Options that name texts in which keys are variables.
_TEXTS = ("networkDescription", "ndlMacros", "editPath")
_NAMING = (b"run", b"load", b"readers", b"section", b"ioNodeNames", b"command", b"outputNodeNames")
#: Options of readers of older releases, which kept a binary copy of their data.
_COPY = frozenset(
    (
        *("sectiontype", "elementsize", "wrecords", "wsize", "wfile", "windowsize", "mapping"),
        *("category", "compute", "numberofentries"),
    )
)
#: The fewest letters of a key that is compared with options.
_SHORTEST = 4
#: Options of which one is needed, unless another replaces them.
_ONE_OF = (
    (("learningRatesPerSample", "learningRatesPerMB"), ("AutoAdjust",)),
    (("outputPath", "writer"), ()),
)
#: Options of older releases, and an explanation.
_GONE = {
    "nodetype": "Layers take their kind from layerTypes.",
    "addprior": "A prior is requested by needPrior.",
    "unroll": "Loops are not unrolled.",
    "minimizereadermemoryfootprint": "The reader keeps little in memory by itself.",
    "batchnormalizationengine": "Nodes choose their own engine.",
}
#: The fewest letters of a prefix that is taken for an option.
_BEGINNING = 6


class _Key:
    """A key at its place, and the blocks in which it was looked up."""

    __slots__ = ("entry", "is_read", "visits")

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self.is_read = False
        self.visits: list[Visit] = []


@rule("CK040", "warning", on=EXPERIMENT)
def unread_keys(experiment: Experiment, _: Experiment) -> Iterator[Finding]:
    """Report each key that is never read, by the likely cause."""
    used = names_in_use(experiment)
    keys = _keys(experiment)
    yield from _binary_copies(keys.values())
    for key in keys.values():
        name = _decoded(key.entry.key)
        if name.lower() in _COPY and _reader_of(key.visits[0]) is not None:
            continue
        if key.is_read or name.lower() in used or _NAME.match(name) is None:
            continue
        yield from _checked(name, key, experiment)
    yield from _at_the_top(experiment, used)


def names_in_use(experiment: Experiment) -> set[str]:
    """Return the names, in lower case, that variables or lists of blocks refer to."""
    texts = [experiment.configuration.layers.text.text, *_files_with_variables(experiment)]
    used = {_decoded(name).lower() for text in texts for name in variable_names(text)}
    for scope in (experiment.configuration.root, *(visit.scope for visit in experiment.visits)):
        used |= _named(scope)
    return used


def _files_with_variables(experiment: Experiment) -> Iterator[bytes]:
    """Yield the files of NDL and MEL, in which the keys of a block around them are variables."""
    for visit in experiment.visits:
        for name in _TEXTS:
            path = visit.text(name) if visit.table.find(name) is not None else None
            for one in path.split("+") if path else ():
                yield experiment.files.read(one) or b""


def _is_unknown(visit: Visit, experiment: Experiment) -> bool:
    """Return whether a block names a text that uses its keys as variables and is outside the
    allowed folders.
    """
    named = (visit.text(name) for name in _TEXTS if visit.table.find(name) is not None)
    return any(experiment.files.outside(one) for path in named if path for one in path.split("+"))


def _named(scope: Scope) -> set[str]:
    found = (scope.look_up(key, climb=False) for key in _NAMING)
    return {
        _decoded(element.text).lower()
        for one in found
        if one is not None
        for element in elements(one.text) or ()
    }


def _keys(experiment: Experiment) -> dict[object, _Key]:
    """Return the keys of all blocks that commands reach, by their place."""
    keys: dict[object, _Key] = {}
    for visit in experiment.visits:
        table = visit.table
        allowed = names_within(table)
        for entry in visit.scope:
            if entry.kind == "flag":
                continue
            key = keys.setdefault(entry.assignments[-1].key.key, _Key(entry))
            key.visits.append(visit)
            named = bool(table.any_name) and entry.kind == "block"
            known = _decoded(entry.key).lower() in allowed
            key.is_read |= known or named or _is_open(visit, experiment)
    return keys


def _is_open(visit: Visit, experiment: Experiment) -> bool:
    """Return whether a block may contain any key, because a text that uses its keys is
    unavailable.
    """
    if visit.is_open or _is_unknown(visit, experiment):
        return True
    path = visit.text("editPath") if "edit" in visit.command.actions else None
    return path is not None and experiment.files.read(path) is None


def _reader_of(visit: Visit) -> Visit | None:
    """Return the reader that a block belongs to."""
    at: Visit | None = visit
    while at is not None and at.table.name.lower() not in READERS:
        at = at.outer
    return at


def _binary_copies(keys: Iterable[_Key]) -> Iterator[Finding]:
    """Report keys that readers no longer read, once per reader."""
    found: dict[object, list[_Key]] = {}
    for key in keys:
        reader = _reader_of(key.visits[0])
        if reader is not None and not key.is_read and _decoded(key.entry.key).lower() in _COPY:
            found.setdefault(reader.found.entry.parts[0].key.key, []).append(key)
    for several in found.values():
        names = dict.fromkeys(_decoded(key.entry.key) for key in several)
        place = placed(several[0].entry.parts[-1].key)
        message = (
            f"Readers no longer keep a binary copy of their data, so {', '.join(names)} in this "
            "reader have no effect. Remove them."
        )
        yield Finding("CK044", place, message)


def _checked(name: str, key: _Key, experiment: Experiment) -> Iterator[Finding]:
    """Report a key that is never read."""
    visit = key.visits[0]
    place = placed(key.entry.parts[-1].key)
    if place.source == COMMAND_LINE:
        return
    table = visit.table.name
    block = f"'{visit.name}'" if table == visit.name else f"'{visit.name}' ({table})"
    rows = find(name)
    meant = None if rows else _meant(name, _offered(visit, key.entry))
    if meant is not None:
        yield _misspelt(name, meant, block, key, experiment)
    elif visit.table.name == "NDLNetworkBuilder":
        return
    elif name.lower() in _GONE:
        message = f"'{name}' is read by older releases only. {_GONE[name.lower()]} Remove it."
        yield Finding("CK044", place, message)
    elif rows:
        yield _misplaced(name, rows[0][1], block, key, [table.name for table, _ in rows])
    else:
        message = (
            f"'{name}' in {block} is never read, and no variable ${name}$ is used. Remove it, "
            "or check its spelling."
        )
        yield Finding("CK042", place, message)


def _misspelt(name: str, option: Option, block: str, key: _Key, experiment: Experiment) -> Finding:
    place = placed(key.entry.parts[-1].key)
    visit = key.visits[0]
    then = "it is ignored"
    severity: Severity | None = None
    meant = option.name
    if visit.command.listed and _is_missed(meant, visit):
        then, severity = f"{meant} is needed, and CNTK stops without it", "error"
    found = proposed(meant, option.known, experiment)
    message = f"There is no option '{name}' in {block}; {then}.{found.sentence}"
    repair = None
    if found.word is not None and visit.scope.here(meant.encode()) is None:
        repair = Repair(f"Rename to '{meant}'", [Change(place, meant)], safe=False)
    return Finding("CK040", place, message, repair=repair, severity=severity)


def _is_missed(name: str, visit: Visit) -> bool:
    """Return whether an option is needed in a block and not found."""
    row = visit.table.find(name)
    if row is None or visit.option(name) is not None:
        return False
    if name in BUILDERS:
        training = {"train", "trainRNN"}.intersection(visit.command.actions)
        return bool(training) and visit.command.builder is None
    return row.required or any(
        name in several and all(visit.option(it) is None for it in (*several, *instead))
        for several, instead in _ONE_OF
    )


def _offered(visit: Visit, entry: Entry) -> Sequence[Option]:
    """Return the options that a key may stand for: for a short one, blocks or missing ones."""
    rows = within(visit.table)
    if len(entry.key) >= _SHORTEST:
        return rows
    block = entry.kind == "block"
    return [it for it in rows if (it.kind == "block" and block) or _is_missed(it.name, visit)]


def has_misspelling(option: str, visit: Visit) -> bool:
    """Return whether a misspelt key is in place of an option where CNTK would find that."""
    row = visit.table.find(option)
    if row is None:
        return False
    if _has_misspelt(visit.scope, row, ("text", "string", "block"), exact=False):
        return True
    scope = None if row.here else visit.scope.parent
    while scope is not None and not _has_misspelt_around(scope, row):
        scope = scope.parent
    return scope is not None


@lru_cache(maxsize=1 << 10)
def _has_misspelt_around(scope: Scope, row: Option) -> bool:
    """Return whether a misspelt key is in a block around others; the answer is the same for each of
    these.
    """
    return _has_misspelt(scope, row, ("text", "string"), exact=True)


#: Forget the answers on the blocks of one run.
forget_misspellings = _has_misspelt_around.cache_clear


def _has_misspelt(scope: Scope, row: Option, kinds: tuple[str, ...], exact: bool) -> bool:
    names = (_decoded(entry.key) for entry in scope if entry.kind in kinds)
    return any(not find(name) and _meant(name, [row], exact=exact) is not None for name in names)


def _misplaced(name: str, row: Option, block: str, key: _Key, tables: list[str]) -> Finding:
    """Return the finding on a key that is read, but in other kinds of blocks."""
    place = placed(key.entry.parts[-1].key)
    shown = " and ".join(dict.fromkeys(tables[:2])) + (" and others" if len(tables) > 2 else "")
    there = "that block only" if row.here else "that block or one around it"
    message = (
        f"'{name}' is not read in {block}: it belongs to {shown}, where CNTK looks in "
        f"{there}. It is ignored here."
    )
    is_block = key.entry.kind == "block"
    return Finding("CK041", place, message, severity="warning" if is_block else "info")


def _at_the_top(experiment: Experiment, used: set[str]) -> Iterator[Finding]:
    """Report misspelt options of the whole run; other keys at the top level may be variables."""
    root = experiment.configuration.root
    visited = [visit for visit in experiment.visits if visit.outer is None]
    if not visited:
        return
    rows = {option.name: option for option in TOP}
    for visit in visited:
        rows |= {option.name: option for option in within(visit.table)}
    names = {name.lower() for name in rows}
    for entry in root:
        name = _decoded(entry.key)
        known = name.lower() in names or name.lower() in used
        if known or entry.kind in ("block", "flag") or _NAME.match(name) is None:
            continue
        place = placed(entry.parts[-1].key)
        option = _meant(name, rows.values(), exact=True)
        if option is None or place.source == COMMAND_LINE:
            continue
        meant = option.name
        if root.here(meant.encode()) is not None:
            continue
        found = proposed(meant, option.known, experiment)
        message = f"'{name}' is never read, and no variable ${name}$ is used.{found.sentence}"
        repair = None
        if found.word is not None:
            repair = Repair(f"Rename to '{meant}'", [Change(place, meant)], safe=False)
        yield Finding("CK040", place, message, repair=repair)


def _meant(name: str, among: Iterable[Option], exact: bool = False) -> Option | None:
    """Return the option that a key misspells; `exact`: if it may well be a name of its own."""
    if len(name) < (_SHORTEST if exact else _SHORTEST - 1):
        return None
    limit = max(1, allowed_edits(len(name)) - (2 if exact else 1)) + 1
    best = None
    for option in among:
        distance = edit_distance(name.lower(), option.name.lower(), limit)
        if distance < limit and not _is_variant(name.lower(), option.name.lower()):
            best, limit = option, distance
    if best is None and len(name) >= _BEGINNING and not exact:
        return next((it for it in among if it.name.lower().startswith(name.lower())), None)
    return best


def _is_variant(name: str, option: str) -> bool:
    """Return whether a key was named after an option on purpose: noReader, reader2, SGD_old."""
    before, found, after = name.partition(option)
    rest = before + after
    return bool(found) and (len(rest) > 1 or not rest.isalpha())


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace")
