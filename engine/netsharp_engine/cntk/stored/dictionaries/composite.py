"""Models of CNTK's second format: functions, blocks and variables become nodes.

Blocks are expanded: an argument's placeholder is replaced by the argument, and the block becomes a
node that passes on its root's value. It must not know bytes; what was read is a dictionary.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from netsharp_engine.cntk.stored.binary import ModelFault
from netsharp_engine.cntk.stored.dictionaries.functions import (
    BLOCK,
    COMBINE,
    OPERATIONS,
    Unreadable,
    function_of,
)
from netsharp_engine.cntk.stored.dictionaries.naming import grouped, named, with_axes
from netsharp_engine.cntk.stored.dictionaries.wire import Dictionary, WireArray, WireAxis
from netsharp_engine.cntk.stored.values import V2, StoredBlock, StoredModel, StoredNode

_INPUT, _OUTPUT, _PARAMETER, _CONSTANT, _PLACEHOLDER = range(5)
_HELD = "LearnableParameter"
_MARK = "_Output_"
#: Blocks that are one node of the first format, which evaluation knows as such.
_WHOLE = frozenset(("SquaredError", "CrossEntropyWithSoftmax", "ClassificationError"))
#: What precedes the name of a function that has no twin in the first format as it is used.
_FOREIGN = "v2:"
#: How far arguments of blocks in blocks may lead.
_DEEPEST = 1000


class _Inside(NamedTuple):
    """A block: the function whose outputs it has, and the arguments of its placeholders."""

    root: str
    arguments: Mapping[str, str]


def model_of(found: Dictionary, faults: Sequence[str] = ()) -> StoredModel:
    """Return the model of a dictionary; ModelFault where it cannot be used.

    ``faults``: what could not be read of the file; nodes that are missing because of it are then
    reported, too.
    """
    return _Opening(found, faults).model()


class _Opening:
    """A dictionary on its way to a model."""

    def __init__(self, found: Dictionary, faults: Sequence[str]) -> None:
        self._found, self._partial = found, bool(faults)
        self._faults = list(faults)
        self._warnings: list[str] = []
        self._functions = self._by_uid("primitive_functions")
        self._variables = self._by_uid("inputs")
        self._insides = self._all_insides()
        self._arguments = {
            key: value for one in self._insides.values() for key, value in one.arguments.items()
        }
        self._parents = self._all_parents()
        self._nodes: dict[str, StoredNode] = {}
        self._further: list[tuple[str, int]] = []

    def model(self) -> StoredModel:
        """Return the model."""
        blocks = self._blocks()
        self._numbers = {uid: at for at, uid in enumerate(blocks)}
        for uid, one in self._variables.items():
            self._variable(uid, one)
        for uid, one in self._functions.items():
            self._function(uid, one)
        for uid, at in self._further:
            node = self._nodes.get(uid)
            if node is None:
                continue
            name, attributes = f"{uid}{_MARK}{at}", {**node.attributes, "output": at}
            self._nodes[name] = node._replace(name=name, attributes=attributes, uid=name, label="")
        if self._partial:
            for uid, node in self._nodes.items():
                known = tuple(one for one in node.inputs if one in self._nodes)
                self._nodes[uid] = node._replace(inputs=known)
        rows = list(blocks.values())
        nodes, aliases = named(with_axes(list(self._nodes.values())), rows)
        roots = [aliases.get(one, one) for one in self._roots()]
        groups, outputs = grouped(nodes, roots)
        versions = {
            "dictionary": self._found.version,
            "composite": _whole(self._found.get("version"), 1),
            "primitive": max(
                (_whole(one.get("version"), 1) for one in self._functions.values()), default=0
            ),
        }
        return StoredModel(
            nodes,
            groups,
            "float64" if any(one.dtype == "float64" for one in nodes) else "float32",
            format=V2,
            version=versions["composite"],
            versions=versions,
            types=Counter(self._operation(one) for one in self._functions.values()),
            blocks=rows,
            outputs=() if self._faults else outputs,
            aliases=aliases,
            warnings=self._warnings,
            faults=self._faults,
            kept={"root": self._found.get("root"), "name": self._found.get("name")},
        )

    def _by_uid(self, key: str) -> dict[str, Dictionary]:
        rows = self._found.get(key, [])
        place = self._found.places.get(key, 0)
        if not isinstance(rows, list):
            raise _fault(place, f"'{key}' is not a list")
        known: dict[str, Dictionary] = {}
        for one in rows:
            uid = one.get("uid") if isinstance(one, Dictionary) else None
            if not isinstance(uid, str):
                self._missing(place, f"an entry of '{key}' has no uid")
            elif uid in known:
                raise _fault(one.start, f"two entries of '{key}' are called '{uid[:200]}'")
            else:
                known[uid] = one
        return known

    def _missing(self, at: int, words: str) -> None:
        """Refuse a model with missing parts, unless parts of the file were not read."""
        if not self._partial:
            raise _fault(at, words)
        self._faults.append(str(_fault(at, words)))

    def _operation(self, one: Dictionary) -> str:
        number = one.get("op")
        if isinstance(number, int) and 0 <= number < len(OPERATIONS):
            return OPERATIONS[number]
        return "UserDefinedFunction" if number is None else f"function {number}"

    def _all_insides(self) -> dict[str, _Inside]:
        found: dict[str, _Inside] = {}
        for uid, one in self._functions.items():
            if self._operation(one) != BLOCK:
                continue
            inside = one.get("block_function_composite")
            root = inside.get("root") if isinstance(inside, dict) else None
            keys = _texts(one.get("block_function_composite_arguments_map_keys"))
            values = _texts(one.get("block_function_composite_arguments_map_values"))
            if not isinstance(root, str) or root not in self._functions or len(keys) != len(values):
                self._missing(one.start, f"the inside of block '{uid}' is not in the file")
            else:
                found[uid] = _Inside(root, dict(zip(keys, values, strict=True)))
        return found

    def _all_parents(self) -> dict[str, str]:
        """Return the innermost block around each function: of all that reach it up to their
        arguments, the one that reaches the fewest.
        """
        reached: dict[str, set[str]] = {}
        for uid, inside in self._insides.items():
            waiting, seen = [inside.root], reached.setdefault(uid, set())
            while waiting:
                here = waiting.pop()
                if here in seen or here not in self._functions or here == uid:
                    continue
                seen.add(here)
                if here in self._insides:
                    waiting.append(self._insides[here].root)
                waiting += [
                    source.rpartition(_MARK)[0]
                    for source in _texts(self._functions[here].get("inputs"))
                    if source not in inside.arguments
                ]
        parents: dict[str, str] = {}
        for uid in sorted(reached, key=lambda one: len(reached[one])):
            for here in reached[uid]:
                parents.setdefault(here, uid)
        return parents

    def _blocks(self) -> dict[str, StoredBlock]:
        """Return the blocks by their uids, each after the one around it."""
        found: dict[str, StoredBlock] = {}
        numbers: dict[str, int] = {}
        waiting = list(self._insides)[::-1]
        entered: set[str] = set()
        while waiting:
            uid = waiting[-1]
            parent = self._parents.get(uid)
            if parent is not None and parent not in numbers and parent not in entered:
                entered.add(parent)
                waiting.append(parent)
                continue
            waiting.pop()
            if uid not in numbers:
                one = self._functions[uid]
                kind = str(one.get("block_function_op_name") or BLOCK)
                numbers[uid] = len(numbers)
                around = None if parent is None else numbers.get(parent)
                found[uid] = StoredBlock(str(one.get("name") or ""), kind, around, uid)
        return found

    def _roots(self) -> list[str]:
        """Return the outputs of the whole model."""
        root = self._found.get("root")
        one = self._functions.get(root) if isinstance(root, str) else None
        if one is None:
            self._missing(self._found.places.get("root", 0), "its root is none of its functions")
            return []
        if self._operation(one) == COMBINE:
            return [self._source(source) for source in _texts(one.get("inputs"))]
        return [self._source(f"{root}{_MARK}0")]

    def _source(self, source: str) -> str:
        """Return the uid of the node whose value an input has: through arguments and
        combinations.
        """
        for _ in range(_DEEPEST):
            if source in self._arguments:
                source = self._arguments[source]
                continue
            uid, mark, number = source.rpartition(_MARK)
            one = self._functions.get(uid)
            if not mark or one is None:
                return source
            at = int(number) if number.isdecimal() and len(number) < 5 else 0
            inputs = _texts(one.get("inputs"))
            if self._operation(one) == COMBINE:
                if at >= len(inputs):
                    raise _fault(one.start, f"'{uid}' has no output {at}")
                source = inputs[at]
            elif at == 0:
                return uid
            elif uid in self._insides:
                source = f"{self._insides[uid].root}{_MARK}{at}"
            else:
                if (uid, at) not in self._further:
                    self._further.append((uid, at))
                return source
        raise ModelFault(f"byte 0: '{source[:200]}' stands for itself")

    def _variable(self, uid: str, one: Dictionary) -> None:
        kind = _whole(one.get("kind"), _INPUT)
        if kind == _OUTPUT or (kind == _PLACEHOLDER and self._is_alias(uid)):
            return
        dtype = "float64" if one.get("data_type") == 2 else "float32"
        node = StoredNode("", uid, (), dtype=dtype, label=str(one.get("name") or ""), uid=uid)
        if kind in (_PARAMETER, _CONSTANT):
            self._numbers_of(node, one, kind)
            return
        shape = one.get("shape")
        sizes = shape if isinstance(shape, tuple) else ()
        axes = one.get("dynamic_axis")
        listed = axes if isinstance(axes, list) else []
        names = [axis.name for axis in listed if isinstance(axis, WireAxis)]
        self._nodes[uid] = node._replace(
            operation="SparseInputValue" if one.get("is_sparse") else "InputValue",
            # What is left open is inferred, and is 0 until then.
            shape=tuple(0 if side >= 1 << 32 else int(side) for side in sizes) or (1,),
            attributes={"dynamicAxis": ""},
            function="Input" if kind == _INPUT else "Placeholder",
            kept={".axes": tuple(names)},
        )

    def _is_alias(self, uid: str) -> bool:
        """Return whether a placeholder is an argument of a block, or an output of a listed
        function.
        """
        return uid in self._arguments or uid.rpartition(_MARK)[0] in self._functions

    def _numbers_of(self, node: StoredNode, one: Dictionary, kind: int) -> None:
        value = one.get("value")
        if not isinstance(value, WireArray) or value.values is None:
            self._missing(one.start, f"'{node.uid}' has no numbers")
            return
        is_parameter = kind == _PARAMETER
        self._nodes[node.uid] = node._replace(
            operation=_HELD,
            shape=value.shape or (1,),
            attributes={"learningRateMultiplier": float(is_parameter)},
            values=value.values,
            dtype=value.dtype if value.dtype.startswith("float") else "float32",
            function="Parameter" if is_parameter else "Constant",
            at=value.at,
        )

    def _function(self, uid: str, one: Dictionary) -> None:
        name = self._operation(one)
        if name == COMBINE:
            return
        inputs = tuple(map(self._source, _texts(one.get("inputs"))))
        block = self._numbers.get(self._parents.get(uid, ""))
        label = str(one.get("name") or "")
        node = StoredNode(name, uid, (), inputs, label=label, uid=uid, block=block, function=name)
        if uid in self._insides:
            self._nodes[uid] = self._block(node, one)
            return
        unknown = next((source for source in inputs if not self._is_there(source)), None)
        if unknown is not None:
            self._missing(one.start, f"'{uid}' reads '{unknown[:200]}', which is not in the file")
            return
        written = one.get("attributes")
        given = written if isinstance(written, dict) else {}
        try:
            self._nodes[uid] = self._finished(self._in_first_words(node, given))
        except Unreadable as fault:
            self._warnings.append(f"'{uid}' ({name}) {fault}.")
            self._nodes[uid] = node._replace(operation=_FOREIGN + name)

    def _is_there(self, source: str) -> bool:
        return (
            source in self._nodes
            or source.rpartition(_MARK)[0] in self._functions
            or (source in self._functions)
        )

    def _in_first_words(self, node: StoredNode, given: Mapping[str, Any]) -> StoredNode:
        """Return a function in terms of the first format; Unreadable where it has none for it."""
        row, inputs = function_of(node.operation), node.inputs
        if node.operation not in OPERATIONS:
            raise Unreadable("is none that CNTK brings along")
        if row.order and max(row.order) >= len(inputs):
            raise Unreadable(f"has {len(inputs)} inputs, too few")
        shapes = [self._nodes[one].shape if one in self._nodes else () for one in inputs]
        try:
            operation, attributes = row.in_first_format(given, shapes)
        except (TypeError, ValueError):
            raise Unreadable("has attributes of another kind than it needs") from None
        turned = (*(inputs[at] for at in row.order), *inputs[len(row.order) :])
        return node._replace(operation=operation, inputs=turned, attributes=attributes)

    def _block(self, node: StoredNode, one: Dictionary) -> StoredNode:
        """Return a node that passes on a block's value, or the single node that the block
        represents.
        """
        kind, inside = one.get("block_function_op_name"), self._insides[node.uid]
        values = tuple(map(self._source, inside.arguments.values()))
        if isinstance(kind, str) and kind in _WHOLE and len(values) == 2:
            row = function_of(kind)
            turned = tuple(values[at] for at in row.order or (0, 1))
            return node._replace(operation=row.operation, inputs=turned)
        return node._replace(operation="Pass", inputs=(self._source(f"{inside.root}{_MARK}0"),))

    def _finished(self, node: StoredNode) -> StoredNode:
        """Return a node with numeric inputs turned into attributes of the first format."""
        if node.operation in ("PastValue", "FutureValue") and len(node.inputs) > 1:
            numbers = self._single(node.inputs[1])
            if numbers is not None:
                attributes = {**node.attributes, "defaultHiddenActivation": numbers}
                return node._replace(inputs=node.inputs[:1], attributes=attributes)
        if node.operation == "ReconcileDynamicAxis" and self._holds_numbers(node.inputs[0]):
            return node._replace(attributes={"repeated": True})
        if node.operation == "BatchNormalization":
            counted = self._single(node.inputs[5]) if len(node.inputs) > 5 else None
            return node._replace(inputs=node.inputs[:5], values=np.array([counted or 0.0]))
        return node

    def _holds_numbers(self, uid: str) -> bool:
        return uid in self._nodes and self._nodes[uid].operation == _HELD

    def _single(self, uid: str) -> float | None:
        """Return the value that all numbers of a variable have; None where they differ."""
        node = self._nodes.get(uid)
        if node is None or node.values is None or not node.values.size:
            return None
        flat = node.values.reshape(-1)
        return float(flat[0]) if bool((flat == flat[0]).all()) else None


def _fault(at: int, words: str) -> ModelFault:
    return ModelFault(f"byte {at:,}: {words}")


def _texts(found: Any) -> list[str]:
    return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []


def _whole(found: Any, otherwise: int) -> int:
    return found if isinstance(found, int) else otherwise
