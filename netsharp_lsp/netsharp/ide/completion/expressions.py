"""Proposals inside expressions: constants, functions, the indices of a condition."""

from __future__ import annotations

from operator import attrgetter

from netsharp_lsp.netsharp.ide.completion.nearness import MOST, chosen, nearest
from netsharp_lsp.netsharp.ide.completion.place import Proposal
from netsharp_lsp.netsharp.ide.completion.templates import Template
from netsharp_lsp.netsharp.ide.hover.values import shown
from netsharp_lsp.netsharp.ide.meanings.glossary import FUNCTIONS, function_form
from netsharp_lsp.netsharp.reading.expressions import names_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from netsharp_lsp.netsharp.ide.completion.place import Cursor
    from netsharp_lsp.netsharp.meaning.model import Constant, Layer
    from netsharp_lsp.netsharp.meaning.network import Network
    from netsharp_lsp.netsharp.meaning.values.evaluate import Value

#: The functions that conditions use most come first.
FIRST_FUNCTIONS = ("abs", "min", "max", "mod")
#: The most entries of a tuple that are considered.
FEW = 8
#: The longest detail of a constant, in characters.
LONGEST = 40


def constant_proposal(constant: Constant) -> Proposal:
    """Return a constant with its value."""
    detail = "" if constant.value is None else f"= {shown(constant.value)}"
    if len(detail) > LONGEST:
        detail = f"{detail[: LONGEST - 1]}…"
    return Proposal(constant.name, "constant", detail=detail, topic=f"constant:{constant.name}")


def constants_like(cursor: Cursor, suits: Callable[[Value], bool]) -> Iterator[Proposal]:
    """Yield the constants whose value suits."""

    def suiting(constant: Constant) -> bool:
        return constant.value is not None and suits(constant.value)

    for constant in _constants(cursor, suiting):
        yield constant_proposal(constant)


def _constants(cursor: Cursor, suits: Callable[[Constant], bool]) -> Iterator[Constant]:
    """Yield the constants that suit: as they are declared, or, of many, the nearest."""
    known = cursor.network.constants
    if len(known) <= MOST:
        yield from filter(suits, known.values())
    else:
        candidates = nearest(cursor, cursor.network.all_constants)
        yield from chosen(cursor, candidates, attrgetter("name"), suits)


def constants_with(cursor: Cursor, suits: Callable[[Value], bool]) -> Iterator[Proposal]:
    """Yield the constants whose value suits, and the tuples with an entry that does."""

    def suiting(constant: Constant) -> bool:
        value = constant.value
        if isinstance(value, tuple):
            return any(map(suits, value[:FEW]))
        return value is not None and suits(value)

    for constant in _constants(cursor, suiting):
        proposal = constant_proposal(constant)
        if isinstance(constant.value, tuple):
            proposal.label = f"{constant.name}[…]"
            proposal.template = Template(f"{constant.name}[").hole("0").add("]")
        yield proposal


def functions() -> Iterator[Proposal]:
    """Yield the functions, as calls."""
    names = (*FIRST_FUNCTIONS, *(name for name in FUNCTIONS if name not in FIRST_FUNCTIONS))
    for name in names:
        template = Template(f"{name}(")
        for position, parameter in enumerate(FUNCTIONS[name][0]):
            template.add(", " if position else "").hole(parameter)
        yield Proposal(
            name,
            "function",
            template.add(")"),
            detail=function_form(name),
            topic=f"function:{name}",
        )


def is_whole(value: Value) -> bool:
    """Return whether a value is a whole number."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_scalar(value: Value) -> bool:
    """Return whether a value is not a tuple."""
    return not isinstance(value, tuple)


def size_entries(cursor: Cursor) -> Iterator[Proposal]:
    """Yield entries of a size."""
    yield from constants_with(cursor, is_whole)
    yield from functions()


def constant_values(cursor: Cursor) -> Iterator[Proposal]:
    """Yield values of a constant: others that do not refer to it."""
    own = cursor.network.constants.get(cursor.situation.layer)
    circle = referring(own, cursor.network) if own is not None else set()
    for constant in _constants(cursor, lambda constant: constant.name not in circle):
        yield constant_proposal(constant)
    for word in ("true", "false"):
        yield Proposal(word, "value", topic=f"keyword:{word}")
    yield from functions()


def referring(constant: Constant, network: Network) -> set[str]:
    """Return the constants whose values depend on one, by name, itself included."""
    users: dict[str, list[str]] = {}
    for other in network.constants.values():
        if other.item.value is not None:
            for name in names_in(other.item.value):
                users.setdefault(name.text, []).append(other.name)
    found, pending = {constant.name}, [constant.name]
    while pending:
        for user in users.get(pending.pop(), ()):
            if user not in found:
                found.add(user)
                pending.append(user)
    return found


# Conditions.


def wheres(cursor: Cursor) -> Iterator[Proposal]:
    """Yield a condition after `where`."""
    template = Template("(s, d) => ").hole("s[0] == d[0]").add(";")
    yield Proposal("(s, d) => …", "snippet", template, topic="keyword:where")


def parameters(cursor: Cursor) -> Iterator[Proposal]:
    """Yield the usual name of a condition's parameter."""
    given = cursor.situation.parameters
    if cursor.situation.before in ("(", ","):
        name = "s" if not given else "d"
        role = "source" if not given else "destination"
        yield Proposal(name, "value", detail=f"the index in the {role}")


def conditions(cursor: Cursor) -> Iterator[Proposal]:
    """Yield parts of a condition: indices with their ranges, functions, constants."""
    names = cursor.situation.parameters
    layers = (cursor.source, cursor.layer)
    brackets = cursor.situation.brackets
    if brackets and brackets[-1].target:
        yield from _dimensions(brackets[-1].target, names, layers)
        return
    for name, layer in zip(names, layers, strict=False):
        yield from _indices(name, layer)
    if len(names) == 2 and not brackets:
        yield from _shapes_of_conditions(*names)
    yield from functions()
    yield from constants_with(cursor, is_scalar)


def _indices(name: str, layer: Layer | None) -> Iterator[Proposal]:
    shape = layer.shape if layer is not None else None
    if layer is None or shape is None:
        yield Proposal(f"{name}[0]", "value")
        return
    for dimension, size in enumerate(shape):
        yield Proposal(f"{name}[{dimension}]", "value", detail=f"0 to {size - 1} in {layer.name}")


def _dimensions(
    target: str, names: list[str], layers: tuple[Layer | None, Layer | None]
) -> Iterator[Proposal]:
    for name, layer in zip(names, layers, strict=False):
        if name == target and layer is not None and layer.shape is not None:
            for dimension, size in enumerate(layer.shape):
                detail = f"0 to {size - 1} in {layer.name}"
                yield Proposal(str(dimension), "value", detail=detail)


def _shapes_of_conditions(source: str, destination: str) -> Iterator[Proposal]:
    equal = Template(f"{source}[").hole("0").add(f"] == {destination}[").hole("0").add("]")
    yield Proposal(f"{source}[…] == {destination}[…]", "snippet", equal, detail="the same index")
    near = Template(f"abs({source}[").hole("0").add(f"] - {destination}[").hole("0").add("]) <= ")
    yield Proposal(
        f"abs({source}[…] - {destination}[…]) <= …",
        "snippet",
        near.hole("1"),
        detail="neighbours",
    )
