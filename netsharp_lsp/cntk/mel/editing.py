"""The effects of MEL functions on the nodes that they name; each handler gets one call.  Knows no
file.
"""

from __future__ import annotations

from netsharp_lsp.cntk.mel import effects
from netsharp_lsp.cntk.mel.faults import EditFault, Replacement
from netsharp_lsp.cntk.mel.functions import (
    COPIES,
    PROPERTIES,
    SUBTREE_PROPERTIES,
    fits,
    property_meant,
)
from netsharp_lsp.cntk.mel.names import no_default, no_match, unknown_model, unknown_node
from netsharp_lsp.cntk.mel.reading import parameter, word
from netsharp_lsp.cntk.networks.freezing import FREEZABLE
from netsharp_lsp.cntk.networks.node_types import ALIASES, NODE_TYPES
from netsharp_lsp.cntk.vocabulary import FALSE, TRUE, TRUTHS
from netsharp_lsp.diagnostics.nearest import nearest
from netsharp_lsp.text.numbers import whole_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    from netsharp_lsp.cntk.configuration.traced import Traced
    from netsharp_lsp.cntk.mel.functions import Function, Property
    from netsharp_lsp.cntk.mel.models import Model, Models
    from netsharp_lsp.cntk.mel.reading import Statement

    class Going(Protocol):
        """An evaluation in progress."""

        models: Models
        faults: list[EditFault]
        change: Traced | None
        writes: bool


class Nodes:
    """The meaning of a name: its model, and names of nodes; None if they are unknown."""

    __slots__ = ("model", "names", "rest")

    def __init__(self, model: Model, names: list[str] | None, rest: str) -> None:
        self.model = model
        self.names = names
        self.rest = rest


def nodes_meant(going: Going, name: Traced) -> Nodes | None:
    """Return the nodes that a parameter refers to; None after recording a fault."""
    model, rest = going.models.split(name)
    if model is None:
        if "$" not in word(name):
            what = f"'{word(name)}' is looked up in the default model"
            going.faults.append(no_default(going.models, name, what))
        return None
    pattern = word(rest) or "*"
    names = model.matches(pattern)
    if names == []:
        make = no_match if "*" in pattern else unknown_node
        going.faults.append(make(model, rest if len(rest) else name))
        return None
    return Nodes(model, names, pattern)


def _changed(going: Going, model: Model, statement: Statement) -> None:
    going.change = model.changed = statement.text


def remove(going: Going, statement: Statement, function: Function) -> None:
    """Remove nodes (`RemoveNode`, `DeleteNode`)."""
    for name in statement.arguments:
        found = nodes_meant(going, name)
        if found is None:
            continue
        effects.remove(found.model, found.names, statement.text)
        if found.names is not None:
            found.model.remove(found.names)
        _changed(going, found.model, statement)


def rename(going: Going, statement: Statement, function: Function) -> None:
    """Rename nodes (`Rename`)."""
    found = _pairs(going, statement)
    if found is None:
        return
    source, target, pairs = found
    if source.model is not target:
        _across(going, statement, "renamed within one model", (source.model, target))
        return
    for old, new in pairs or ():
        if target.spelt(new) is not None:
            message = f"'{new}' is already the name of a node; the edit stops here."
            going.faults.append(EditFault("rename-taken", message, statement.arguments[1]))
            return
        target.rename(old, new)
    effects.rename(target, pairs)
    if pairs is None:
        target.forget()
    _changed(going, target, statement)


def copy(going: Going, statement: Statement, function: Function) -> None:
    """Copy nodes (`CopyNode`)."""
    found = _pairs(going, statement)
    if found is None:
        return
    source, target, pairs = found
    for old, new in pairs or ():
        if source.model is target and target.spelt(new) == old:
            message = f"'{old}' would be copied onto itself; the edit stops here."
            going.faults.append(EditFault("copied-onto-itself", message, statement.arguments[1]))
            return
        target.add(new, source.model.operation(old))
    links = _links(statement, function)
    effects.copy(source.model, target, pairs, statement.text, links=links)
    if pairs is None:
        target.forget()
    _changed(going, target, statement)


def copy_inputs(going: Going, statement: Statement, function: Function) -> None:
    """Copy connections (`CopyNodeInputs`)."""
    found = _pairs(going, statement)
    if found is None:
        return
    source, target, pairs = found
    if source.model is not target:
        _across(going, statement, "given inputs within one model", (source.model, target))
        return
    effects.copy_inputs(target, pairs, statement.text)
    _changed(going, target, statement)


def _links(statement: Statement, function: Function) -> bool:
    """Return whether a copy includes connections: not if only values are requested."""
    given = statement.arguments[function.required :]
    values = [found.value for one in given if (found := parameter(one)) is not None]
    return not any(fits(word(value), COPIES[1]) for value in values)


def copy_tree(going: Going, statement: Statement, function: Function) -> None:
    """Copy a subtree (`CopySubTree`)."""
    found = nodes_meant(going, statement.arguments[0])
    name, prefix = statement.arguments[1:3]
    target = going.models.find(word(name))
    if target is None and "$" not in word(name):
        going.faults.append(unknown_model(going.models, name))
    if found is not None and target is not None:
        follows = "$" not in word(prefix) and _links(statement, function)
        names = found.names if follows else None
        if not effects.copy_tree(found.model, names, target, word(prefix), statement.text):
            target.forget()
        _changed(going, target, statement)


def set_input(going: Going, statement: Statement, function: Function) -> None:
    """Connect one input (`SetNodeInput`)."""
    node, index, source = statement.arguments
    target, origin = nodes_meant(going, node), nodes_meant(going, source)
    number = _index(going, index)
    if target is None or origin is None:
        return
    _single(going, origin, source)
    if target.model is not origin.model:
        _across(going, statement, "connected within one model", (target.model, origin.model))
    elif number is not None:
        _fitting(going, target, index, number)
    effects.connect(target.model, target.names, number, origin.names, statement.text)
    _changed(going, target.model, statement)


def _index(going: Going, index: Traced) -> int | None:
    text = word(index)
    number = whole_number(text)
    if number is not None:
        return number
    if "$" not in text:
        message = f"'{text}' is not an input: inputs are counted from 0."
        going.faults.append(EditFault("index", message, index))
    return None


def _fitting(going: Going, target: Nodes, index: Traced, number: int) -> None:
    for name in target.names or ():
        operation = target.model.operation(name)
        node_type = NODE_TYPES.get(ALIASES.get(operation, operation))
        if node_type is None or number < node_type.most:
            continue
        count = f"{node_type.most} input{'' if node_type.most == 1 else 's'}"
        last = f", 0 to {node_type.most - 1}" if node_type.most > 1 else ""
        message = f"'{name}' is {operation} with {count}{last}: there is no input {word(index)}."
        if number == node_type.most > 0:
            message += " Inputs are counted from 0."
        going.faults.append(EditFault("index", message, index))
        return


def _single(going: Going, origin: Nodes, text: Traced) -> None:
    if origin.names is not None and len(origin.names) > 1:
        listed = ", ".join(origin.names[:3])
        more = f" and {len(origin.names) - 3} more" if len(origin.names) > 3 else ""
        message = (
            f"An input is one node, but '{word(text)}' matches {len(origin.names)}: "
            f"{listed}{more}. The edit stops here."
        )
        going.faults.append(EditFault("several", message, text))


def set_inputs(going: Going, statement: Statement, function: Function) -> None:
    """Connect all inputs (`SetNodeInputs`)."""
    target = nodes_meant(going, statement.arguments[0])
    if target is not None:
        _single(going, target, statement.arguments[0])
    origins = [(one, nodes_meant(going, one)) for one in statement.arguments[1:]]
    for one, origin in origins:
        if origin is not None:
            _single(going, origin, one)
            if target is not None and target.model is not origin.model:
                models = (target.model, origin.model)
                _across(going, statement, "connected within one model", models)
    if target is not None:
        sources = [None if origin is None else origin.names for _, origin in origins]
        effects.attach(target.model, target.names, sources, statement.text)
        _changed(going, target.model, statement)
        _inputs_count(going, target, statement)


def _inputs_count(going: Going, target: Nodes, statement: Statement) -> None:
    given = len(statement.arguments) - 1
    for name in (target.names or ())[:1]:
        operation = target.model.operation(name)
        node_type = NODE_TYPES.get(ALIASES.get(operation, operation))
        if node_type is not None and not node_type.fewest <= given <= node_type.most:
            count = f"{node_type.most} input{'' if node_type.most == 1 else 's'}"
            message = f"'{name}' is {operation} with {count}, but {given} are given."
            going.faults.append(EditFault("index", message, statement.text))


def set_property(going: Going, statement: Statement, function: Function) -> None:
    """Set a property of nodes (`SetProperty`)."""
    node, name, value = statement.arguments
    found = property_meant(word(name)) if "$" not in word(name) else None
    if found is None:
        _unknown_property(going, name, [one.name for one in PROPERTIES])
    else:
        _old_property(going, found, (name, value))
        _property_value(going, found, value)
    nodes = nodes_meant(going, node)
    if nodes is None:
        return
    if found is not None:
        _useful(going, nodes, found[0], name)
    _set(nodes, found, word(value))
    _changed(going, nodes.model, statement)


def _set(nodes: Nodes, found: tuple[Property, str] | None, value: str) -> None:
    """Set a property; an unknown value makes the network unknown."""
    model, names = nodes.model, nodes.names
    if found is None or "$" in value:
        model.network.forget()
    elif found[0].kind == "group":
        effects.tag(model, names, found[0].name, belongs=value in TRUE)
    elif found[0].kind == "number":
        effects.learn_at(model, names, _rate(found, value))
    elif found[0].kind == "truth" and value in TRUE:
        effects.freeze_all(model, names)


def _rate(found: tuple[Property, str], value: str) -> float:
    """Return the learning rate multiplier, given in the newer or the older way."""
    return float(value in TRUE) if found[1] else (_number(value) or 0.0)


def set_property_below(going: Going, statement: Statement, function: Function) -> None:
    """Set a property of a subtree (`SetPropertyForSubTree`)."""
    node, name, value = statement.arguments
    found = property_meant(word(name)) if "$" not in word(name) else None
    if found is None or found[0].name not in SUBTREE_PROPERTIES:
        _unknown_property(going, name, list(SUBTREE_PROPERTIES))
    else:
        _old_property(going, found, (name, value))
        _property_value(going, found, value)
    nodes = nodes_meant(going, node)
    if nodes is None:
        return
    known = found is not None and "$" not in word(value)
    rate = _rate(found, word(value)) if found is not None else 0.0
    effects.learn_below(nodes.model, nodes.names if known else None, rate)
    _changed(going, nodes.model, statement)


def _unknown_property(going: Going, name: Traced, known: list[str]) -> None:
    spelt = word(name)
    if "$" in spelt:
        return
    near = nearest(spelt, known)
    ask = f"Did you mean '{near}'?" if near else f"There is {', '.join(known)}."
    if spelt.lower() == "multiseq":
        ask = "It had an effect only in older versions: remove the call."
    repair = Replacement(f"Write '{near}'", name, near, safe=True) if near else None
    message = f"There is no property '{spelt}' to set here; the edit stops. {ask}"
    going.faults.append(EditFault("property", message, name, repair))


def _old_property(going: Going, found: tuple[Property, str], texts: tuple[Traced, Traced]) -> None:
    proper, old = found
    if not old:
        return
    name, value = texts
    if proper.kind == "number":
        given = word(value)
        number = "1" if given in TRUE else "0" if given in FALSE else ""
        message = f"'{old}' is an older way to set {proper.name} to {number or '0 or 1'}."
        repair = Replacement(
            f"Set {proper.name}", name, proper.name, safe=True, also=((value, number),)
        )
        going.faults.append(EditFault("old-property", message, name, repair if number else None))
        return
    message = f"'{word(name)}' is an older name of '{proper.name}'."
    repair = Replacement(f"Write '{proper.name}'", name, proper.name, safe=True)
    going.faults.append(EditFault("old-property", message, name, repair))


def _property_value(going: Going, found: tuple[Property, str], value: Traced) -> None:
    text = word(value)
    if "$" in text or found[0].kind == "nothing":
        return
    if found[0].kind != "number" or found[1]:
        if text not in TRUTHS:
            name = found[1] or found[0].name
            message = f"'{name}' is true or false, not '{text}'; the edit stops here."
            going.faults.append(EditFault("property-value", message, value))
        return
    number = _number(text)
    if number is None or number < 0:
        below = "cannot be below 0" if number is not None else "is a number"
        message = f"'{found[0].name}' {below}, but it is '{text}'; the edit stops here."
        going.faults.append(EditFault("property-value", message, value))


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _useful(going: Going, nodes: Nodes, proper: Property, name: Traced) -> None:
    """Report a property without an effect on the nodes."""
    if proper.kind == "nothing":
        message = f"'{proper.name}' has no effect. Remove the call."
        going.faults.append(EditFault("no-effect", message, name))
        return
    operations = [(one, nodes.model.operation(one)) for one in nodes.names or ()]
    known = [(one, operation) for one, operation in operations if operation]
    if proper.kind == "truth":
        wrong = [pair for pair in known if pair[1] not in FREEZABLE]
        if wrong:
            message = (
                f"'{wrong[0][0]}' is {wrong[0][1]}, which cannot be frozen; the edit stops "
                "here. Name parameters or normalizations."
            )
            going.faults.append(EditFault("not-freezable", message, name))
    elif proper.kind == "number" and known and len(known) == len(operations):
        _no_parameters(going, known, proper, name)


def _no_parameters(
    going: Going, known: list[tuple[str, str]], proper: Property, name: Traced
) -> None:
    if all(operation != "LearnableParameter" for _, operation in known):
        node, operation = known[0]
        message = (
            f"'{node}' is {operation} and is not trained: '{proper.name}' has no effect. "
            "SetPropertyForSubTree sets it for the parameters that a node depends on."
        )
        going.faults.append(EditFault("no-effect", message, name))


def _across(going: Going, statement: Statement, how: str, models: tuple[Model, Model]) -> None:
    message = (
        f"Nodes are {how}, but these are of '{models[0].name}' and '{models[1].name}'; "
        "the edit stops here."
    )
    going.faults.append(EditFault("across", message, statement.text))


def _pairs(
    going: Going, statement: Statement
) -> tuple[Nodes, Model, list[tuple[str, str]] | None] | None:
    """Return the nodes of the first parameter, the model of the second, and old names with new
    ones.
    """
    source = nodes_meant(going, statement.arguments[0])
    target, rest = going.models.split(statement.arguments[1])
    if source is None or target is None:
        return None
    new = word(rest) or "*"
    many, many_new = "*" in source.rest, "*" in new
    if many_new and not many:
        return _onto_all(going, statement, source, target)
    old_parts, new_parts = _halves(source.rest), _halves(new)
    if [bool(part) for part in old_parts] != [bool(part) for part in new_parts]:
        message = (
            f"'{source.rest}' and '{new}' do not match: where one has text before or after "
            "its '*', the other must, too. The edit stops here."
        )
        going.faults.append(EditFault("patterns", message, statement.arguments[1]))
        return None
    if source.names is None or "$" in new:
        return source, target, None
    cut, back = len(old_parts[0]), len(old_parts[1])
    pairs = []
    for name in source.names:
        middle = name[cut : len(name) - back] if many else ""
        pairs.append((name, f"{new_parts[0]}{middle}{new_parts[1]}"))
    return source, target, pairs


def _halves(pattern: str) -> tuple[str, str]:
    head, _, tail = pattern.partition("*")
    return head, tail


def _onto_all(
    going: Going, statement: Statement, source: Nodes, target: Model
) -> tuple[Nodes, Model, list[tuple[str, str]] | None] | None:
    """Return pairs of one node and every node that a pattern matches."""
    found = nodes_meant(going, statement.arguments[1])
    if found is None:
        return None
    if found.names is None or source.names is None:
        return source, target, None
    return source, target, [(source.names[0], name) for name in found.names]


HANDLERS: dict[str, Callable[[Going, Statement, Function], None]] = {
    "CopyNode": copy,
    "CopySubTree": copy_tree,
    "CopyNodeInputs": copy_inputs,
    "SetNodeInput": set_input,
    "SetNodeInputs": set_inputs,
    "SetProperty": set_property,
    "SetPropertyForSubTree": set_property_below,
    "RemoveNode": remove,
    "DeleteNode": remove,
    "Rename": rename,
}
