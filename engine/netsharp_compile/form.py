"""The encoding of rows and the meaning of answers: all of a trained model except its numbers.

The manifest contains it, so that a manifest is enough to answer rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from netsharp_engine import stored
from netsharp_engine.data import Encoding, ReadOptions
from netsharp_engine.data.scaling import TargetScale
from netsharp_engine.data.stream import EncodedRows, RowQuery, stream_rows
from netsharp_engine.model.naming import names_of_answers, names_of_numbers
from netsharp_engine.train.objective import Objective

if TYPE_CHECKING:
    from netsharp_engine.model import Model

_TYPES = ("float32", "float64")


class RowStream(NamedTuple):
    """An input of a network whose inputs go by names, and the numbers of a sample."""

    name: str
    size: int


@dataclass(frozen=True, slots=True)
class ModelForm:
    """The encoding of rows, the type of their numbers ("float32", "float64"), the meaning of
    outputs, and for a network with named inputs these, whose numbers are the features one after the
    other.
    """

    encoding: Encoding
    dtype: str
    objective: Objective
    streams: tuple[RowStream, ...] = ()

    @classmethod
    def of(cls, model: Model) -> ModelForm:
        """Return the form of a model; ModelError for one that has no network."""
        named = model.graph.inputs if model.network is not None else ()
        streams = tuple(RowStream(node.name, node.size) for node in named)
        return cls(model.encoding, model.settings.dtype, model.objective, streams)

    @property
    def classes(self) -> tuple[str, ...] | None:
        """Return the names of the classes in the order of the outputs; None of a regression."""
        return self.objective.classes

    def answer_names(self) -> tuple[str, ...]:
        """Return the names of the columns of answers, as `netsharp predict` has them."""
        numbers = names_of_numbers(self.encoding, self.objective.outputs)
        return names_of_answers(self.classes, numbers)

    def read_options(self) -> ReadOptions:
        """Return the options for reading data where the caller gives none."""
        task = "regression" if self.classes is None else "classification"
        return ReadOptions(label=self.encoding.label, task=task, dtype=self.dtype)

    def rows(
        self, paths: Sequence[str], options: ReadOptions, keep: Sequence[str] = ()
    ) -> Iterator[EncodedRows]:
        """Yield the rows of files in parts, as features that are not normalised, with the texts of
        columns that are kept.  Raises DataError.
        """
        return stream_rows(RowQuery(paths, options, keep), self.encoding)

    def to_json(self) -> dict[str, Any]:
        """Return plain values for the manifest."""
        meant = self.objective
        return {
            "encoding": self.encoding.to_json(),
            "type": self.dtype,
            "classes": None if meant.classes is None else list(meant.classes),
            "activation": meant.activation,
            "loss": meant.loss,
            "scale": None if meant.scale is None else meant.scale.to_json(),
            **({"streams": [one._asdict() for one in self.streams]} if self.streams else {}),
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any], outputs: int) -> ModelForm:
        """Return the form of plain values for a number of outputs; ValueError for invalid
        values.
        """
        dtype = stored.text(values, "type")
        if dtype not in _TYPES:
            raise ValueError(f"its rows have the unknown type '{dtype[:20]}'")
        names = stored.optional(values, "classes", stored.items)
        classes = None if names is None else tuple(stored.as_text(one, "class") for one in names)
        if classes is not None and len(classes) != (2 if outputs == 1 else outputs):
            raise ValueError("it has another number of classes than of outputs")
        found = stored.optional(values, "scale", stored.table)
        scale = None if found is None else TargetScale.from_json(found)
        if scale is not None and len(scale.mean) != outputs:
            raise ValueError("its label has another number of scales")
        loss, activation = stored.text(values, "loss"), stored.text(values, "activation")
        encoding = Encoding.from_json(stored.table(values, "encoding"))
        objective = Objective(classes, outputs, activation, loss, scale)
        return cls(encoding, dtype, objective, _streams(values, encoding.features))


def _streams(values: Mapping[str, Any], features: int) -> tuple[RowStream, ...]:
    """Return the inputs of plain values; ValueError where their sizes are not those of the
    features.
    """
    if "streams" not in values:
        return ()
    found = tuple(
        RowStream(stored.text(one, "name"), stored.whole(one, "size"))
        for one in stored.items(values, "streams")
    )
    sizes = [one.size for one in found]
    if min(sizes, default=0) < 1 or sum(sizes) != features:
        raise ValueError("its inputs have other numbers than the features")
    if len({one.name for one in found}) < len(found):
        raise ValueError("two of its inputs have one name")
    return found
