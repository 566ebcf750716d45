"""Runs of CNTK's configurations from Python: their commands are done, and figures come back."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from netsharp._subjects import Around, Subject, assignments, refused, sentences
from netsharp._values import CommandResult
from netsharp_engine.backends.naming import BF16
from netsharp_engine.data import DataError
from netsharp_engine.train import TrainingError
from netsharp_lsp.project.roots import own_roots, roots_around
from netsharp_lsp.questions import Performance
from netsharp_lsp.specification import Specification, SpecificationError, path_meant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netsharp_lsp.family import Experiments
    from netsharp_lsp.questions import Answer

#: The name of a configuration that is not a file.
_TEXT = "<text>.cntk"
_FAULTY = 1


def run(
    specification: Specification,
    command: str | Sequence[str] | None = None,
    *,
    set: Mapping[str, object] | None = None,
    device: str = "",
    precision: str = "",
) -> dict[str, CommandResult]:
    """Run a CNTK configuration: train, test, write, ..., as `netsharp run` does.

    Nothing is read or written outside the work tree of git around what is named and the present
    folder, else these folders.
    Ctrl-C leaves the checkpoint of the last epoch, and the next run continues after it.
    Commands that need nothing of one that is refused are done all the same, and their results
    are in the exception's `results`, a dict as it would be returned.

    Parameters
    ----------
    specification : str or path object
        The path of a configuration, a path object or one line that ends like one, or its text.
        Layers are "a.cntk+b.cntk".  Paths in it lead from the present folder.
    command : str or sequence of str, optional
        What is done, in this order, "Train:Test" or a list; without it what `command` there says.
    set : mapping of str to value, optional
        Assignments after the files of a configuration, as `--set KEY=VALUE`.
    device : str, optional
        What computes: cpu, torch[:cuda|mps|xpu|cpu], wgpu[:NAME] or auto; the processor without it.
    precision : str, optional
        "bf16" for products of that type, which torch alone has; the type of numbers is the
        configuration's.

    Returns
    -------
    dict of str to CommandResult
        The result of each command that has figures, by its name, in their order.

    Raises
    ------
    SpecificationError
        The configuration has errors.
    DataError
        The data cannot be used: a file, a line, a number.
    TrainingError
        Something is asked for that is not done, a file cannot be used, or a run diverged.
    ValueError
        It is not a configuration, or an argument is invalid.
    OSError
        The file cannot be read.

    Since
    -----
    0.1
    """
    follower = _Figures()
    request, experiments = _request(specification, command, assignments(set))
    if precision not in ("", BF16):
        raise ValueError(f"precision is '{precision}', and of a configuration can be {BF16} alone.")
    request.device, request.precision = device, precision
    answer = sentences(lambda: experiments.perform(request, follower))
    if not answer.code:
        return follower.runs()
    failure = _failure(answer, follower.notices[-1:])
    if isinstance(failure, SpecificationError | DataError | TrainingError):
        failure.results = follower.runs()
    raise failure


def _failure(answer: Answer, notices: Sequence[str]) -> ValueError:
    """Return the exception for a run that is incomplete."""
    if answer.reports:
        return refused(answer)
    message = " ".join((*answer.printed, *answer.complaints) or notices)
    is_data = answer.code == _FAULTY and answer.complaints
    return DataError(message) if is_data else TrainingError(message)


def _request(
    specification: Specification, command: str | Sequence[str] | None, assigned: tuple[str, ...]
) -> tuple[Performance, Experiments]:
    """Return the request, and the family that answers it."""
    is_text = path_meant(specification) is None
    subject = Subject(specification, "cntk" if is_text else None)
    experiments = subject.family.experiments
    if experiments is None or not _begins_run(subject, experiments):
        raise ValueError(f"{subject.name} is not a configuration, which says what a run does.")
    around = Around([subject])
    names: tuple[str, ...] = ()
    if command is not None:
        names = (f"command={command if isinstance(command, str) else ':'.join(command)}",)
    request = Performance(
        (f"configFile={_TEXT if is_text else subject.name}", *assigned, *names),
        os.curdir,
        lambda named: roots_around(
            [os.curdir] if is_text else [os.curdir, *named], sentences(own_roots)
        ),
        lambda folder, roots: around.find(folder),
    )
    if is_text:
        request.texts = {os.path.realpath(_TEXT): subject.text()}
    return request, experiments


def _begins_run(subject: Subject, experiments: Experiments) -> bool:
    starts = {subject.family.suffixes[suffix] for suffix in experiments.starts}
    return subject.language in starts


class _Figures:
    """Keeps the events of a run."""

    def __init__(self) -> None:
        self._events: list[dict[str, Any]] = []
        self.notices: list[str] = []

    def event(self, event: dict[str, Any]) -> None:
        """Take an event of the run log."""
        self._events.append(event)

    def line(self, line: str) -> None:
        """Drop a line of CNTK's log, which is not shown here."""

    def notice(self, sentence: str) -> None:
        """Receive a message for the user."""
        self.notices.append(sentence)

    def stops(self) -> bool:
        """Return False: a run from Python is stopped by an interrupt."""
        return False

    def runs(self) -> dict[str, CommandResult]:
        """Return the result of each command."""
        told = (event for event in self._events if event["event"] != "device")
        names = dict.fromkeys(event["command"] for event in told)
        return {name: self._run(name) for name in names}

    def _run(self, name: str) -> CommandResult:
        events = [event for event in self._events if event["command"] == name]
        history = tuple(event for event in events if event["event"] in ("epoch", "end"))
        last = history[-1] if history else {}
        return CommandResult(
            name,
            last.get("loss"),
            last.get("criterion"),
            dict(last.get("evaluation", {})),
            last.get("samples", 0),
            history,
            tuple(one for one in self.notices if one.startswith(f"{name}: ")),
        )
