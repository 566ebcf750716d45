"""The functions on texts: check, format, describe, compare; it trains nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from netsharp._subjects import (
    SIDES,
    Subject,
    assignments,
    inspected,
    question_about,
    refused,
    sentences,
)
from netsharp._values import Comparison, Difference
from netsharp_lsp.language import language_by_id
from netsharp_lsp.specification import (
    Diagnostic,
    Specification,
    findings,
    known_context,
    refuse_errors,
)

if TYPE_CHECKING:
    from netsharp._settings import Host, Language, Task
    from netsharp_lsp.description.comparison import Comparison as Compared


def check(
    specification: Specification,
    *,
    language: Language | None = None,
    features: int | None = None,
    hidden_nodes: int | None = None,
    outputs: int | None = None,
    task: Task | None = None,
    host: Host | None = None,
    set: Mapping[str, object] | None = None,
) -> list[Diagnostic]:
    """Find everything to report about a text, or about the files of a run.

    Parameters
    ----------
    specification : str or path object
        A text, or the path of its file: a path object, or one line that ends like a file of ours.
        Layers of configurations are "a.cntk+b.cntk".
    language : {"netsharp", "cntk", "brainscript", "ndl", "mel"}, optional
        The language of it, whatever its name; a `str` is then a text.  Without it a file's name
        decides, and a text is Net#.
    features : int, optional
        Columns of the data after encoding: the nodes of an `auto` input.
    hidden_nodes : int, optional
        The nodes of an `auto` hidden layer.
    outputs : int, optional
        The nodes that the task needs: those of an `auto` output.
    task : {"binary", "multiclass", "regression"}, optional
        What the network is for.
    host : {"studio", "rx", "tlc"}, optional
        The program whose rules and defaults are meant.
    set : mapping of str to value, optional
        Assignments after the files of a configuration, as `--set KEY=VALUE`.

    Returns
    -------
    list of Diagnostic
        The findings in the order of the text; empty where there is nothing to report.  Those of
        configurations name their `file`, and may be about other files of the run.

    Raises
    ------
    ValueError
        It is not a text, or an argument is invalid.
    OSError
        The file cannot be read.

    Since
    -----
    0.1
    """
    subject = Subject(specification, language)
    context = known_context(features, hidden_nodes, outputs, task, host)
    assigned = _assigned(set, subject)
    if subject.family.experiments is not None:
        return inspected(subject, assigned)
    return findings(subject.text(), context, subject.language)


def format(specification: Specification, *, language: Language | None = None) -> str:
    """Write a text in the one style of its language; broken regions stay as they are.

    Parameters
    ----------
    specification : str or path object
        A text, or the path of its file: a path object, or one line that ends like a file of ours.
        Layers of configurations are "a.cntk+b.cntk".
    language : {"netsharp", "cntk", "brainscript", "ndl", "mel"}, optional
        The language of it, whatever its name; a `str` is then a text.  Without it a file's name
        decides, and a text is Net#.

    Returns
    -------
    str
        The text, with the line ends that most of its lines have; no file is changed.

    Raises
    ------
    ValueError
        It is not a text, or the formatter's own proof that nothing is lost failed.
    OSError
        The file cannot be read.

    Since
    -----
    0.1
    """
    from netsharp_lsp.layout.options import FormatOptions

    subject = Subject(specification, language)
    result = language_by_id(subject.language).format(subject.text(), FormatOptions())
    if result.failure is not None:
        raise ValueError(result.failure)
    return result.text.decode()


def describe(
    specification: Specification,
    *,
    language: Language | None = None,
    command: str | None = None,
    features: int | None = None,
    hidden_nodes: int | None = None,
    outputs: int | None = None,
    task: Task | None = None,
    host: Host | None = None,
    set: Mapping[str, object] | None = None,
) -> dict[str, Any]:
    """Describe a network: layers or nodes, parameters, multiply-adds, memory.

    Parameters
    ----------
    specification : str or path object
        A text, or the path of its file: a path object, or one line that ends like a file of ours.
        Layers of configurations are "a.cntk+b.cntk".
    language : {"netsharp", "cntk", "brainscript", "ndl", "mel"}, optional
        The language of it, whatever its name; a `str` is then a text.  Without it a file's name
        decides, and a text is Net#.
    command : str, optional
        The command of a configuration whose network is meant; without it the first that trains.
    features : int, optional
        Columns of the data after encoding: the nodes of an `auto` input.
    hidden_nodes : int, optional
        The nodes of an `auto` hidden layer.
    outputs : int, optional
        The nodes that the task needs: those of an `auto` output.
    task : {"binary", "multiclass", "regression"}, optional
        What the network is for.
    host : {"studio", "rx", "tlc"}, optional
        The program whose rules and defaults are meant.
    set : mapping of str to value, optional
        Assignments after the files of a configuration, as `--set KEY=VALUE`.

    Returns
    -------
    dict
        The JSON of `netsharp describe --format json`: "layers" (of CNTK "nodes"), "parameters",
        "connections", "multiply_adds", "memory_bytes"; what is unknown is None.

    Raises
    ------
    SpecificationError
        The network has errors.
    ValueError
        It is not a text, or an argument is invalid.
    OSError
        The file cannot be read.

    Since
    -----
    0.1
    """
    subject = Subject(specification, language)
    context = known_context(features, hidden_nodes, outputs, task, host)
    assigned = _assigned(set, subject)
    experiments = subject.family.experiments
    if experiments is None:
        data = subject.text()
        refuse_errors(data, context, subject.language)
        return language_by_id(subject.language).describe(data, context)
    request = question_about([subject], assigned)
    request.command = command
    answer = sentences(lambda: experiments.describe(subject.name, request))
    if answer.document is None:
        raise refused(answer)
    return answer.document


def compare(
    before: Specification,
    after: Specification,
    *,
    language: Language | None = None,
    features: int | None = None,
    hidden_nodes: int | None = None,
    outputs: int | None = None,
    task: Task | None = None,
    host: Host | None = None,
    set: Mapping[str, object] | None = None,
) -> Comparison:
    """Compare two networks by their meaning, not by their text.

    Parameters
    ----------
    before, after : str or path object
        Two texts, or paths of files, as of `check`; both of one kind.
    language : {"netsharp", "cntk", "brainscript", "ndl", "mel"}, optional
        The language of both, whatever their names; a `str` is then a text.
    features : int, optional
        Columns of the data after encoding: the nodes of an `auto` input.
    hidden_nodes : int, optional
        The nodes of an `auto` hidden layer.
    outputs : int, optional
        The nodes that the task needs: those of an `auto` output.
    task : {"binary", "multiclass", "regression"}, optional
        What the network is for.
    host : {"studio", "rx", "tlc"}, optional
        The program whose rules and defaults are meant.
    set : mapping of str to value, optional
        Assignments after the files of a configuration, as `--set KEY=VALUE`.

    Returns
    -------
    Comparison
        Whether they are the same, and what differs.

    Raises
    ------
    SpecificationError
        One of them has errors.
    ValueError
        It is not a text, or an argument is invalid.
    OSError
        The file cannot be read.

    Since
    -----
    0.1
    """
    subjects = [
        Subject(one, language, called) for one, called in zip((before, after), SIDES, strict=True)
    ]
    context = known_context(features, hidden_nodes, outputs, task, host)
    if subjects[0].family is not subjects[1].family:
        names = " and ".join(one.family.title for one in subjects)
        raise ValueError(f"The texts are of different kinds, {names}. Name two of a kind.")
    assigned = _assigned(set, subjects[0])
    experiments = subjects[0].family.experiments
    if experiments is None:
        first, second = (one.text() for one in subjects)
        for data in (first, second):
            refuse_errors(data, context, subjects[1].language)
        compared = language_by_id(subjects[1].language)
        return _comparison(compared.compare((first, context), (second, context)))
    names_of = [one.name for one in subjects]
    request = question_about(subjects, assigned)
    answer = sentences(lambda: experiments.compare(names_of[0], names_of[1], request))
    if answer.comparison is None:
        raise refused(answer)
    return _comparison(answer.comparison)


def _comparison(found: Compared) -> Comparison:
    differences = [
        Difference(one.change, one.what, one.name, one.aspect, one.before, one.after)
        for one in found.differences
    ]
    figures = found.figures
    return Comparison(
        found.same, tuple(differences), figures["parameters"], figures["multiply_adds"]
    )


def _assigned(values: Mapping[str, object] | None, subject: Subject) -> tuple[str, ...]:
    """Return assignments, which only a run can have."""
    if values and subject.family.experiments is None:
        raise ValueError(f"set belongs to configurations; {subject.name} is none. Leave it out.")
    return assignments(values)
