"""Net# networks from Python: check, format, describe, train, predict.

Everything that users import is here.  The module is lazy: importing it loads neither numpy nor
an editor's protocol, each function loads what it needs.

>>> import netsharp
>>> text = "input Data [4]; hidden H [8] from Data all; output Out [3] softmax from H all;"
>>> netsharp.check(text)
[]
>>> netsharp.describe(text)["parameters"]
67
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from netsharp_lsp import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

    from netsharp_engine.model import Model
    from netsharp_lsp.context import Context
    from netsharp_lsp.estimators import NetSharpClassifier, NetSharpRegressor

__all__ = [
    "Diagnostic",
    "NetSharpClassifier",
    "NetSharpRegressor",
    "SpecificationError",
    "__version__",
    "check",
    "describe",
    "format",
    "load",
    "predict",
    "save",
    "train",
]

_ESTIMATORS = ("NetSharpClassifier", "NetSharpRegressor")


class Diagnostic(NamedTuple):
    """One finding; lines and columns count from 1, columns in code points, the end is exclusive.

    `severity`: "error", "warning", "info" or "hint".
    """

    code: str
    severity: str
    message: str
    line: int
    column: int
    end_line: int
    end_column: int


class SpecificationError(ValueError):
    """A specification with errors; ``diagnostics`` holds them."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        first = diagnostics[0]
        more = f" (and {len(diagnostics) - 1} more)" if len(diagnostics) > 1 else ""
        super().__init__(
            f"line {first.line}, column {first.column}: {first.code} {first.message}{more}"
        )
        self.diagnostics = list(diagnostics)


def check(
    specification: str | os.PathLike[str],
    *,
    features: int | None = None,
    hidden_nodes: int | None = None,
    outputs: int | None = None,
    task: str | None = None,
    host: str | None = None,
) -> list[Diagnostic]:
    """Everything that is to be said about a specification, in the order of the text.

    ``specification`` is Net# text, or a path object of a file.  The other arguments turn `auto`
    into numbers: ``task`` is "binary", "multiclass" or "regression", ``host`` "studio", "rx" or
    "tlc".  Raises ValueError for a file that is no text.
    """
    context = _context(features, hidden_nodes, outputs, task, host)
    return _diagnostics(_bytes(specification), context)


def format(specification: str | os.PathLike[str]) -> str:
    """The specification in the one style; broken regions stay as they are.

    Raises ValueError for a file that is no text, and where the formatter's own proof fails.
    """
    from netsharp_lsp.netsharp.formatting import format_text

    result = format_text(_bytes(specification))
    if result.failure is not None:
        raise ValueError(result.failure)
    return result.text.decode()


def describe(
    specification: str | os.PathLike[str],
    *,
    features: int | None = None,
    hidden_nodes: int | None = None,
    outputs: int | None = None,
    task: str | None = None,
    host: str | None = None,
) -> dict[str, Any]:
    """What the network is: layers, bundles, parameters, connections, multiply-adds, memory.

    The dictionary is the JSON of `netsharp describe`; what is unknown is None.  Raises
    SpecificationError for a specification with errors.
    """
    from netsharp_lsp.netsharp import LANGUAGE

    data = _bytes(specification)
    context = _context(features, hidden_nodes, outputs, task, host)
    _raise_errors(data, context)
    return LANGUAGE.describe(data, context)


def train(
    specification: str | os.PathLike[str],
    x: npt.ArrayLike | None = None,
    y: npt.ArrayLike | None = None,
    *,
    sample_weight: npt.ArrayLike | None = None,
    **settings: Any,
) -> Model:
    """Train a network and return the model.

    ``x`` [rows, columns] and ``y`` [rows] are arrays; without them ``train="data.csv"`` and
    ``label="column"`` name files.  ``settings`` are those of a run file: ``task``, ``epochs``,
    ``batch_size``, ``learning_rate``, ``optimizer``, ``seed``, ...  Raises SpecificationError for
    a specification with errors, and ValueError for data and settings that do not fit, or a run
    that diverged.
    """
    from netsharp_engine import train as engine
    from netsharp_engine.data import Table
    from netsharp_lsp.context import FIELDS, Context
    from netsharp_lsp.netsharp.lower import build_graph

    data = _bytes(specification)
    _raise_errors(data, Context())
    read = engine.read_settings({}, settings)
    if isinstance(read, list):
        raise ValueError(" ".join(read))
    if x is None:
        rows = engine.load_data(read)
    else:
        task = "regression" if read.regression else "classification"
        table = Table.from_arrays(x, y, weights=sample_weight, task=task, dtype=read.dtype)
        rows = engine.prepare(table, read, consume=True)
    known = rows.context()
    _raise_errors(data, Context(**{field: known[field] for field in FIELDS if field in known}))
    text = data.decode()
    result = engine.train(build_graph(text, known), rows, read, specification=text)
    if result.status == "diverged":
        raise engine.TrainingError(result.message)
    return result.model


def load(path: str | os.PathLike[str]) -> Model:
    """Read a model file.  Raises ValueError, a sentence, for any other file.

    Loading executes nothing of the file.
    """
    from netsharp_engine.model import load_model
    from netsharp_lsp.netsharp.lower import build_graph

    return load_model(_path(path), build_graph)


def save(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model file, whole or not at all.  Raises ValueError where it cannot be written."""
    from netsharp_engine.model import save_model

    save_model(model, _path(path))


def predict(model: Model | str | os.PathLike[str], x: npt.ArrayLike) -> npt.NDArray[Any]:
    """The answers [rows] for features [rows, columns]: names of classes, or float64 numbers.

    ``model`` is a model or the path of its file.  Raises ValueError for features that do not
    fit.  ``model.predict(x).probabilities`` has the probability of each class.
    """
    import numpy

    trained = load(model) if isinstance(model, str | os.PathLike) else model
    matrix: npt.NDArray[np.floating] = numpy.asarray(x, dtype=trained.settings.dtype)
    if matrix.ndim != 2 or matrix.shape[1] != trained.encoding.features:
        raise ValueError(
            f"The features have the shape {matrix.shape}; the model needs rows of "
            f"{trained.encoding.features} features."
        )
    return numpy.asarray(trained.predict(matrix).predicted)


def _bytes(specification: str | os.PathLike[str]) -> bytes:
    """The text as UTF-8 without a byte-order mark; a path is read."""
    if isinstance(specification, str):
        from netsharp_lsp.text.decode import encode_text

        return encode_text(specification.removeprefix("\ufeff"))
    from netsharp_engine.plain_files import open_plain
    from netsharp_lsp.text.decode import DecodeError, decode

    with open_plain(_path(specification)) as stream:
        source = decode(stream.read())
    if isinstance(source, DecodeError):
        raise ValueError(f"{os.fspath(specification)}: {source.message}")
    return source.text


def _path(path: str | os.PathLike[str]) -> str:
    """The name of a file; ValueError for one that no file can have."""
    name = os.fsdecode(path)
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        raise ValueError(f"{name!a} names no file: it holds half of a character.") from None
    if "\0" in name:
        raise ValueError(f"{name!a} names no file: it holds a null character.")
    return name


def _context(
    features: int | None,
    hidden_nodes: int | None,
    outputs: int | None,
    task: str | None,
    host: str | None,
) -> Context:
    """What a caller knows around a specification; ValueError for what cannot be."""
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


def _diagnostics(data: bytes, context: Context) -> list[Diagnostic]:
    from netsharp_lsp.diagnostics.selection import Selection
    from netsharp_lsp.language import examine
    from netsharp_lsp.netsharp import LANGUAGE
    from netsharp_lsp.text.lines import LineIndex

    lines = LineIndex(data)
    found = examine(LANGUAGE, lines, context, Selection())
    return [
        Diagnostic(
            each.code,
            each.severity,
            each.message,
            *lines.position(each.start),
            *lines.position(each.end),
        )
        for each in found
    ]


def _raise_errors(data: bytes, context: Context) -> None:
    errors = [found for found in _diagnostics(data, context) if found.severity == "error"]
    if errors:
        raise SpecificationError(errors)


def __getattr__(name: str) -> Any:
    if name not in _ESTIMATORS:
        raise AttributeError(f"module 'netsharp' has no attribute '{name}'")
    try:
        from netsharp_lsp import estimators
    except ImportError as error:
        if (error.name or "").partition(".")[0] != "sklearn":
            raise
        raise ImportError(
            f"netsharp.{name} needs scikit-learn: pip install 'netsharp[sklearn]'."
        ) from None
    return getattr(estimators, name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_ESTIMATORS])
