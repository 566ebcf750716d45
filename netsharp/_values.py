"""The results about networks and experiments: plain values that are never changed."""

from __future__ import annotations

from typing import Any, NamedTuple

from netsharp_lsp.specification import Diagnostic


class Difference(NamedTuple):
    """One difference between two networks.

    Attributes
    ----------
    change : str
        "added", "removed", "changed" or "renamed".
    what : str
        "layer", "bundle", "node", "value", ...
    name : str
        What is different: a layer, `Source => Layer`, a node, the path of a value.
    aspect : str
        Of a change, what of it changed, such as "shape"; else empty.
    before, after : str
        How it reads on both sides; empty where there is nothing.

    Since
    -----
    0.1
    """

    change: str
    what: str
    name: str
    aspect: str
    before: str
    after: str


class Comparison(NamedTuple):
    """The differences of two networks.

    Attributes
    ----------
    same : bool
        Whether they are the same network: only names or spelling differ, if anything.
    differences : tuple of Difference
        In the order of the texts.
    parameters, multiply_adds : tuple of (int or None, int or None)
        The figures before and after; None where one is unknown.

    Since
    -----
    0.1
    """

    same: bool
    differences: tuple[Difference, ...]
    parameters: tuple[int | None, int | None]
    multiply_adds: tuple[int | None, int | None]


class Migration(NamedTuple):
    """The migration of a configuration's NDL networks; nothing is written.

    Attributes
    ----------
    complete : bool
        Whether all of it is proven to be equal and nothing is left to a person.
    files : dict of str to bytes
        What `netsharp migrate --write` would write: new contents by absolute path.
    report : dict
        The JSON of `netsharp migrate --format json`: "networks", "changes", "renames", "todo".

    Since
    -----
    0.1
    """

    complete: bool
    files: dict[str, bytes]
    report: dict[str, Any]


class Node(NamedTuple):
    """A node of a network of CNTK.

    Attributes
    ----------
    name, operation : str
        What it is called, and its type.
    inputs : tuple of str
        The names of the nodes that it reads, in order.
    shape : tuple of int, or None
        Its extents in CNTK's order, without the sequence; None where they are unknown.
    axis : str or None
        "*" for a value in each time step, the name of another axis, None for none.
    groups : tuple of str
        "feature", "label", "criterion", "evaluation", "output".
    parameters : int
        Its elements if it is a learnable parameter, else 0.
    trainable : bool
        Whether training changes them.
    attributes : tuple of (str, value)
        What else is in force for its type; `dict(node.attributes)` finds one.
    loop : int or None
        The number of the recurrent loop that it is in.
    file : str or None
        The file that it is written in; None for a text for itself.
    line, column : int
        Where it begins there, from 1.

    Since
    -----
    0.1
    """

    name: str
    operation: str
    inputs: tuple[str, ...]
    shape: tuple[int, ...] | None
    axis: str | None
    groups: tuple[str, ...]
    parameters: int
    trainable: bool
    attributes: tuple[tuple[str, Any], ...]
    loop: int | None
    file: str | None
    line: int
    column: int


class Network(NamedTuple):
    """A network that a command of an experiment builds.

    Attributes
    ----------
    command : str
        The command; empty for that of a file alone.
    nodes : tuple of Node
        In the order of their creation.
    parameters, multiply_adds, memory_bytes : int or None
        As of `netsharp describe`; None where something is unknown.
    loops : tuple of tuples of str
        The names of the nodes of each recurrent loop.

    Since
    -----
    0.1
    """

    command: str
    nodes: tuple[Node, ...]
    parameters: int | None
    multiply_adds: int | None
    memory_bytes: int | None
    loops: tuple[tuple[str, ...], ...]

    def node(self, name: str) -> Node:
        """Return the node of a name; KeyError where there is none."""
        for node in self.nodes:
            if node.name == name:
                return node
        raise KeyError(name)


class Command(NamedTuple):
    """A command of an experiment.

    Attributes
    ----------
    name : str
        The block that it is.
    actions : tuple of str
        What it does, in order: "train", "test", ...
    network : Network or None
        What it builds; None where it builds none, or where errors leave none.

    Since
    -----
    0.1
    """

    name: str
    actions: tuple[str, ...]
    network: Network | None


class Value(NamedTuple):
    """A value of a configuration, as CNTK has it.

    Attributes
    ----------
    path : str
        Its path, such as "Train.SGD.maxEpochs".
    kind : str
        "text", "string", "block" or "flag".
    raw : str
        As it is written.
    value : str or None
        With variables substituted; None where one has no value.
    elements : tuple of str, or None
        The value read as an array; None for blocks and flags.
    file : str or None
        The file that it comes from, `<command line>` for an assignment; None for a text for itself.
    line, column : int
        Where it begins there, from 1.

    Since
    -----
    0.1
    """

    path: str
    kind: str
    raw: str
    value: str | None
    elements: tuple[str, ...] | None
    file: str | None
    line: int
    column: int


class Experiment(NamedTuple):
    """A run of CNTK: the files that it reads, its commands with their networks, what it says.

    Attributes
    ----------
    files : tuple of str
        The files that the configuration and what it names consist of, as far as they are there.
    commands : tuple of Command
        In the order in which the program runs them; then those that it does not run and that
        build a network.
    values : tuple of Value
        The values of the configuration in the order of the files; none of a single `.bs`, `.ndl`
        or `.mel`.
    findings : tuple of Diagnostic
        What `netsharp check` says of it, of every file.
    networks : tuple of Network
        Those of the commands.

    Since
    -----
    0.1
    """

    files: tuple[str, ...]
    commands: tuple[Command, ...]
    values: tuple[Value, ...]
    findings: tuple[Diagnostic, ...]

    @property
    def networks(self) -> tuple[Network, ...]:
        """The networks that the commands build."""
        return tuple(one.network for one in self.commands if one.network is not None)

    def value(self, path: str) -> str | None:
        """Return the value at a path, without regard to case; KeyError where there is none."""
        for one in self.values:
            if one.path.lower() == path.lower():
                return one.value
        raise KeyError(path)


class CommandResult(NamedTuple):
    """The result of a command that was run.

    Attributes
    ----------
    command : str
        Its name.
    loss : float or None
        The last value of the criterion: of the last epoch, or of the test; None without any.
    criterion : str or None
        The node that it is of.
    metrics : dict of str to float
        The nodes that evaluate, by their names; errors are fractions.
    samples : int
        Those that were trained in all epochs, or that were tested.
    history : tuple of dict
        What the run log said of each epoch and test: "epoch", "loss", "evaluation", "rate", ...
    notices : tuple of str
        What a person should know, such as after which epoch a training continues.

    Since
    -----
    0.1
    """

    command: str
    loss: float | None
    criterion: str | None
    metrics: dict[str, float]
    samples: int
    history: tuple[dict[str, Any], ...]
    notices: tuple[str, ...]


for _one in (
    *(Command, CommandResult, Comparison, Difference, Experiment, Migration, Network, Node, Value),
):
    # Pickles name them as people import them.
    _one.__module__ = "netsharp"
