"""A file of columns, as the block of UCIFastReader describes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from netsharp_engine.cntk.samples.columns import (
    ColumnOptions,
    LabelColumn,
    NumberColumns,
    read_columns,
    survey_columns,
)
from netsharp_engine.cntk.samples.minibatches import Sweeps
from netsharp_engine.cntk.samples.truncated import Truncated
from netsharp_lsp.cntk.training.options import Options
from netsharp_lsp.cntk.training.refusals import Refused, RunRefusal, where_of
from netsharp_lsp.cntk.training.samples.text_files import located
from netsharp_lsp.cntk.training.samples.word_lists import is_of_labels, sections
from netsharp_lsp.workspace import outside

if TYPE_CHECKING:
    from collections.abc import Mapping

    from netsharp_engine.cntk.samples.columns import Columns
    from netsharp_engine.cntk.samples.faults import DataSurvey
    from netsharp_engine.cntk.samples.text_format import Sequences
    from netsharp_engine.cntk.samples.truncated import Cut
    from netsharp_lsp.cntk.networks.node import Where
    from netsharp_lsp.cntk.run.files import RunFiles

_NAMED, _NUMBERS, _NONE = "category", "regression", "none"
_UNORDERED = (
    "UCIFastReader shuffled with a random generator of its own; the samples of each epoch are the "
    "same, but their order differs. randomize=none keeps the order of the file."
)


class ColumnFile(NamedTuple):
    """The columns of a file, and the options to read it."""

    path: str
    where: Where
    streams: Columns
    options: ColumnOptions

    @property
    def sizes(self) -> Mapping[str, int]:
        """The numbers of a sample, by stream."""
        return {stream.name: stream.dim for stream in self.streams}

    @property
    def files(self) -> tuple[ColumnFile]:
        """The file itself."""
        return (self,)

    @property
    def most_errors(self) -> int:
        """Return the number of skipped errors: none."""
        return 0

    @property
    def key(self) -> object:
        """Return a key that is equal for equal reads."""
        return self.path, self.streams, self.options

    def read(self, dtype: str) -> Sequences:
        """Return its samples; DataError where it cannot be used."""
        return read_columns(self.path, self.streams, dtype, self.options)

    def survey(self) -> DataSurvey:
        """Return all its faults; DataError where it cannot be read."""
        return survey_columns(self.path, self.streams, self.options)

    def sweeps(self, sequences: Sequences, randomize: bool, cut: Cut | None) -> Sweeps:
        """Return its samples in order; all are shuffled together, unlike in CNTK."""
        if randomize:
            sequences.warnings.append(_UNORDERED)
        if cut is None:
            return Sweeps(sequences, randomize)
        return Truncated(sequences, randomize, None, cut, self.sizes)


def column_file(options: Options, files: RunFiles) -> ColumnFile:
    """Return the file of a UCIFastReader."""
    where = where_of(options.scope.text)
    features: list[tuple[str, Options]] = []
    labels: list[tuple[str, Options]] = []
    for name, inner in sections(options):
        if is_of_labels(inner):
            labels.append((name, inner))
        elif inner.scope.here(b"dim") is not None:
            features.append((name, inner))
    if len(features) != 1 or len(labels) > 1:
        reason = (
            "UCIFastReader needs one block of features (with dim) and at most one of labels (with "
            f"labelDim or labelType), and there are {len(features)} and {len(labels)}."
        )
        raise Refused(RunRefusal(reason, where))
    name, inner = features[0]
    path, place = located(inner, files)
    streams: list[NumberColumns | LabelColumn] = [_numbers(name, inner)]
    for name, inner in labels:
        kind = inner.text("labelType", _NAMED).lower()
        if kind == _NONE:
            continue
        if located(inner, files)[0] != path:
            reason = f"'{name}' has to be in the same file as the features."
            raise Refused(RunRefusal(reason, where_of(inner.scope.text)))
        if kind not in (_NAMED, _NUMBERS):
            reason = f"'labelType' is '{kind}', not one of category, regression, none."
            raise Refused(RunRefusal(reason, where_of(inner.scope.text)))
        streams.append(_labels(name, inner, files) if kind == _NAMED else _numbers(name, inner))
    form = _form(options)
    return ColumnFile(path, place, tuple(streams), form)


class LabelMap(NamedTuple):
    """A file of labels that does not exist yet, and the column of the labels."""

    target: str
    path: str
    start: int
    form: ColumnOptions


def label_maps(options: Options, files: RunFiles) -> list[LabelMap]:
    """Return the files of labels of a UCIFastReader."""
    found: list[LabelMap] = []
    for name, inner in sections(options):
        is_named = inner.text("labelType", _NAMED).lower() == _NAMED
        if is_of_labels(inner) and is_named and inner.scope.here(b"dim") is not None:
            target = inner.required_path("labelMappingFile", name)
            path, _ = located(inner, files)
            found.append(LabelMap(target, path, _start(name, inner), _form(options)))
    return found


def _form(options: Options) -> ColumnOptions:
    delimiter, point = (options.text(one) for one in ("customDelimiter", "customDecimalPoint"))
    if delimiter and delimiter[:1] == (point[:1] or "."):
        reason = f"'{delimiter[:1]}' cannot separate both columns and decimals."
        raise Refused(RunRefusal(reason, where_of(options.scope.text)))
    return ColumnOptions(delimiter.encode()[:1], point.encode()[:1] or b".")


def _numbers(name: str, options: Options) -> NumberColumns:
    options.required("dim", name)
    return NumberColumns(name, _start(name, options), _positive(name, "dim", options))


def _labels(name: str, options: Options, files: RunFiles) -> LabelColumn:
    found = options.found("labelMappingFile")
    where = where_of(options.scope.text if found is None else found.text)
    path = options.required_path("labelMappingFile", name)
    if files.outside(path):
        raise Refused(RunRefusal(outside(path), where))
    data = files.read(path)
    if data is None:
        reason = (
            f"the file of labels '{path}' does not exist. Write one with a label on each line, or "
            "run a command with the action createLabelMap first."
        )
        raise Refused(RunRefusal(reason, where))
    lines = data.decode("utf-8", "replace").split("\n")
    classes = tuple(line.strip() for line in lines if line.strip())
    dim = max(options.whole("labelDim", 0), len(classes))
    if not classes:
        raise Refused(RunRefusal(f"'{path}' contains no label.", where))
    return LabelColumn(name, _start(name, options), dim, classes)


def _start(name: str, options: Options) -> int:
    start = options.whole("start", 0)
    if start < 0:
        reason = f"'start' of '{name}' must not be negative."
        raise Refused(RunRefusal(reason, where_of(options.scope.text)))
    return start


def _positive(name: str, key: str, options: Options) -> int:
    found = options.whole(key, 0)
    if found < 1:
        reason = f"'{key}' of '{name}' has to be 1 or more."
        raise Refused(RunRefusal(reason, where_of(options.scope.text)))
    return found
