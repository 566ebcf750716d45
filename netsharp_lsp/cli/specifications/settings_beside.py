"""The settings of a run that a command looks at: flags, and the run file beside a specification."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from netsharp_engine.train import TrainingSettings, read_settings
from netsharp_lsp.cli.specifications.subjects import SubjectError
from netsharp_lsp.project.run_file import run_file_beside

if TYPE_CHECKING:
    from netsharp_lsp.cli.specifications.subjects import Subject
    from netsharp_lsp.project.roots import Roots


def settings_beside(subject: Subject, flags: dict[str, Any], roots: Roots) -> TrainingSettings:
    """Return the settings; SubjectError, a sentence, where they cannot be read."""
    place = os.path.abspath(subject.name)
    beside = run_file_beside(place, roots)
    if isinstance(beside, str):
        raise SubjectError(beside)
    table = {} if beside is None else {"data": beside.data, "train": beside.train}
    if subject.context.task is not None and "task" not in table.get("train", {}):
        flags = {**flags, "task": subject.context.task}
    name = "the run file" if beside is None else os.path.basename(beside.path)
    read = read_settings(table, flags, directory=os.path.dirname(place), file_name=name)
    if isinstance(read, list):
        raise SubjectError(" ".join(read))
    return read
