"""Values of BrainScript: numbers, strings and booleans are Python's own, the others are here.

Faults are values, too; within the evaluation they are raised as `Failure`, which does not leave it.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from netsharp_lsp.cntk.networks.faults import BuildingFault
from netsharp_lsp.cntk.networks.node import OPAQUE, Node

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from netsharp_lsp.cntk.networks.faults import Place
    from netsharp_lsp.cntk.networks.node import Calling, Network


#: The most names of a cycle in a message.
CIRCLE_SHOWN = 8


class Failure(Exception):  # noqa: N818
    """A fault that is raised within the evaluation.

    `begun` is the value that depends on itself, until its cycle is complete in `circle`.
    """

    def __init__(self, fault: BuildingFault, begun: Thunk | None = None) -> None:
        self.fault = fault
        self.begun = begun
        self.circle: list[Thunk] = []
        self._left = False

    def passing(self, thunk: Thunk) -> None:
        """Record that an enclosing value fails, too; the cycle ends where it began."""
        if self.begun is None:
            return
        if not self._left:
            self._left = True
            return
        self.circle.append(thunk)
        if thunk is self.begun:
            self.begun = None
            self.fault = _circular(self.fault, self.circle[::-1])


def _circular(fault: BuildingFault, circle: list[Thunk]) -> BuildingFault:
    """Return the fault of a cycle, with the names in it."""
    names: list[str] = []
    own = [thunk for thunk in circle if thunk.place.source == circle[0].place.source]
    for path in [thunk.path for thunk in own if thunk.path]:
        if not names or not path.startswith(f"{names[-1]}."):
            names.append(path)
    if not names:
        return fault
    way = " → ".join(f"'{name}'" for name in (*names[:CIRCLE_SHOWN], names[0]))
    message = f"'{names[0]}' needs its own value: {way} is a cycle."
    return fault._replace(message=message, calls=tuple(thunk.place for thunk in circle))


class Thunk:
    """A value that is computed at its first use."""

    __slots__ = ("compute", "failure", "path", "place", "value")

    def __init__(self, compute: Callable[[], Value] | None, place: Place, path: str = "") -> None:
        self.compute = compute
        self.place = place
        self.path = path
        self.value: Value = None
        self.failure: Failure | None = None

    @classmethod
    def of(cls, value: Value, place: Place) -> Thunk:
        """Return a thunk with a known value."""
        thunk = cls(None, place)
        thunk.value = value
        return thunk

    def force(self) -> Value:
        """Return the value, computed at its first use; a use during the computation is a cycle."""
        compute = self.compute
        if compute is None:
            if self.failure is not None:
                raise self.failure
            return self.value
        self.compute = self._again
        try:
            self.value = compute()
        except Failure as failure:
            failure.passing(self)
            self.failure = failure
            raise
        finally:
            self.compute = None
        return self.value

    def _again(self) -> Value:
        raise Failure(
            BuildingFault(
                "circular",
                "this needs its own value: a circular reference.",
                self.place,
            ),
            self,
        )


class Site(NamedTuple):
    """A place of evaluation: a place in a text, and its scope.

    `called` is the name of the function called there.
    """

    place: Place
    scope: Record | None
    called: str = ""


class Record:
    """Members by name, and the scope around them; the arguments of a call have its site.

    `way` contains the calls that led there, once determined.
    """

    __slots__ = ("_named", "_seen", "members", "parent", "site", "way")

    def __init__(self, parent: Record | None, site: Site | None = None) -> None:
        self.members: dict[str, Thunk] = {}
        self._named: dict[Place, str] = {}
        self._seen = 0
        self.parent = parent
        self.site = site
        self.way: Way | None = None

    def find(self, name: str) -> Thunk | None:
        """Return a member, here or in a scope around."""
        scope = self
        while True:
            found = scope.members.get(name)
            if found is not None:
                return found
            if scope.parent is None:
                return scope.outermost(name)
            scope = scope.parent

    def name_at(self, place: Place) -> str:
        """Return the name of the first member whose value is at a place, empty if there is none."""
        # Members are added and never removed.
        for name, value in islice(self.members.items(), self._seen, None):
            self._named.setdefault(value.place, name)
        self._seen = len(self.members)
        return self._named.get(place, "")

    def outermost(self, name: str) -> Thunk | None:
        """Return a member of the outermost scope that is created at its first use; here None."""
        return None


class Way(NamedTuple):
    """The calls around the arguments of a call, outermost first, with the arguments of those that
    created the called function.  `outer_arguments` are those of the innermost call in a user's
    text.
    """

    made: tuple[Record, ...]
    calls: tuple[Calling, ...]
    outer_arguments: Record | None


class Array:
    """Elements from a first index on."""

    __slots__ = ("first", "items")

    def __init__(self, first: int, items: list[Thunk]) -> None:
        self.first = first
        self.items = items


class Function:
    """A function: required parameters, optional ones with defaults, its body, and the source of its
    text.
    """

    __slots__ = ("body", "defaults", "parameters", "source")

    def __init__(
        self,
        parameters: tuple[str, ...],
        defaults: Mapping[str, Thunk],
        body: Body,
        source: str = "",
    ) -> None:
        self.parameters = parameters
        self.defaults = defaults
        self.body = body
        self.source = source


class Built:
    """A network that was built, or that is in a model file, with its nodes as members."""

    __slots__ = ("_named", "model", "network")

    def __init__(self, network: Network, model: str = "") -> None:
        self.network = network
        self.model = model
        self._named: dict[str, Node] | None = None

    @property
    def named(self) -> Mapping[str, Node]:
        """Return its nodes by their names as members, with `_` for `.`."""
        if self._named is None:
            self._named = {name.replace(".", "_"): one for name, one in self.network.nodes.items()}
        return self._named


class Absent(Node):
    """An unknown value, which only a run would determine: a loaded network, a variable that is not
    set.

    It can take the place of a node, a record, a function or a number, and causes no fault.
    """

    __slots__ = ("known",)

    def __init__(self, number: int, name: str) -> None:
        super().__init__(OPAQUE, number, name)
        self.shape = None
        self.known: dict[str, Absent] = {}


#: The types of values in messages, as CNTK names them.
KINDS: tuple[tuple[type, str], ...] = (
    (bool, "boolean"),
    (float, "number"),
    (str, "string"),
    (Node, "node"),
    (Record, "record"),
    (Array, "array"),
    (Function, "function"),
    (Built, "network"),
    (tuple, "shape"),
)


def kind_of(value: Value) -> str:
    """Return the type of a value for messages."""
    return next((name for kind, name in KINDS if isinstance(value, kind)), "object")


def a_kind(value: Value) -> str:
    """Return the type of a value for messages, with its article."""
    kind = kind_of(value)
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


if TYPE_CHECKING:
    Value = (
        float
        | str
        | bool
        | tuple[int | bool, ...]
        | Record
        | Array
        | Function
        | Node
        | Built
        | Absent
        | None
    )
    Body = Callable[[list[Thunk], dict[str, Thunk], str, Site], Value]


def joined(path: str, name: str) -> str:
    """Return a path with one more step."""
    return f"{path}.{name}" if path and name else path or name
