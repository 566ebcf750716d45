"""A specification of Net# for Python code: its text, its context, its findings as plain values, and
the error of one that cannot be used.

The public interface and the estimators share it; it trains nothing.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from netsharp_engine.graph import Graph, GraphError
    from netsharp_engine.train.failures import TrainingError
    from netsharp_engine.train.settings import TrainingSettings
    from netsharp_engine.train.tasks import OutputForm
    from netsharp_lsp.context import Context
    from netsharp_lsp.diagnostics.model import Diagnostic as Finding
    from netsharp_lsp.text.lines import LineIndex

#: What no path of a line of text holds, how a comment begins, and what is longer than any path.
NO_PATH = ("\n", "\r", ";", "=", "{", "}")
COMMENTS = ("//", "/*", "#")
LONGEST_PATH = 4096
#: A specification as an argument: its text, or the path of a file.
Specification = str | os.PathLike[str]


class Diagnostic(NamedTuple):
    """One finding: what is to be said about a place of a text.

    Attributes
    ----------
    code : str
        The rule that says it, such as "NS074"; `netsharp explain CODE` prints its page.
    severity : str
        "error", "warning", "info" or "hint".
    message : str
        One or more sentences for people.
    line, column : int
        Where it begins, from 1; columns count code points.
    end_line, end_column : int
        Where it ends, exclusive.
    file : str or None
        The file that it is about, where several belong together; None for the text itself.

    Since
    -----
    0.1
    """

    code: str
    severity: str
    message: str
    line: int
    column: int
    end_line: int
    end_column: int
    file: str | None = None


class SpecificationError(ValueError):
    """A specification with errors; the text gives the place of the first, and how many follow.

    Attributes
    ----------
    diagnostics : list of Diagnostic
        All its errors, in the order of the text; at least one.
    code : str
        The code of the first.
    line, column : int
        Where the first begins, from 1; columns count code points.
    file : str or None
        The file that it is about, where several belong together.
    results : dict of str to CommandResult
        Of `netsharp.run`: results of the commands that were done all the same; else empty.

    Since
    -----
    0.1
    """

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        first = diagnostics[0]
        more = f" (and {len(diagnostics) - 1} more)" if len(diagnostics) > 1 else ""
        where = f"line {first.line}, column {first.column}"
        file = "" if first.file is None else f"{first.file}, "
        super().__init__(f"{file}{where}: {first.code} {first.message}{more}")
        self.diagnostics = list(diagnostics)
        self.code = first.code
        self.line = first.line
        self.column = first.column
        self.file = first.file
        self.results: dict[str, Any] = {}

    def __reduce__(
        self,
    ) -> tuple[type[SpecificationError], tuple[list[Diagnostic]], dict[str, Any]]:
        # An exception is pickled by its text, which `__init__` does not take.
        return type(self), (self.diagnostics,), {"results": self.results}


# Reports and pickles name them as people import them.
Diagnostic.__module__ = SpecificationError.__module__ = "netsharp"


def path_meant(specification: Specification, language: str | None = None) -> str | None:
    """Return the path of a specification; None where its text is given.

    A path object is a path.  So is a line of text that ends like a file of ours, unless its
    `language` is given: then it is a text, whatever it looks like.
    """
    if not isinstance(specification, str):
        return file_name(specification)
    from netsharp_lsp.language import suffixes

    line = specification.lower()
    a_text = language is not None or len(line) > LONGEST_PATH or any(one in line for one in NO_PATH)
    if a_text or line.startswith(COMMENTS) or not line.endswith(suffixes()):
        return None
    return file_name(specification)


def read_specification(specification: Specification, language: str | None = None) -> bytes:
    """Return the text as UTF-8 without a byte-order mark, reading a path.

    Raises ValueError, a sentence, for a value of another type, and OSError for a file that cannot
    be read.
    """
    path = path_meant(specification, language)
    if path is None:
        assert isinstance(specification, str)
        from netsharp_lsp.text.decode import encode_text

        return _readable("The text", encode_text(specification.removeprefix("\ufeff")))
    from netsharp_engine.plain_files import open_plain
    from netsharp_lsp.language import family_of, language_of_name
    from netsharp_lsp.text.decode import DecodeError

    with open_plain(path) as stream:
        source = family_of(language or language_of_name(path)).decode(stream.read())
    if isinstance(source, DecodeError):
        raise ValueError(f"{path}: {source.message}")
    return _readable(path, source.text)


def _readable(name: str, text: bytes) -> bytes:
    """Return a text that a parser may be given; ValueError, a sentence, for any other."""
    from netsharp_lsp.text.extent import refused

    why = refused(text)
    if why is not None:
        raise ValueError(f"{name} {why}")
    return text


def file_name(path: str | os.PathLike[str]) -> str:
    """Return the name of a file; ValueError for one that no file can have."""
    name = os.fsdecode(path)
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        raise ValueError(f"{name!a} names no file: it holds half of a character.") from None
    if "\0" in name:
        raise ValueError(f"{name!a} names no file: it holds a null character.")
    return name


def known_context(
    features: int | None,
    hidden_nodes: int | None,
    outputs: int | None,
    task: str | None,
    host: str | None,
) -> Context:
    """Return the context that a caller gives. Raises ValueError for invalid values."""
    from netsharp_lsp.context import HOSTS, TASKS, Context, is_count
    from netsharp_lsp.text.numbers import MOST_DIGITS

    counts = {"features": features, "hidden_nodes": hidden_nodes, "outputs": outputs}
    for name, count in counts.items():
        if count is not None and not is_count(count):
            raise ValueError(
                f"{name} must be a whole number of at least 1 and at most {MOST_DIGITS} digits."
            )
    for name, word, words in (("task", task, TASKS), ("host", host, HOSTS)):
        if word is not None and word not in words:
            raise ValueError(f"{name} must be one of {', '.join(words)}, found {word!a}.")
    return Context(features, hidden_nodes, outputs, task, host)


def findings(
    data: bytes, context: Context, language_id: str | None = None, *, suppressed: bool = False
) -> list[Diagnostic]:
    """Return the findings in a text, in its order; with suppressed ones if asked."""
    from netsharp_lsp.diagnostics.selection import Selection
    from netsharp_lsp.examining import examine
    from netsharp_lsp.language import language_by_id, main_language
    from netsharp_lsp.text.lines import LineIndex

    language, lines = language_by_id(language_id or main_language()), LineIndex(data)
    if suppressed:
        found = sorted(language.check(data, context).diagnostics, key=lambda each: each.sort_key)
    else:
        found = examine(language, lines, context, Selection())
    return [placed(each, lines) for each in found]


def placed(found: Finding, lines: LineIndex, file: str | None = None) -> Diagnostic:
    """Return a finding with lines and columns in place of offsets."""
    start, end = lines.position(found.start), lines.position(found.end)
    return Diagnostic(found.code, found.severity, found.message, *start, *end, file)


def refuse_errors(
    data: bytes, context: Context, language_id: str | None = None, *, suppressed: bool = False
) -> None:
    """Raise SpecificationError where a text has errors."""
    found = findings(data, context, language_id, suppressed=suppressed)
    errors = [each for each in found if each.severity == "error"]
    if errors:
        raise SpecificationError(errors)


def graph_of(data: bytes, known: Mapping[str, Any]) -> Graph:
    """Return the engine's graph of a text with the facts about its data.

    Raises SpecificationError for a text with errors, those that it suppresses included, and
    TrainingError for a network that is too large.
    """
    from netsharp_engine.graph import GraphError
    from netsharp_lsp.context import FIELDS, Context
    from netsharp_lsp.language import family_with

    try:
        return family_with(lambda family: family.training).build_graph(data.decode(), known)
    except GraphError as error:
        context = Context(**{field: known[field] for field in FIELDS if field in known})
        refuse_errors(data, context, suppressed=True)
        raise _refusal(error, data) from None


def output_form(data: bytes) -> OutputForm | None:
    """Return the form of a text's output layer; None where there is not exactly one."""
    from netsharp_engine.train.tasks import OutputForm
    from netsharp_lsp.language import family_with

    found = family_with(lambda family: family.training).output(data)
    return None if found is None else OutputForm(*found)


def keyword_settings(
    given: Mapping[str, object], called: Mapping[str, str] | None = None
) -> TrainingSettings:
    """Return settings that Python code gives by name, paths and numbers of numpy included.

    ``called`` are the names that people know keys by, where these are others.  Raises ValueError,
    one sentence a fault, which names settings so.
    """
    from netsharp_engine.train import read_settings

    plain = {name: _plain_value(value) for name, value in given.items()}
    read = read_settings({}, plain, called=called or {})
    if isinstance(read, list):
        raise ValueError(" ".join(read))
    return read


def _plain_value(value: object) -> object:
    """Return a setting whose paths are names, and whose numbers are Python's."""
    if isinstance(value, list | tuple):
        return [_plain_value(each) for each in value]
    if isinstance(value, os.PathLike):
        return file_name(value)
    # Numbers of numpy, as searches over parameters give them.
    item = getattr(value, "item", None)
    return item() if callable(item) and getattr(value, "shape", None) == () else value


@contextmanager
def refusals(data: bytes) -> Iterator[None]:
    """Raise TrainingError in place of the engine's own error about the network of a text."""
    from netsharp_engine.graph import GraphError

    try:
        yield
    except GraphError as error:
        raise _refusal(error, data) from None


def _refusal(error: GraphError, data: bytes) -> TrainingError:
    """Return the error for a network that cannot be computed, with its place if known."""
    from netsharp_engine.train.failures import TrainingError
    from netsharp_lsp.interface import Origin
    from netsharp_lsp.text.lines import LineIndex

    if not isinstance(error.origin, Origin):
        return TrainingError(str(error))
    return TrainingError(str(error), *LineIndex(data).position(error.origin.start))
