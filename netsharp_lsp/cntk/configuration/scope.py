"""A record of keys and values inside others, and look-up in it as in CNTK.

Keys are case-insensitive. A key that is not found here is looked up in the record around it, and
from there outwards; variables are substituted when a value is looked up, not before.
"""

from __future__ import annotations

from netsharp_lsp.cntk.configuration.entries import Entry
from netsharp_lsp.cntk.configuration.faults import TextFaults
from netsharp_lsp.cntk.configuration.records import records
from netsharp_lsp.cntk.configuration.variables import Budget, substituted_text, variable_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.configuration.records import Record
    from netsharp_lsp.cntk.configuration.traced import Traced
    from netsharp_lsp.cntk.configuration.variables import View

#: Means "as if it were not given".
DEFAULT = b"default"


class Found:
    """The result of a look-up: the `entry`, the `scope` that contains it, its text after
    substitution.
    """

    __slots__ = ("entry", "scope", "text")

    def __init__(self, entry: Entry, scope: Scope, text: Traced) -> None:
        self.entry = entry
        self.scope = scope
        self.text = text

    @property
    def problem(self) -> str | None:
        """Return the kind of fault that prevented a substitution, None without one."""
        uses = self.text.uses
        return (
            next((use.problem for use in uses if use.problem is not None), None) if uses else None
        )


class Scope:
    """The keys of one record; `parent` is the record that refers to it.

    `holes`: names of variables that could not be substituted where this record was looked up. They
    stay unchanged, since CNTK stops there. `records` are those of its text, in order.
    """

    __slots__ = (
        "_entries",
        "_faults",
        "_inside",
        "_known",
        "budget",
        "holes",
        "parent",
        "records",
        "text",
    )

    def __init__(self, text: Traced, faults: TextFaults, parent: Scope | None = None) -> None:
        self.text = text
        self.parent = parent
        self.holes = {use.name.lower() for use in text.uses if use.problem is not None}
        self._faults = faults
        self._entries: dict[bytes, Entry] = {}
        self._known: dict[Entry, Traced] = {}
        self._inside: dict[Entry, Scope] = {}
        self.budget: Budget = Budget() if parent is None else parent.budget
        self.records = records(text, faults)
        for record in self.records:
            self._insert(record)

    def _insert(self, record: Record) -> None:
        name = record.name.lower()
        if name in self._entries:
            self._entries[name].assign(record)
        else:
            self._entries[name] = Entry(record)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries.values())

    def here(self, name: bytes) -> Entry | None:
        """Return the entry of a key in this record itself."""
        return self._entries.get(name.lower())

    def look_up(self, name: bytes, climb: bool = True) -> Found | None:
        """Look a key up here and outwards; None where it is not found."""
        key = name.lower()
        scope: Scope | None = self
        while scope is not None:
            entry = scope._entries.get(key)
            if entry is not None:
                return Found(entry, scope, scope.resolved(entry))
            scope = scope.parent if climb else None
        return None

    def option(self, name: bytes, otherwise: str) -> str:
        """Return the text of an option where it is given, and is not `default`; else another."""
        found = self.look_up(name)
        if found is None or found.text.text == DEFAULT:
            return otherwise
        return found.text.text.decode("utf-8", "replace")

    def block(self, name: bytes, climb: bool = True) -> Scope | None:
        """Return a value parsed as a record, whose own look-ups climb from here."""
        found = self.look_up(name, climb)
        return None if found is None else self.inside(found)

    def inside(self, found: Found) -> Scope:
        """Return a found value, parsed as a record."""
        known = self._inside.get(found.entry)
        if known is None or known.text is not found.text:
            known = self._inside[found.entry] = Scope(found.text, self._faults, self)
        return known

    def resolved(self, entry: Entry) -> Traced:
        """Return an entry's text after substitution, as far as that is possible."""
        known = self._known.get(entry)
        if known is not None:
            return known
        text = entry.text.text
        if b"$" not in text and b"#" not in text:
            self._known[entry] = entry.text
            return entry.text
        return _Resolution(self).of(entry)

    def put(self, text: Traced) -> Traced:
        """Return a text of another file with the variables substituted that are defined here."""
        for name in variable_names(text.text):
            owner = self.owner(name)
            entry = None if owner is None else owner.here(name)
            if owner is not None and entry is not None:
                owner.resolved(entry)
        return substituted_text(text, _View(self, {}), self._faults)

    def owner(self, name: bytes) -> Scope | None:
        """Return the record that contains a key: this one, or the nearest around it."""
        key = name.lower()
        scope: Scope | None = self
        while scope is not None and key not in scope._entries:
            scope = scope.parent
        return scope

    def substitute(self, entry: Entry, view: View) -> None:
        """Substitute the variables of an entry; `view` knows their values already."""
        self._known[entry] = substituted_text(entry.text, view, self._faults)

    def known(self, entry: Entry) -> Traced | None:
        """Return the text of an entry of this record if it is already substituted."""
        return self._known.get(entry)


class _Resolution:
    """The resolution of an entry after those that its variables refer to, without recursion."""

    __slots__ = ("_opened", "_scope", "_waiting")

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._waiting: list[tuple[Scope, Entry]] = []
        #: Values whose variables are being resolved, outermost first.
        self._opened: dict[Entry, Scope] = {}

    def of(self, entry: Entry) -> Traced:
        """Return the text of an entry."""
        self._waiting.append((self._scope, entry))
        while self._waiting:
            scope, waiting = self._waiting[-1]
            if scope.known(waiting) is None and self._open(scope, waiting):
                continue
            self._waiting.pop()
            if scope.known(waiting) is None:
                scope.substitute(waiting, _View(scope, self._opened))
            self._opened.pop(waiting, None)
        found = self._scope.known(entry)
        assert found is not None
        return found

    def _open(self, scope: Scope, entry: Entry) -> bool:
        """Queue the entries that an entry needs; return False where none is missing."""
        if entry in self._opened:
            return False
        self._opened[entry] = scope
        before = len(self._waiting)
        for name in variable_names(entry.text.text):
            owner = scope.owner(name)
            needed = None if owner is None else owner.here(name)
            if owner is None or needed is None or needed in self._opened:
                continue
            if owner.known(needed) is None:
                self._waiting.append((owner, needed))
        return len(self._waiting) > before


class _View:
    """A scope as the variables of one entry see it."""

    __slots__ = ("_scope", "opened")

    def __init__(self, scope: Scope, opened: dict[Entry, Scope]) -> None:
        self._scope = scope
        self.opened = opened

    def is_hole(self, name: str) -> bool:
        """Return whether a variable is already known to be undefined here."""
        return name.lower() in self._scope.holes

    def find(self, name: str) -> tuple[Entry, Traced | None] | None:
        """Return the entry of a variable, with its text unless it is still being substituted."""
        owner = self._scope.owner(name.encode())
        entry = None if owner is None else owner.here(name.encode())
        return None if owner is None or entry is None else (entry, owner.known(entry))

    def spend(self, length: int) -> bool:
        """Return whether there is room for this number of bytes, and reserve it."""
        return self._scope.budget.spend(length)
