"""The commands of a configuration, their actions, and the outer options that apply to them."""

from __future__ import annotations

from netsharp_lsp.cntk.configuration.arrays import elements
from netsharp_lsp.cntk.configuration.faults import TextFaults
from netsharp_lsp.cntk.configuration.meaning.tree import Value, values_of
from netsharp_lsp.cntk.configuration.options import ACTIONS, BUILDERS, Block, inside
from netsharp_lsp.cntk.configuration.scope import Found, Scope
from netsharp_lsp.text.visible import encodable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.configuration.meaning.configuration import Configuration

#: The defaults: the name of a command, and that of an action.
DEFAULT = "train"
#: Blocks whose own look-ups climb out of the command.
_OPENED = frozenset(("SGD", "reader", "cvReader"))
#: What a block holds that could be a command.
_SIGNS = (b"action", *(name.encode() for name in BUILDERS))
#: Blocks at the top level that are not commands, whatever they contain.
_NO_COMMANDS = frozenset(name.lower().encode() for name in BUILDERS)


class Command:
    """One command: its `name` as `command` lists it, its block (None if there is none).

    `listed`: CNTK runs it; else it is a block that could be run.
    """

    __slots__ = ("actions", "found", "listed", "name", "scope")

    def __init__(
        self, name: str, found: Found | None, scope: Scope | None, listed: bool = True
    ) -> None:
        self.name = name
        self.listed = listed
        self.found = found
        self.scope = scope
        self.actions = () if scope is None else _listed(scope, b"action")

    @property
    def builder(self) -> Found | None:
        """Return the builder of its network; None where no builder is in scope."""
        if self.scope is None:
            return None
        for name in BUILDERS:
            found = self.scope.look_up(name.encode())
            if found is not None:
                return found
        return None


class Effective:
    """A value that applies to a command; `inherited_from` is the path of its definition."""

    __slots__ = ("inherited_from", "value")

    def __init__(self, value: Value, inherited_from: str | None = None) -> None:
        self.value = value
        self.inherited_from = inherited_from


def commands(configuration: Configuration) -> list[Command]:
    """Return the commands that CNTK runs, in order."""
    return [command(configuration, name) for name in _listed(configuration.root, b"command")]


def command(configuration: Configuration, name: str) -> Command:
    """Return one block as a command, whether it is listed or not."""
    root = configuration.root
    found = root.look_up(encodable(name).encode())
    return Command(name, found, None if found is None else root.inside(found))


def unlisted(configuration: Configuration) -> list[Command]:
    """Return the blocks that contain an action or a builder and that `command` does not name."""
    root = configuration.root
    named = {name.lower() for name in _listed(root, b"command")}
    result = []
    for entry in root:
        name = entry.key.decode("utf-8", "replace")
        if name.lower() in named or entry.key.lower() in _NO_COMMANDS or entry.kind != "block":
            continue
        found = Found(entry, root, root.resolved(entry))
        # A block that is not a command may be anything, and parsing it as a record adds no fault.
        scope = Scope(found.text, TextFaults(), root)
        if any(scope.here(key) is not None for key in _SIGNS):
            result.append(Command(name, found, root.inside(found), listed=False))
    return result


def effective(configuration: Configuration, one: Command) -> list[Effective]:
    """Return the values in a command's block, and the outer keys that its actions read."""
    if one.found is None or one.scope is None:
        return []
    own = Value(one.found.entry.key.decode("utf-8", "replace"), one.found, 0)
    own.inside = one.scope
    result = [Effective(own)]
    result += map(Effective, values_of(own, configuration.root, configuration.faults))
    tables = [ACTIONS[action] for action in one.actions if action in ACTIONS]
    wanted = {option.name: table for table in tables for option in table}
    result += _inherited(configuration, own.path, one.scope, tuple(wanted))
    for key, table in wanted.items():
        found = one.scope.look_up(key.encode()) if key in _OPENED else None
        if found is not None:
            scope = one.scope.inside(found)
            path = f"{own.path}.{found.entry.key.decode('utf-8', 'replace')}"
            result += _inherited(configuration, path, scope, _read_in(table, key, scope))
    return result


def _read_in(table: Block, key: str, scope: Scope) -> tuple[str, ...]:
    """Return the options that a block of a command also looks up outside itself."""
    found = inside(table, key, scope.option(b"readerType", "") or None)
    return tuple(it.name for it in found or () if not it.here and it.name != "readerType")


def _inherited(
    configuration: Configuration, path: str, scope: Scope, keys: tuple[str, ...]
) -> list[Effective]:
    """Return the values of keys that a block does not have itself but finds further out."""
    result = []
    for key in keys:
        found = scope.look_up(key.encode())
        if found is None or found.scope is scope:
            continue
        spelt = found.entry.key.decode("utf-8", "replace")
        value = Value(f"{path}.{spelt}", found, path.count(".") + 1)
        source = f"{_outer(path, scope, found)}{spelt}"
        result.append(Effective(value, source))
        inside = values_of(value, configuration.root, configuration.faults)
        result += [Effective(it, source + it.path[len(value.path) :]) for it in inside]
    return result


def _outer(path: str, scope: Scope, found: Found) -> str:
    """Return the path, followed by a dot, of the outer block that contains the value."""
    keys = path.split(".")
    at: Scope | None = scope
    while at is not None and at is not found.scope:
        at = at.parent
        if keys:
            keys.pop()
    return "".join(f"{key}." for key in keys)


def _listed(scope: Scope, key: bytes) -> tuple[str, ...]:
    """Return the names that an option lists."""
    found = scope.look_up(key)
    if found is None or found.text.text == b"default":
        return (DEFAULT,)
    listed = elements(found.text)
    return tuple(element.text.decode("utf-8", "replace") for element in listed or ())
