"""An NDL network from its builder block or from a file: the outcome of evaluating its scripts.
Knows no single function.
"""

from __future__ import annotations

from netsharp_lsp.cntk.ndl.containers import program_of_builder, program_of_file
from netsharp_lsp.cntk.ndl.evaluation import evaluate
from netsharp_lsp.cntk.networks.faults import Outcome
from netsharp_lsp.cntk.networks.starting import not_measured

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.configuration.scope import Found, Scope
    from netsharp_lsp.cntk.configuration.sources import Source
    from netsharp_lsp.cntk.ndl.containers import Files, Program
    from netsharp_lsp.cntk.networks.starting import Measure


def evaluate_builder(found: Found, command_scope: Scope, files: Files) -> Outcome:
    """Return the network of an NDLNetworkBuilder block that a command finds."""
    return evaluate_program(program_of_builder(found, command_scope, files))


def evaluate_file(source: Source) -> Outcome:
    """Return the network of an `.ndl` file alone; values of its variables are unknown."""
    return evaluate_program(program_of_file(source))


def evaluate_program(
    program: Program, measure: Measure = not_measured, *, later: bool = False
) -> Outcome:
    """Return the network of the scripts; `measure` returns the size of files of numbers, `later`: a
    release from 2.0 builds it.
    """
    outcome = evaluate(program.parts, measure, later=later)
    known = {(fault.kind, fault.place): fault for fault in (*program.faults, *outcome.faults)}
    network = outcome.network
    if network is not None and not network.nodes:
        network = None
    return Outcome(network, tuple(known.values()))
