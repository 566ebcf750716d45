"""The MEL function that initializes parameters from files: what is known of both.

Reads no files: their sizes come from the evaluation's `measure`.
"""

from __future__ import annotations

from netsharp_lsp.cntk.mel import effects
from netsharp_lsp.cntk.mel.editing import nodes_meant
from netsharp_lsp.cntk.mel.faults import EditFault
from netsharp_lsp.cntk.mel.reading import unquoted, word
from netsharp_lsp.cntk.mel.surroundings import Revised
from netsharp_lsp.cntk.networks.node import PARAMETER, Node
from netsharp_lsp.cntk.networks.starting import measure_start

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    from netsharp_lsp.cntk.mel.editing import Going, Nodes
    from netsharp_lsp.cntk.mel.functions import Function
    from netsharp_lsp.cntk.mel.reading import Statement
    from netsharp_lsp.cntk.networks.node import Shape
    from netsharp_lsp.cntk.networks.starting import Measure

    class Revising(Going, Protocol):
        """An evaluation in progress, and the parameters initialized from files."""

        revised: list[Revised]

        @property
        def measure(self) -> Measure:
            """Return a function that measures files of numbers."""


def revise(going: Revising, statement: Statement, function: Function) -> None:
    """Initialize parameters from a file (`ReviseParameter`)."""
    nodes = nodes_meant(going, statement.arguments[0])
    if nodes is None:
        return
    path = word(unquoted(statement.arguments[1]))
    skipped = _skipped(nodes)
    if skipped:
        going.faults.append(
            EditFault("no-effect", f"{skipped[0]}: CNTK skips it.", statement.arguments[0])
        )
    flaw = _flaw(going, nodes, path)
    if flaw:
        message = f"{flaw.rstrip('.')}; the edit stops here."
        going.faults.append(EditFault("numbers", message, statement.arguments[1]))
    going.change = nodes.model.changed = statement.text
    if "$" in path:
        why = f"The name of the file '{path}' has a variable without a value."
        going.revised.append(Revised((), why, statement.text))
        return
    found = effects.revise(nodes.model, nodes.names, path, going.measure, statement.text)
    is_idle = nodes.names is not None and len(skipped) == len(nodes.names)
    why = f"{skipped[0]}: no parameter uses the numbers of '{path}'." if is_idle else ""
    going.revised.append(Revised(found, why, statement.text))


def _skipped(nodes: Nodes) -> list[str]:
    """Return clauses on the nodes that are not parameters."""
    operations = [(name, nodes.model.operation(name)) for name in nodes.names or ()]
    return [
        f"'{name}' is {operation}, not a parameter"
        for name, operation in operations
        if operation not in ("", PARAMETER)
    ]


def _flaw(going: Revising, nodes: Nodes, path: str) -> str:
    """Return which parameter does not fit the numbers of a file and why; empty if all fit."""
    names = () if "$" in path else nodes.names or ()
    for name in names:
        if nodes.model.operation(name) in ("", PARAMETER):
            flaw = _misfit(going.measure, nodes.model.network.shape_of(name), path)
            if flaw:
                return f"'{name}': {flaw}"
    return ""


def _misfit(measure: Measure, shape: Shape, path: str) -> str:
    """Return why a parameter of a shape does not fit the numbers of a file, as far as both are
    known.
    """
    parameter = Node(PARAMETER, 0)
    parameter.shape = shape
    parameter.attributes["initFromFilePath"] = path
    measure_start(parameter, measure)
    return parameter.flaw


HANDLERS: dict[str, Callable[[Revising, Statement, Function], None]] = {"ReviseParameter": revise}
