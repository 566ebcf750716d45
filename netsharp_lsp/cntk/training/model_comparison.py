"""Comparison of two models of CNTK, or of a model and the network of a configuration.

Nodes are compared as in two runs, numbers by the norm of the change; those of a configuration are
what training begins with.
"""

from __future__ import annotations

import os
import re
from math import isfinite
from typing import TYPE_CHECKING, NamedTuple

from netsharp_engine.cntk.starts import started
from netsharp_engine.cntk.stored.norms import NormChange, change_of
from netsharp_engine.data import DataError
from netsharp_engine.model_file import ModelError
from netsharp_lsp.cntk.description.comparison import node_differences
from netsharp_lsp.cntk.networks.description import described
from netsharp_lsp.cntk.networks.node import PARAMETER, Network, elements
from netsharp_lsp.cntk.networks.stored import network_in
from netsharp_lsp.cntk.run.models import trains
from netsharp_lsp.cntk.training.networks.lowering import Seeds
from netsharp_lsp.cntk.training.refusals import Refused
from netsharp_lsp.cntk.training.stored_models import model_and_numbers
from netsharp_lsp.description.comparison import Comparison, Difference

if TYPE_CHECKING:
    from collections.abc import Mapping

    from netsharp_engine.cntk.generators import Array
    from netsharp_lsp.cntk.run.building import BuiltNetwork
    from netsharp_lsp.cntk.run.experiment import Experiment

#: The name of an epoch's model ends with the epoch.
_EPOCH = re.compile(r"\.[0-9]+$")
_FIGURES = ("parameters", "multiply_adds")


class Compared(NamedTuple):
    """A network, and the numbers of its nodes by name, none where they are not known.

    `began`: the numbers are those that training begins with, and are not part of its identity.
    """

    network: Network
    numbers: Mapping[str, Array]
    began: bool = False

    @classmethod
    def of_model(cls, path: str) -> Compared:
        """Return the network of a model file; raise ModelError where it cannot be used."""
        found = model_and_numbers(path)
        if found is None:
            raise ModelError(f"{path} is not a model file.")
        stored, numbers = found
        return cls(network_in(stored, path), numbers)

    @classmethod
    def of_text(cls, built: BuiltNetwork, experiment: Experiment, path: str) -> Compared:
        """Return the network of a command with the numbers that its training begins with, where
        they can be computed; else with those of the first epoch of a model at `path`.
        """
        assert built.network is not None
        found = _first_epoch(path, built.network)
        return cls(built.network, {**found, **_beginnings(built, built.network, experiment)}, True)


def _beginnings(built: BuiltNetwork, network: Network, experiment: Experiment) -> dict[str, Array]:
    """Return the numbers that a network begins with, by node; empty where one of them begins in a
    way that is not supported.
    """
    seeds = Seeds()
    for command in experiment.commands:
        if command.name.lower() == built.command.lower():
            break
        before = experiment.network_of(command.name) if command.listed and trains(command) else None
        if before is not None and before.network is not None:
            seeds.pass_over(before.network, before.language)
    try:
        starts = seeds.starts(network, built.language, experiment.files)
    except (Refused, DataError):
        return {}
    double = experiment.configuration.root.option(b"precision", "float").lower() == "double"
    shapes = {name: network.nodes[name].shape or () for name in starts}
    return {
        name: started(shapes[name], start, "float64" if double else "float32")
        for name, start in starts.items()
        if elements(shapes[name])
    }


def _first_epoch(path: str, network: Network) -> dict[str, Array]:
    """Return the numbers of the model that a training began with, or of its first epoch; empty
    where that does not exist, is not a model, or is a model of another network.
    """
    stem = _EPOCH.sub("", path)
    for first in (f"{stem}.0", f"{stem}.1"):
        try:
            found = model_and_numbers(first) if os.path.isfile(first) and first != path else None
        except ModelError:
            continue
        if found is not None:
            return {name: one for name, one in found[1].items() if name in network.nodes}
    return {}


def compared_models(before: Compared, after: Compared) -> Comparison:
    """Compare networks, and the norms of their numbers where both have some.

    Networks whose numbers changed since training began are the same; two models are not.
    """
    found, partners = node_differences(before.network, after.network)
    differences = [one for one in found if not _is_of_files(one, after)]
    equal = all(one.change == "renamed" for one in differences)
    began = before.began or after.began
    for left, right in partners.items():
        old, new = before.numbers.get(left), after.numbers.get(right)
        if old is None or new is None or old.size != new.size:
            continue
        change = change_of(old, new)
        if change is not None:
            equal = equal and began
            differences.append(_moved(right, change, began=began))
    old_figures, new_figures = (described(one.network, "float") for one in (before, after))
    figures = {key: (old_figures[key], new_figures[key]) for key in _FIGURES}
    return Comparison(equal, differences, figures)


def _moved(name: str, change: NormChange, *, began: bool) -> Difference:
    """Return the difference of a parameter's numbers."""
    norms = {key: one if isfinite(one) else None for key, one in change._asdict().items()}
    text = f"{change.after:.6g} (difference: norm {change.difference:.6g}, "
    text += f"largest {change.largest:.6g})"
    aspect = "norm since it began" if began else "norm"
    return Difference(
        "changed", "parameter", name, aspect, f"{change.before:.6g}", text, norms=norms
    )


def _is_of_files(one: Difference, after: Compared) -> bool:
    """Return whether a difference is none between a model and its builder: a file has more than a
    text, such as the shape of a delay, and not how a parameter begins.
    """
    node = after.network.nodes.get(one.name)
    if one.change != "changed" or node is None:
        return False
    if "not given" in (one.before, one.after):
        return True
    return node.operation == PARAMETER and _begins(one)


def _begins(one: Difference) -> bool:
    return one.aspect.startswith("init") or one.aspect == "randomSeed"
