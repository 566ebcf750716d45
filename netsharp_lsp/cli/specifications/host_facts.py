"""The lines of a host's log about a network before it is trained."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netsharp_lsp.microsoftml.printed import PrintedFacts

if TYPE_CHECKING:
    from netsharp_engine.train import TrainingData
    from netsharp_lsp.context import Context
    from netsharp_lsp.family import Training


def host_facts(
    text: bytes, context: Context, training: Training, data: TrainingData
) -> PrintedFacts:
    """Return the facts of a specification that has been checked with its data."""
    settings = data.settings
    definition = training.echo(text, context)
    graph = training.build_graph(text.decode(), data.context())
    output = training.output(text)
    rule = []
    if settings.optimizer == "sgd":
        rule += [f"Learning rate: {settings.learning_rate:.6f}"]
        rule += [f"Momentum: {settings.momentum:.6f}"]
    rule += [f"InitWtsDiameter: {settings.init_diameter:.6f}"]
    squared = settings.regression or settings.loss == "squared"
    return PrintedFacts(
        definition,
        data.features,
        graph.output.size if graph.output is not None else 0,
        "" if output is None else output[1],
        "squared" if squared else "cross-entropy",
        rule,
        sum(line.lstrip().startswith("hidden ") for line in definition),
    )
