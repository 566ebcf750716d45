"""The text of a module while it grows: layers, numbers, and the statements that compute with them.

It knows PyTorch's names and arrays, and must not know our operations.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from netsharp_engine.exporting.torch.naming import (
    MODULE_ATTRIBUTES,
    Identifiers,
    section_of,
    shown,
)
from netsharp_engine.exporting.torch.source import Expression, ProgramLine, call, flat, numbers
from netsharp_engine.exporting.values import Array, ExportedValue

_WORDS = re.compile(r"\w+")


class TorchLayer(NamedTuple):
    """A layer or a tensor of the module: how it is made, and its name in the network."""

    attribute: str
    made: Expression
    origin: str


class TorchWriting:
    """One module that grows.

    ``state`` are its numbers by the names of PyTorch, ``layers`` what ``__init__`` makes, and
    ``body`` what ``forward`` does.
    """

    def __init__(self, floats: str, parameters: Mapping[str, Array]) -> None:
        self.floats, self._parameters = floats, parameters
        self.layers: list[TorchLayer] = []
        self.state: dict[str, Array] = {}
        self.body: list[ProgramLine] = []
        self.names = Identifiers()
        self._attributes = Identifiers(MODULE_ATTRIBUTES)
        self._known: dict[object, str] = {}
        self._hint = "value"
        self._depth, self._loop = 2, ""
        #: Identifiers that are given a value once, by what changes nothing else.
        self._lets: set[str] = set()

    def parameter(self, name: str) -> Array:
        """Return the numbers of a parameter, in its shape."""
        return np.asarray(self._parameters[name])

    def begin(self, name: str) -> None:
        """Name what follows after the node that it is made of."""
        self._hint = name

    def let(self, expression: Expression, name: str = "") -> str:
        """Give the value of an expression a name, and return that."""
        if isinstance(expression, str) and expression.isidentifier():
            return expression
        made = self.names.fresh(name or self._hint)
        # The result of a module has no known type.
        kind = ": Tensor" if flat(expression).startswith("self.") else ""
        self._lets.add(made)
        self.add_statement(f"{made}{kind} = ", expression)
        return made

    def add_statement(self, before: str, expression: Expression = "", after: str = "") -> None:
        """Add a statement."""
        section = self._loop or shown(section_of(self._hint))
        self.body.append(ProgramLine(self._depth, before, expression, after, section))

    @contextmanager
    def section(self, text: str) -> Iterator[None]:
        """Write statements that belong together below a comment."""
        self._loop = shown(text)
        yield
        self._loop = ""

    def prune(self, wanted: Sequence[str]) -> None:
        """Leave out statements that no wanted value depends on, and the layers that then are
        unused.
        """
        used, kept = set(wanted), []
        for one in reversed(self.body):
            name = one.before.removesuffix(" = ").removesuffix(": Tensor")
            if name in self._lets and name not in used:
                continue
            kept.append(one)
            used.update(
                _WORDS.findall(
                    f"{one.before if name not in self._lets else ''} {flat(one.expression)}"
                )
            )
        self.body = kept[::-1]
        self.layers = [one for one in self.layers if one.attribute in used]
        left = {one.attribute for one in self.layers}
        self.state = {n: v for n, v in self.state.items() if n.partition(".")[0] in left}

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Write the body of a loop."""
        self._depth += 1
        yield
        self._depth -= 1

    def read(self, value: ExportedValue) -> str:
        """Return the expression of a value: a local name, or a tensor of the module."""
        if value.constant is None:
            return value.name
        return self.tensor(value.constant, value.name)

    def tensor(self, numbers_of: Any, origin: str = "", *, whole: bool = False) -> str:
        """Return a tensor of the module with these numbers, which nothing trains."""
        kind = np.dtype(np.int64 if whole else self.floats)
        values = np.array(numbers_of, kind, order="C")
        key = (origin, kind.str, values.shape, values.tobytes())
        if key not in self._known:
            attribute = self._attributes.fresh(origin or self._hint)
            words = {"dtype": "torch.int64"} if whole else {}
            empty = call("torch.empty", numbers(values.shape), **words)
            made = call("nn.Parameter", empty, requires_grad="False")
            self.layers.append(TorchLayer(attribute, made, origin or self._hint))
            self.state[attribute] = values
            self._known[key] = f"self.{attribute}"
        return self._known[key]

    def layer(
        self, key: tuple[object, ...], origin: str, made: Expression, state: Mapping[str, Array]
    ) -> str:
        """Return a layer of the module; one of the same key is taken again. ``state`` has the
        arrays of its parameters, of any shape.
        """
        if key not in self._known:
            attribute = self._attributes.fresh(origin or self._hint)
            self.layers.append(TorchLayer(attribute, made, origin or self._hint))
            for name, values in state.items():
                kept = np.asarray(values)
                kind = kept.dtype if kept.dtype == np.int64 else np.dtype(self.floats)
                self.state[f"{attribute}.{name}"] = np.array(kept, kind, order="C")
            self._known[key] = f"self.{attribute}"
        return self._known[key]

    def shaped(self, name: str, before: Sequence[int], after: Sequence[int]) -> str:
        """Return an expression of samples of another shape; leading axes stay."""
        if tuple(before) == tuple(after):
            return name
        flattened = f"{name}.flatten(-{len(before)})" if len(before) > 1 else name
        if len(after) == 1:
            return flattened
        return f"torch.unflatten({flattened}, -1, {flat(numbers(after))})"

    def flattened(self, value: ExportedValue) -> str:
        """Return an expression of a value with one axis after the leading ones."""
        name = self.read(value)
        return f"{name}.flatten(-{len(value.shape)})" if len(value.shape) > 1 else name

    def aligned(self, sources: Sequence[ExportedValue]) -> list[str]:
        """Return expressions that PyTorch broadcasts as the operations do: shapes of samples from
        the right, leading axes among themselves.
        """
        rank = max(len(one.shape) for one in sources)
        found = []
        for one in sources:
            name, lacking = self.read(one), rank - len(one.shape)
            if lacking and one.lead:
                name += f"[{', '.join([':'] * one.lead + ['None'] * lacking)}]"
            found.append(name)
        return found
