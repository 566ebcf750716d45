"""The reports of a run while it is in progress: events of the run log, and the lines of CNTK's
log.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netsharp_lsp.cntk.networks.node import elements, written

if TYPE_CHECKING:
    from netsharp_engine.cntk.descent.reports import (
        CriterionMeans,
        EpochBegun,
        EpochEnded,
        RateChanged,
        RolledBack,
        Shown,
        Tried,
    )
    from netsharp_lsp.cntk.networks.node import Network, Node
    from netsharp_lsp.questions import Follower

_WIDTH = 78
#: Parts of the types of criteria whose value is also reported as a perplexity.
_CROSS_ENTROPIES = ("CrossEntropy", "NoiseContrastiveEstimation")


class RunReporter:
    """The reports of one action of one command."""

    def __init__(
        self,
        follower: Follower,
        command: str,
        action: str,
        old: bool = False,
        stamps: bool = False,
    ) -> None:
        self._follower, self._command, self._action = follower, command, action
        #: Whether lines begin with the time.
        self._stamps = stamps
        #: Whether lines are those of August 2016, and not of November.
        self.old = old
        self._epochs = 0
        self._size_known = False
        self._steps = self._shown = 0
        self._seconds = 0.0
        #: The rate of the next epochs, once it was adjusted.
        self._rate: float | None = None
        #: The sentences shown at the end of the run.
        self.results: list[str] = []

    def notice(self, sentence: str) -> None:
        """Report a sentence to the user."""
        self._follower.notice(f"{self._command}: {sentence}")

    def warned(self, sentences: Sequence[str]) -> None:
        """Report warnings about the data."""
        for sentence in sentences:
            self.notice(sentence)

    def line(self, line: str = "") -> None:
        """Write a line of CNTK's log, which may begin with the time."""
        self._follower.line(stamped(line) if self._stamps else line)

    def plain_line(self, line: str) -> None:
        """Write a line of CNTK's log that never begins with the time."""
        self._follower.line(line)

    def stops(self) -> bool:
        """Return whether a stop was requested."""
        return self._follower.stops()

    def begun(self) -> None:
        """Report the beginning of the action."""
        full, empty = "#" * _WIDTH, f"#{' ' * (_WIDTH - 2)}#"
        title = f"# {self._command} command ({self._action} action)"
        if self.old:
            title = f'# Action "{self._action}"'
        for line in (full, empty, f"{title:<{_WIDTH - 2}} #", empty, full, ""):
            self.line(line)
        self._trains("Begin")

    def done(self) -> None:
        """Report the end of the action."""
        self._trains("End")
        self.line()
        self.line(f'Action "{self._action}" complete.')
        self.line()

    def _trains(self, what: str) -> None:
        if self.old and self._action.startswith("train"):
            self.line(f"CNTKCommandTrain{what}: {self._command}")

    def lines(self, lines: Iterable[str]) -> None:
        """Write lines of CNTK's log."""
        for line in lines:
            self.plain_line(line)

    def computed_by(self, device: Mapping[str, str]) -> None:
        """Report what computes an action that does not train, where a device was requested."""
        if device:
            self._event("device", epoch=0, samples=0, device=dict(device))

    def made(self, nodes: int, is_loaded: bool, unit: str) -> None:
        """Report a network with its number of nodes, and CNTK's name of what computes it."""
        if self.old:
            self.line(f"{'Loaded' if is_loaded else 'Created'} model with {nodes} nodes on {unit}.")
        else:
            self.line(f"Model has {nodes} nodes. Using {unit}.")
        self.line()

    def training(self, network: Network, parameters: Sequence[Node], learning: int) -> None:
        """Report the criteria and the trained parameters."""
        for what, group in (("Training", "criterion"), ("Evaluation", "evaluation")):
            nodes = network.groups[group]
            if nodes and self.old:
                self.line(f"{what} criterion node(s):")
                for node in nodes:
                    self.line(f"\t{node.name} = {node.operation}")
            elif len(nodes) == 1:
                head = f"{what} criterion:"
                self.line(f"{head:<21} {nodes[0].name} = {nodes[0].operation}")
            elif nodes:
                self.line(f"{what} criteria:")
                for node in nodes:
                    self.line(f"\t{node.name} = {node.operation};")
        count = sum(elements(node.shape or ()) for node in parameters)
        self.line(
            f"Training {count} parameters in {len(parameters)} out of {len(parameters)} parameter "
            f"tensors and {learning} nodes with gradient:"
        )
        for node in parameters:
            self.line(
                f"\tNode '{node.name}' ({node.operation} operation) : [{written(node.shape)}]"
            )

    def precomputing(self, count: int) -> None:
        """Report that statistics are computed from the data."""
        self.line(f"Precomputing --> {count} PreCompute nodes found.")

    def precomputed(self) -> None:
        """Report that they have been computed."""
        self.line("Precomputing --> Completed.")

    def started(
        self, epochs: int, steps: int, rows: int, sized: bool, device: Mapping[str, str]
    ) -> None:
        """Report the start of training; `sized`: the configuration sets the length of an epoch.

        `device` has facts about what computes, where a device was asked for.
        """
        self._epochs, self._size_known = epochs, sized
        metrics = {"epochs": epochs, "steps": steps, "rows": rows}
        more: dict[str, Any] = {"device": dict(device)} if device else {}
        self._event("start", epoch=0, step=0, samples=0, metrics=metrics, **more)

    def resuming(self, steps: int, seconds: float) -> None:
        """Report that training resumes after a number of minibatches, which took this time in
        seconds.
        """
        self._steps, self._seconds = steps, seconds

    def epoch_begun(self, event: EpochBegun) -> None:
        """Report the beginning of an epoch."""
        self._shown = 0
        self.line(
            f"Starting Epoch {event.epoch}: learning rate per sample = {event.rate:f}  effective "
            f"momentum = {event.effective_momentum:f}  momentum as time constant = "
            f"{event.time_constant:.1f} samples"
        )
        self.line("Starting minibatch loop.")

    def minibatches(self, event: Shown) -> None:
        """Report the figures of some minibatches."""
        share = f", {100 * event.share:2.2f}%" if self._size_known else ""
        figures = event.figures
        speed = figures.samples / event.seconds if event.seconds > 0 else 0.0
        self.line(
            f" Epoch[{event.epoch:2d} of {self._epochs}]-Minibatch[{event.start:4d}-"
            f"{event.end:4d}{share}]: {_values(figures)}; time = {event.seconds:.4f}s; "
            f"samplesPerSecond = {speed:.1f}"
        )
        self._steps += event.end - self._shown
        self._shown = event.end
        self._seconds += event.seconds
        self._event(
            "step", epoch=event.epoch, samples=event.samples, rate=event.rate, figures=figures
        )

    def epoch_ended(self, event: EpochEnded, steps: int, seconds: float) -> None:
        """Report the end of an epoch."""
        self._size_known = True
        self._steps, self._seconds = steps, seconds
        self.line(
            f"Finished Epoch[{event.epoch:2d} of {self._epochs}]: [Training] "
            f"{_values(event.figures)}; totalSamplesSeen = {event.samples}; "
            f"learningRatePerSample = {event.rate:.8g}; epochTime={event.seconds:.6g}s"
        )
        self._event(
            "epoch",
            epoch=event.epoch,
            samples=event.samples,
            rate=event.rate,
            figures=event.figures,
            **({} if event.validation is None else {"validation": _parted(event.validation)}),
        )
        if event.validation is not None:
            self.line(
                f"Finished Epoch[{event.epoch:2d} of {self._epochs}]: [Validate] "
                f"{_values(event.validation)}"
            )

    def tried(self, event: Tried) -> None:
        """Report the result of a trial before an epoch."""
        self.line(
            f" Finished Mini-Epoch[{event.epoch}]: {_values(event.figures)}; "
            f"learningRatePerSample = {event.rate:.8g}; minibatchSize = {event.size}"
        )

    def rate_changed(self, event: RateChanged) -> None:
        """Report an adjusted rate."""
        self._rate = event.rate
        self.line(f"learnRatePerSample {event.change} to {event.rate:.8g}")

    def rolling_back(self, path: str) -> None:
        """Report that training goes back to an earlier model."""
        self.line(
            f"Loading (rolling back to) previous model with best training-criterion value: {path}."
        )

    def rolled_back(self, event: RolledBack) -> None:
        """Report that training went back."""
        back, last = event.epoch, event.last
        for epoch in range(back + 1, last):
            self.line(
                f"SGD: removing model and checkpoint files for epoch {epoch} after rollback to "
                f"epoch {back}"
            )
        self.line(f"SGD: revoke back to and update checkpoint file for epoch {back}")
        rate = "" if self._rate is None else f" with learning rate {self._rate:.6g}"
        self.notice(f"epoch {last} is worse: training continues after epoch {back}{rate}.")

    def trained(self, path: str) -> None:
        """Report the complete model."""
        self.results.append(f"{self._command}: model {path}")

    def wrote(self, path: str) -> None:
        """Report a written file of values."""
        self.results.append(f"{self._command}: wrote {path}")

    def saved(self, path: str) -> None:
        """Report a saved model."""
        self.line(f"SGD: Saving checkpoint model '{path}'")

    def tested(self, start: int, end: int, figures: CriterionMeans, of: Mapping[str, str]) -> None:
        """Report an evaluation of some minibatches; `of`: the types of criteria by name."""
        self.line(f"Minibatch[{start}-{end}]: {_values(figures)}{_perplexity(figures, of)}")

    def evaluated(
        self, end: int, figures: CriterionMeans, of: Mapping[str, str], epoch: int = 0
    ) -> None:
        """Report the evaluation of all data, by the model after an epoch where one is given."""
        text = ", ".join(f"{name} {value:.8g}" for name, value in figures.means.items())
        self.results.append(f"{self._command}: {text} ({figures.samples:,} samples)")
        self.line(final_results(end, figures, of))
        criterion = next((name for name, kind in of.items() if _is_entropy(kind)), None)
        criterion = criterion or next(iter(figures.means))
        self._event(
            "end", epoch=epoch, step=end, samples=figures.samples, figures=_led(figures, criterion)
        )

    def _event(self, name: str, *, figures: CriterionMeans | None = None, **more: Any) -> None:
        event: dict[str, Any] = {
            "event": name,
            "command": self._command,
            "action": self._action,
            "step": self._steps,
            "seconds": round(self._seconds, 3),
            **more,
        }
        if figures is not None:
            event |= {**_parted(figures), "criterion": next(iter(figures.means))}
        self._follower.event(event)


def stamped(line: str) -> str:
    """Return a line of the log after the time, as `timestamping` writes it; an empty line stays
    empty.

    Common/Include/ProgressTracing.h, Timestamp.
    """
    return f"{time.strftime('%m/%d/%Y %H:%M:%S')}: {line}" if line else line


def final_results(end: int, figures: CriterionMeans, of: Mapping[str, str]) -> str:
    """Return the line of a test after `end` minibatches; `of`: the types of criteria by name."""
    text = f"{_values(figures)}{_perplexity(figures, of)}"
    return f"Final Results: Minibatch[1-{end}]: {text}"


def _led(figures: CriterionMeans, first: str) -> CriterionMeans:
    """Return the same figures with one of them first."""
    return figures._replace(means={first: figures.means[first], **figures.means})


def _parted(figures: CriterionMeans) -> dict[str, Any]:
    """Return the criterion, which is first, and the other figures."""
    loss, *_ = figures.means.values()
    return {"loss": loss, "evaluation": dict(list(figures.means.items())[1:])}


def _values(figures: CriterionMeans) -> str:
    return "; ".join(
        f"{name} = {number(name, value)} * {1 if name in figures.gathered else figures.samples}"
        for name, value in figures.means.items()
    )


def number(name: str, value: float) -> str:
    """Return a criterion as CNTK prints it."""
    if name.endswith("s"):
        return f"{100 * value:2.3f}%"
    return f"{value:.8e}" if "e" in f"{value:.8g}" else f"{value:.8f}"


def _is_entropy(operation: str) -> bool:
    return any(one in operation for one in _CROSS_ENTROPIES)


def _perplexity(figures: CriterionMeans, of: Mapping[str, str]) -> str:
    """Return the suffix of the last criterion if that is a cross-entropy."""
    name, value = list(figures.means.items())[-1]
    if not _is_entropy(of.get(name, "")):
        return ""
    return f"; perplexity = {math.exp(min(value, 700.0)):.8f}"
