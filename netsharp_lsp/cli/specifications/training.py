"""A run of training with all that watches it: a display, a log, models kept now and then."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from netsharp_engine.distributed.ranks import ALONE, Ranks
from netsharp_engine.model import ModelError, save_model
from netsharp_engine.train import RunLog, TrainingError, resume, train
from netsharp_lsp.cli.console.terminal import complain
from netsharp_lsp.cli.machines.joining import note_saved
from netsharp_lsp.memory import settled
from netsharp_lsp.trained import table_maker

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from netsharp_engine.graph import Graph
    from netsharp_engine.model import Model
    from netsharp_engine.train import TrainingData, TrainingResult, TrainingSettings
    from netsharp_lsp.cli.console.progress import Display

    BuildGraph = Callable[[str, Mapping[str, Any]], Graph]


@dataclass(frozen=True, slots=True)
class Training:
    """A run with its display, its log, and a model saved now and then.

    `lost` are sentences on what could not be written, each printed once: the result of hours is
    worth more than a log, and a disk may have room again.
    """

    specification: str
    build_graph: BuildGraph
    data: TrainingData
    settings: TrainingSettings
    display: Display
    path: str
    should_stop: Callable[[], bool]
    lost: list[str]
    measured: bool = False
    ranks: Ranks = ALONE

    def ends(self) -> bool:
        """Return whether to stop: on a request, or where no reader is left."""
        return self.should_stop() or not self.display.heard

    def run(self, stored: Model | None) -> TrainingResult:
        """Train from the start, or go on with a stored run and its log."""
        with ExitStack() as files:
            log = None
            if self.settings.log and self.ranks.leads:
                log = files.enter_context(RunLog(self.settings.log, append=stored is not None))

            def on_event(event: dict[str, Any]) -> None:
                nonlocal log
                try:
                    if log is not None:
                        log.write({key: event[key] for key in event if key != "training"})
                except TrainingError as error:
                    log = None
                    self._lose(f"{error} The run continues without it.")
                self.display.event(event)

            watched: dict[str, Any] = {
                "measured": self.measured,
                "on_event": on_event,
                "on_checkpoint": self._keep if self.ranks.leads else None,
                "should_stop": self.ends,
                "tables": table_maker(self.settings),
                "ranks": self.ranks,
            }
            if stored is not None:
                return resume(stored, self.data, self.settings, **watched)
            graph = settled(lambda: self.build_graph(self.specification, self.data.context()))
            given = {"specification": self.specification, **watched}
            return train(graph, self.data, self.settings, **given)

    def _keep(self, model: Model) -> None:
        """Save a model during the run; a failure is reported, and the last one is saved again."""
        try:
            save_model(model, self.path)
            if not self.ranks.alone and model.state is not None:
                note_saved(model.state.step)
        except ModelError as error:
            if model.state is not None and not model.state.finished and not self.ends():
                self._lose(f"{error} The run continues and tries again.")

    def _lose(self, sentence: str) -> None:
        if sentence not in self.lost:
            self.lost.append(sentence)
            complain(sentence)
