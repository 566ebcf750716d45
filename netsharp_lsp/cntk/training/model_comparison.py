"""What differs between two models of CNTK, or a model and the network of a configuration.

Nodes are compared as in two runs, numbers by the norm of what changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from netsharp_engine.cntk.stored.norms import change_of
from netsharp_engine.model_file import ModelError
from netsharp_lsp.cntk.description.comparison import node_differences
from netsharp_lsp.cntk.networks.description import described
from netsharp_lsp.cntk.networks.node import PARAMETER, Network
from netsharp_lsp.cntk.networks.stored import network_in
from netsharp_lsp.cntk.training.stored_models import stored_model
from netsharp_lsp.description.comparison import Comparison, Difference

if TYPE_CHECKING:
    from collections.abc import Mapping

    from netsharp_engine.cntk.generators import Array

_FIGURES = ("parameters", "multiply_adds")


class Compared(NamedTuple):
    """A network, and the numbers of its nodes by their names, none where they are not known."""

    network: Network
    numbers: Mapping[str, Array]

    @classmethod
    def of_model(cls, path: str) -> Compared:
        """That of a model; ModelError where it cannot be used."""
        stored = stored_model(path)
        if stored is None:
            raise ModelError(f"{path} is no model file.")
        return cls(network_in(stored, path), stored.numbers())


def compared_models(before: Compared, after: Compared) -> Comparison:
    """Compare networks, and where both have numbers these, by the norm of what changed."""
    found, partners = node_differences(before.network, after.network)
    differences = [one for one in found if not _is_of_beginnings(one, after)]
    equal = all(one.change == "renamed" for one in differences)
    for left, right in partners.items():
        old, new = before.numbers.get(left), after.numbers.get(right)
        if old is None or new is None or old.size != new.size:
            continue
        change = change_of(old, new)
        if change is not None:
            equal = False
            differences.append(
                Difference("changed", "parameter", right, "norm", change.before, change.after)
            )
    old_figures, new_figures = (described(one.network, "float") for one in (before, after))
    figures = {key: (old_figures[key], new_figures[key]) for key in _FIGURES}
    return Comparison(equal, differences, figures)


def _is_of_beginnings(one: Difference, after: Compared) -> bool:
    """Whether a difference is about how a parameter begins, which no model says."""
    node = after.network.nodes.get(one.name)
    if one.change != "changed" or node is None or node.operation != PARAMETER:
        return False
    if one.aspect == "shape":
        return "not given" in (one.before, one.after)
    return one.aspect.startswith("init") or one.aspect == "randomSeed"
