"""Rules about the start of a training, if it was observed on request.

The observations are in the context of the text; nothing is computed here.
"""

from __future__ import annotations

from functools import partial

from netsharp_lsp.netsharp.findings import Finding, Rests
from netsharp_lsp.netsharp.rules import NETWORK, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from netsharp_lsp.diagnostics.model import Severity
    from netsharp_lsp.netsharp.meaning.network import Network

    Sentence = Callable[..., str]


def _no_number(layer: str) -> str:
    return "The first step gives no finite loss or gradient: training would stop at once."


def _high_loss(layer: str, loss: float, trivial: float) -> str:
    return (
        f"Training would start at a loss of {loss:.4g}; the best constant prediction has "
        f"{trivial:.4g}. Initial values or features are too large."
    )


def _dead(layer: str, dead: float, nodes: float) -> str:
    return (
        f"{dead:,.0f} of {nodes:,.0f} nodes of '{layer}' are dead (their activation is flat in "
        "every row that was tried): they learn nothing."
    )


def _saturated(layer: str, saturated: float, nodes: float) -> str:
    return (
        f"{saturated:,.0f} of {nodes:,.0f} nodes of '{layer}' are saturated in every row that was "
        "tried: they hardly learn."
    )


def _small_gradient(layer: str, gradient: float, largest: float) -> str:
    beside = f"1/{largest / gradient:,.0f} of the largest" if gradient else "nothing"
    return (
        f"The gradient of '{layer}' is {gradient:.2g} at the start, {beside}: this layer would "
        "hardly learn."
    )


def _not_learned(layer: str, rows: float, steps: float, before: float, after: float) -> str:
    return (
        f"Training cannot overfit {rows:,.0f} rows: {steps:,.0f} steps bring the loss from "
        f"{before:.4g} only to {after:.4g}."
    )


def _large_rate(layer: str, rate: float, stable: float, steps: float) -> str:
    return (
        f"learning_rate = {rate:g} is not stable over {steps:,.0f} steps; the largest stable rate "
        f"is about {stable:.2g}."
    )


def _small_rate(layer: str, rate: float, stable: float, steps: float) -> str:
    return (
        f"learning_rate = {rate:g} is small: over {steps:,.0f} steps about {stable:.2g} was still "
        "stable."
    )


#: The code of each kind of observation, its severity, and the sentence on its figures.
SIGNS: Mapping[str, tuple[str, Severity, Sentence]] = {
    "high loss": ("NS132", "warning", _high_loss),
    "small gradient": ("NS133", "warning", _small_gradient),
    "dead": ("NS134", "warning", _dead),
    "saturated": ("NS135", "warning", _saturated),
    "not learned": ("NS136", "warning", _not_learned),
    "large rate": ("NS137", "warning", _large_rate),
    "small rate": ("NS138", "info", _small_rate),
    "no number": ("NS139", "warning", _no_number),
}


def _findings(
    kind: str, code: str, sentence: Sentence, network: Network, _network: Network
) -> Iterator[Finding]:
    """Yield one finding for each observation of a kind, at its layer."""
    for seen, name, figures in network.context.seen:
        layer = network.layers.get(name)
        if seen == kind and layer is not None:
            yield Finding(code, layer.place, sentence(name, *figures))


for _kind, (_code, _severity, _sentence) in SIGNS.items():
    rule(_code, _severity, on=NETWORK, rests=Rests.TEXT)(
        partial(_findings, _kind, _code, _sentence)
    )
