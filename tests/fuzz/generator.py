"""Makes random valid networks, and counts their parameters by the guide's words alone.

Shares no code with the checker: every figure here is computed a second time.
"""

from __future__ import annotations

import itertools
import math
import random
from typing import NamedTuple

ACTIVATIONS = (
    *("sigmoid", "linear", "softmax", "rlinear", "square"),
    *("sqrt", "srlinear", "abs", "tanh", "brlinear"),
)
NAMES = (
    "A",
    "Conv",
    "Hidden",
    "H_1",
    "Max",
    "pool2",
    "_x",
    "Share",
    "From",
    "Layer",
    "Data",
    "Kernel",
)
#: No layer is larger: what takes long says nothing more.
MOST_NODES = 150
#: By rank: a size that keeps layers small.
LARGEST = {1: 40, 2: 10, 3: 5, 4: 3}
Shape = tuple[int, ...]


class Program(NamedTuple):
    """A specification without errors, how many parameters it has, and of how many features."""

    text: str
    parameters: int
    features: int


class Built(NamedTuple):
    """A layer that later ones may read."""

    name: str
    shape: Shape
    nodes: int


class Dimension(NamedTuple):
    """A kernel along one dimension, with the figures the guide gives it."""

    size: int
    kernel: int
    stride: int
    padding: bool
    lower: int
    upper: int

    @property
    def nodes(self) -> int:
        if self.padding:
            return (self.size - 1) // self.stride + 1
        return (self.size + self.lower + self.upper - self.kernel) // self.stride + 1


class Connection(NamedTuple):
    """What follows a source's name, the nodes it gives (None: any), and its parameters."""

    text: str
    shape: Shape | None
    parameters: int
    biased: bool


def valid(chance: random.Random) -> Program:
    """Draw a network: inputs, hidden layers of every kind, an output, shares, constants."""
    return Writer(chance).program()


class Writer:
    """Writes one program; constants turn up as values need them."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.constants: dict[str, int] = {}
        self.tuples: dict[str, str] = {}
        self.layers: list[Built] = []
        self.items: list[str] = []
        self.parameters = 0
        self.count = 0

    # The whole.

    def program(self) -> Program:
        inputs = self._inputs()
        for _ in range(self.chance.randint(0, 3)):
            self._hidden()
        if self.chance.random() < 0.3:
            self._twins()
        self._output()
        self.chance.shuffle(self.items)
        items = [*self._constant_items(), *self.items]
        if self.chance.random() < 0.3:
            items = items[::-1]
        text = self.chance.choice(("\n", "\n\n", " ", "\r\n", "\n// a comment\n")).join(
            [*inputs, *items]
        )
        features = sum(layer.nodes for layer in self.layers[: self.input_count])
        return Program(text, self.parameters, features)

    def _constant_items(self) -> list[str]:
        values = [f"{name} = {value};" for name, value in self.constants.items()]
        values += [f"{name} = {value};" for name, value in self.tuples.items()]
        if not values:
            return []
        if self.chance.random() < 0.5:
            return [f"const {{ {' '.join(values)} }}"]
        return [f"const {value}" for value in values]

    # Names and numbers.

    def name(self) -> str:
        self.count += 1
        return f"{self.chance.choice(NAMES)}{self.count}"

    def number(self, value: int) -> str:
        """A whole number: itself, a constant, or a sum over one."""
        how = self.chance.random()
        if how < 0.75 or value < 0:
            return str(value)
        if self.constants and how < 0.9:
            name, known = self.chance.choice(sorted(self.constants.items()))
            if known == value:
                return name
            return f"{name} + {value - known}" if known < value else f"{name} - {known - value}"
        name = self.name()
        self.constants[name] = value
        return name

    def shape_text(self, shape: Shape) -> str:
        return f"[{', '.join(self.number(size) for size in shape)}]"

    def spread(self, values: list[int] | list[bool]) -> str:
        """A tuple of numbers or truth values, or a single truth value where all agree."""
        if isinstance(values[0], bool):
            words = ["true" if value else "false" for value in values]
            if len(set(words)) == 1 and self.chance.random() < 0.5:
                return words[0]
            return f"[{', '.join(words)}]"
        return self.shape_text(tuple(values))

    def shape(self) -> Shape:
        rank = self.chance.choice((1, 1, 2, 2, 3, 4))
        return tuple(self.chance.randint(1, LARGEST[rank]) for _ in range(rank))

    def activation(self) -> str:
        return f" {self.chance.choice(ACTIVATIONS)}" if self.chance.random() < 0.8 else ""

    # Layers.

    def _inputs(self) -> list[str]:
        items = []
        self.input_count = self.chance.choice((1, 1, 1, 2, 3))
        for _ in range(self.input_count):
            name, shape = self.name(), self.shape()
            self.layers.append(Built(name, shape, math.prod(shape)))
            items.append(f"{name} {self.shape_text(shape)};")
        if self.chance.random() < 0.3:
            return [f"input {{ {' '.join(items)} }}"]
        return [f"input {item}" for item in items]

    def _hidden(self) -> None:
        source = self.chance.choice(self.layers)
        connection = self.connection(source)
        shape = connection.shape or self.shape()
        self._layer("hidden", shape, [(source, connection)])

    def _output(self) -> None:
        source = self.layers[-1]
        shape = (self.chance.randint(1, 9),)
        kind = "sigmoid" if shape == (1,) else self.chance.choice(("softmax", "sigmoid", "linear"))
        connection = self.full(source, shape)
        self._layer("output", shape, [(source, connection)], f" {kind}")

    def _layer(
        self,
        kind: str,
        shape: Shape,
        sources: list[tuple[Built, Connection]],
        activation: str | None = None,
    ) -> Built:
        nodes = math.prod(shape)
        if kind == "hidden" and self.chance.random() < 0.2:
            other = self.chance.choice(self.layers)
            sources = [*sources, (other, self.full(other, shape))]
        built = Built(self.name(), shape, nodes)
        bundles = [f"from {source.name} {found.text}" for source, found in sources]
        biased = any(found.biased for _source, found in sources)
        self.parameters += sum(found.parameters for _source, found in sources)
        self.parameters += nodes if biased else 0
        given = ""
        if biased and self.chance.random() < 0.15:
            given = f" Biases = {self.values(nodes)};"
        body = bundles[0]
        if len(bundles) > 1 or given or self.chance.random() < 0.15:
            body = f"{{ {' '.join(bundles)}{given} }}"
        chosen = self.activation() if activation is None else activation
        self.items.append(f"{kind} {built.name} {self.shape_text(shape)}{chosen} {body}")
        self.layers.append(built)
        return built

    def _twins(self) -> None:
        """Two layers of equal structure over one source that share what they learn."""
        source = self.chance.choice(self.layers)
        shape = self.shape()
        connection = Connection("all;", None, source.nodes * math.prod(shape), True)
        first, second = (self._plain(shape, source, connection) for _ in range(2))
        how = self.chance.randrange(3)
        if how == 0:
            self.items.append(f"share {{ {first.name}, {second.name} }}")
            self.parameters -= connection.parameters + first.nodes
        elif how == 1:
            pairs = ", ".join(f"{source.name} => {layer.name}" for layer in (first, second))
            self.items.append(f"share {{ {pairs} }}")
            self.parameters -= connection.parameters
        else:
            self.items.append(f"share {{ 1 => {first.name}, 1 => {second.name} }}")
            self.parameters -= first.nodes

    def _plain(self, shape: Shape, source: Built, connection: Connection) -> Built:
        built = Built(self.name(), shape, math.prod(shape))
        self.items.append(
            f"hidden {built.name} {self.shape_text(shape)} tanh "
            f"from {source.name} {connection.text}"
        )
        self.parameters += connection.parameters + built.nodes
        self.layers.append(built)
        return built

    # Connections.

    def connection(self, source: Built) -> Connection:
        kind = self.chance.choice(("all", "where", "convolve", "convolve", "pool", "norm"))
        if kind == "all":
            return self.full(source, self.shape())
        if kind == "where":
            return self.filtered(source, self.shape())
        return self.kernel(source, kind)

    def full(self, source: Built, shape: Shape) -> Connection:
        parameters = source.nodes * math.prod(shape)
        text = "all;"
        if parameters <= 60 and self.chance.random() < 0.2:
            text = f"all {{ Weights = {self.values(parameters)}; }}"
        return Connection(text, shape, parameters, True)

    def values(self, count: int) -> str:
        """`count` numbers in a tuple, or a constant that holds them."""
        literals = ("0.5", "-0.5", "1e-3", ".25", "-.25", "2", "-2", "1.")
        numbers = self.chance.choices(literals, k=count)
        text = f"[{', '.join(numbers)}]"
        if self.chance.random() < 0.5:
            return text
        name = self.name()
        self.tuples[name] = text
        return name

    def filtered(self, source: Built, shape: Shape) -> Connection:
        condition = self.condition(source.shape, shape)
        edges = count_edges(condition, source.shape, shape)
        if not edges:
            condition, edges = "true", source.nodes * math.prod(shape)
        end = ";"
        if edges <= 60 and self.chance.random() < 0.3:
            end = f" {{ Weights = {self.values(edges)}; }}"
        return Connection(f"where (s, d) => {condition}{end}", shape, edges, True)

    def condition(self, source: Shape, destination: Shape) -> str:
        i, j = self.chance.randrange(len(source)), self.chance.randrange(len(destination))
        k, m = self.chance.randint(0, 4), self.chance.randint(1, 3)
        one = self.chance.choice(
            (
                f"s[{i}] == d[{j}]",
                f"s[{i}] <= d[{j}] + {k}",
                f"abs(s[{i}] - d[{j}]) <= {k}",
                f"s[{i}] % {m} == d[{j}] % {m}",
                f"(s[{i}] + d[{j}]) % 2 == 0",
                f"s[{i}] * {m} > d[{j}]",
                f"s[{i}] >= {k}",
                f"max(s[{i}], d[{j}]) < {k + m}",
                f"!(s[{i}] == {k})",
                f"d[{j}] ^ 2 >= s[{i}] - {k}",
            )
        )
        if self.chance.random() < 0.4:
            other = self.condition(source, destination)
            return f"({one}) {self.chance.choice(('&&', '||'))} ({other})"
        return one

    def kernel(self, source: Built, kind: str) -> Connection:
        shape = self.input_shape(source)
        norm = kind == "norm"
        way = self.chance.choice(("none", "padding", "pads"))
        axes = [self.dimension(size, 3 if norm else 7, way) for size in shape]
        attributes = [
            f"InputShape = {self.shape_text(shape)};",
            f"KernelShape = {self.spread([axis.kernel for axis in axes])};",
        ]
        if any(axis.stride > 1 for axis in axes):
            attributes.append(f"Stride = {self.spread([axis.stride for axis in axes])};")
        if any(axis.padding for axis in axes):
            attributes.append(f"Padding = {self.spread([axis.padding for axis in axes])};")
        elif any(axis.lower or axis.upper for axis in axes):
            attributes.append(f"LowerPad = {self.spread([axis.lower for axis in axes])};")
            attributes.append(f"UpperPad = {self.spread([axis.upper for axis in axes])};")
        output = tuple(axis.nodes for axis in axes)
        if kind == "convolve":
            return self.convolution(axes, attributes, output)
        if norm:
            attributes += ["Alpha = 0.001;", "Beta = 0.75;"]
            word = "response norm"
        else:
            word = self.chance.choice(("max pool", "mean pool"))
        return Connection(f"{word} {self.block(attributes)}", output, 0, False)

    def convolution(
        self, axes: list[Dimension], attributes: list[str], output: Shape
    ) -> Connection:
        maps = [1] * len(axes)
        if self.chance.random() < 0.7:
            maps[0] = self.chance.randint(1, 4)
            if self.chance.random() < 0.3:
                maps[-1] = self.chance.randint(1, 2)
        if any(count > 1 for count in maps[1:]):
            attributes.append(f"MapCount = {self.shape_text(tuple(maps))};")
        elif maps[0] > 1:
            attributes.append(f"MapCount = {self.number(maps[0])};")
        sharing = [self.chance.random() < 0.7 for _ in axes]
        if not all(sharing):
            attributes.append(f"Sharing = {self.spread(sharing)};")
        kernels = math.prod(maps)
        for shared, nodes in zip(sharing, output, strict=True):
            kernels *= 1 if shared else nodes
        weights = math.prod(axis.kernel for axis in axes) + 1
        if kernels * weights <= 60 and self.chance.random() < 0.2:
            attributes.append(f"Weights = {self.values(kernels * weights)};")
        shape = tuple(count * nodes for count, nodes in zip(maps, output, strict=True))
        if self.chance.random() < 0.1:
            shape = (math.prod(shape),)
        return Connection(f"convolve {self.block(attributes)}", shape, kernels * weights, False)

    def block(self, attributes: list[str]) -> str:
        self.chance.shuffle(attributes)
        return f"{{ {' '.join(attributes)} }}"

    def input_shape(self, source: Built) -> Shape:
        """The source's shape, or now and then all of it in a row."""
        if self.chance.random() < 0.1:
            return (source.nodes,)
        return source.shape

    def dimension(self, size: int, longest: int, way: str) -> Dimension:
        """A kernel along one dimension; `Padding` and pads exclude each other in one bundle."""
        kernel = self.chance.randint(1, min(size, longest))
        stride = self.chance.randint(1, kernel)
        lower, upper = 0, 0
        if way == "pads":
            lower, upper = self.chance.choice(filling_pads(size, kernel, stride))
        padding = way == "padding" and self.chance.random() < 0.6
        return Dimension(size, kernel, stride, padding, lower, upper)


def filling_pads(size: int, kernel: int, stride: int) -> list[tuple[int, int]]:
    """Pads below half a kernel with which the kernels fill the padded input exactly."""
    found = [(0, 0)]
    for lower in range((kernel + 1) // 2):
        for upper in range(kernel // 2 + 1):
            fits = (size + lower + upper - kernel) % stride == 0
            if fits and 2 * lower < kernel and 2 * upper <= kernel:
                found.append((lower, upper))
    return found


def count_edges(condition: str, source: Shape, destination: Shape) -> int:
    """Try every pair of nodes, with Python's own reading of the condition."""
    python = condition.replace("&&", "and").replace("||", "or").replace("^", "**")
    python = python.replace("!(", "not (")
    holds = eval(f"lambda s, d: {python}")
    return sum(
        bool(holds(s, d))
        for s in itertools.product(*map(range, source))
        for d in itertools.product(*map(range, destination))
    )
