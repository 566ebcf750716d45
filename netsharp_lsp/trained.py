"""Training for Python code: a text and prepared rows in, the result out.

It joins language and engine for the public interface, the estimators and others; it reads no data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from netsharp_engine.train import TrainingError, train
from netsharp_lsp.notebooks.watching import watching
from netsharp_lsp.specification import graph_of, refusals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netsharp_engine.train import TableMaker, TrainingData, TrainingResult, TrainingSettings
    from netsharp_lsp.notebooks.watching import Callback

#: Frames between the warning of an interrupt and our caller's caller.
_DEPTH = 5


def trained(
    text: bytes,
    rows: TrainingData,
    settings: TrainingSettings,
    *,
    callbacks: Callback | Sequence[Callback] | None = None,
    verbose: bool = False,
) -> TrainingResult:
    """Train the network of a text that has no errors by itself, watched, until it is interrupted.

    Raises SpecificationError where it has errors for these rows, TrainingError where both do not
    fit, or the run diverged.
    """
    graph = graph_of(text, rows.context())
    with refusals(text), watching(callbacks, verbose=verbose, depth=_DEPTH) as watch:
        result = train(
            graph,
            rows,
            settings,
            specification=text.decode(),
            on_event=watch.event,
            should_stop=watch.should_stop,
            tables=table_maker(settings),
        )
    if result.status == "diverged":
        raise TrainingError(result.message)
    return result


def table_maker(settings: TrainingSettings) -> TableMaker | None:
    """Return the function that makes the transfer tables of training, None where none are
    requested.
    """
    if settings.quantize is None:
        return None
    from netsharp_compile.training import training_table

    return training_table
