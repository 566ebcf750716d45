"""The subject of a call, a text or files, and the questions to families; prints nothing.

Only what the caller names and what is in the same work tree or folder is read; a text
for itself reads no file at all.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from netsharp_engine.plain_files import open_plain
from netsharp_lsp.cli.inputs.files import Input, layered_in, read_bytes
from netsharp_lsp.diagnostics.selection import Selection
from netsharp_lsp.language import family_of, language_ids
from netsharp_lsp.outcome import ReadError
from netsharp_lsp.project.roots import Roots, own_roots, roots_around
from netsharp_lsp.questions import Inspection, Lookup, Question
from netsharp_lsp.settings import Settings, SettingsError, SettingsFinder
from netsharp_lsp.specification import (
    Diagnostic,
    Specification,
    SpecificationError,
    path_meant,
    placed,
    read_specification,
)
from netsharp_lsp.text.lines import LineIndex

if TYPE_CHECKING:
    from netsharp_lsp.family import Family
    from netsharp_lsp.questions import Answer

Work = TypeVar("Work")
Done = TypeVar("Done")

#: Names of texts without a file: of one, and of two that are compared.
TEXT = "<text>"
SIDES = ("<before>", "<after>")


class Job:
    """A file to check with all that is to be said of it, and without repairs."""

    repairs = False

    def __init__(self, item: Input) -> None:
        self.item = item
        self.selection = Selection()


class Subject:
    """A text or files that a caller means; `name` is what people call it."""

    def __init__(
        self, specification: Specification, language: str | None, called: str = TEXT
    ) -> None:
        if language is not None and language not in language_ids():
            raise ValueError(
                f"language must be one of {', '.join(language_ids())}, found {language!a}."
            )
        path = path_meant(specification, language)
        self.name = called if path is None else path
        self._text = read_specification(specification, language) if path is None else None
        parts = [self.name] if path is None or layered_in(path) is None else path.split("+")
        self.items = [
            Input(part, None if path is None else os.path.abspath(part), language=language)
            for part in parts
            if part
        ]
        self.language = self.items[0].language
        self.family: Family = family_of(self.language)
        for item in self.items:
            if item.path is not None:
                # What cannot be read is an error of the system's, as elsewhere in Python.
                open_plain(item.path).close()

    @property
    def layered(self) -> bool:
        """Return whether it is layers ``A+B``."""
        return len(self.items) > 1

    def text(self) -> bytes:
        """Return the text, UTF-8; ValueError for a file that is none."""
        if self._text is not None:
            return self._text
        assert self.items[0].path is not None
        return read_specification(Named(self.items[0].path), self.language)

    def read(self, item: Any) -> bytes | ReadError:
        """Return the bytes of a file, or of the text."""
        if item.path is None and self._text is not None:
            return self._text
        return read_bytes(item)


class Named(os.PathLike[str]):
    """A path that is meant as such, whatever it looks like."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __fspath__(self) -> str:
        return self._path


class Around:
    """The surroundings of subjects: folders that may be read, and settings."""

    def __init__(self, subjects: Sequence[Subject]) -> None:
        paths = [item.path for one in subjects for item in one.items if item.path is not None]
        if not paths:
            defaults = Settings()
            self.roots = Roots((), [one.name for one in subjects])
            self.find: Callable[[str], Settings] = lambda directory: defaults
            return
        self.roots = roots_around(paths, sentences(own_roots))
        self.find = SettingsFinder(self.roots.leads_out).find


def sentences(ask: Callable[[], Done]) -> Done:
    """Return the result of `ask`. Raises ValueError where a settings file is invalid."""
    try:
        return ask()
    except SettingsError as error:
        raise ValueError(str(error)) from None


def assignments(values: Mapping[str, object] | None) -> tuple[str, ...]:
    """Return assignments as those of a command line; ValueError for what cannot be a key."""
    given = values or {}
    for key in given:
        if not (isinstance(key, str) and key.isidentifier()):
            raise ValueError(f"set must have names as its keys, found {key!a}.")
    return tuple(f"{key}={_written(value)}" for key, value in given.items())


def _written(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def inspected(subject: Subject, assigned: tuple[str, ...]) -> list[Diagnostic]:
    """Return the findings in the files of runs: first in those that were named, then in others."""
    around = Around([subject])

    def job_for(name: str, path: str | None, language: str) -> Job:
        return Job(Input(name, path, language=language))

    jobs = [Job(item) for item in subject.items]
    request = Inspection(jobs, subject.read, job_for, _one_by_one, around.find, around.roots)
    request.layers = [subject.name] if subject.layered else []
    request.assignments = assigned
    experiments = subject.family.experiments
    assert experiments is not None
    outcomes = sentences(lambda: experiments.inspect(request))
    problems = [sentence for outcome in outcomes for sentence in outcome.problems]
    if problems:
        raise ValueError(" ".join(problems))
    return [
        placed(found, lines, file_or_none(outcome.item.name))
        for outcome in outcomes
        for lines in [LineIndex(outcome.text)]
        for found in outcome.diagnostics
    ]


def question_about(subjects: Sequence[Subject], assigned: tuple[str, ...]) -> Question:
    """Return the question that asks for the description of some subjects."""
    around = Around(subjects)
    items = {one.name: one.items[0] for one in subjects}
    owners = {one.items[0]: one for one in subjects}

    def read(item: Any) -> bytes | ReadError:
        owner = owners.get(item)
        return read_bytes(item) if owner is None else owner.read(item)

    return Question(items.__getitem__, read, around.find, around.roots, assigned)


def looked_up(subject: Subject, assigned: tuple[str, ...], path: str | None = None) -> Answer:
    """Return the values of a subject's configurations, or one of them."""
    configurations = subject.family.configurations
    assert configurations is not None
    around = Around([subject])
    first = "-" if subject.items[0].path is None else subject.name
    if "=" in first:
        first = os.path.abspath(first)  # It is a file and not an assignment.
    text = (lambda: b"") if subject.items[0].path is not None else subject.text
    named, find = (lambda _: around.roots), (lambda folder, _: around.find(folder))
    request = Lookup([first, *assigned], "", named, find, text, subject.name)
    request.json = True
    request.path = path
    return configurations.resolve(request)


def refused(answer: Answer) -> ValueError:
    """Return the error for an answer that has nothing."""
    errors = [
        placed(found, one.lines, file_or_none(one.file))
        for report in answer.reports
        for one in report
        for found in one.diagnostics
        if found.severity == "error"
    ]
    if errors:
        return SpecificationError(errors)
    return ValueError(" ".join(answer.complaints) or "There is nothing that could be said.")


def _one_by_one(work: Callable[[Work], Done], jobs: Sequence[Work], /) -> Iterable[Done]:
    return map(work, jobs)


def file_or_none(name: str) -> str | None:
    """Return the name of a file; None for a text that has none."""
    return None if name in (TEXT, *SIDES) else name
