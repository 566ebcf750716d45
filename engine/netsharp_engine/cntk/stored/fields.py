"""The layout of single attributes of nodes in a file, and the versions that have them. It must not
know nodes' types.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from netsharp_engine.cntk.stored.binary import BinaryReading, BinaryWriting

#: The newest version.
LATEST = 99
#: How a number of a node's own precision is packed.
REALS = {"float16": "e", "float32": "f", "float64": "d"}


class NodePlace(NamedTuple):
    """The context in which an attribute is read: version of the model, precision and name of the
    node.
    """

    version: int
    dtype: str
    name: str


class Codec(NamedTuple):
    """The functions that read and write a value."""

    read: Callable[[BinaryReading, NodePlace], Any]
    write: Callable[[BinaryWriting, Any, NodePlace], None]


class Field(NamedTuple):
    """An attribute by its name, present from one version to another.

    A name that begins with a full stop is none of the node's attributes: `.shape` and `.matrix`
    are parts of it, others are kept for the file alone.  ``default`` is what is written where a
    node lacks it, ``quiet``: read so, the node does not mention it.
    """

    key: str
    codec: Codec
    default: Any = None
    since: int = 1
    until: int = LATEST
    quiet: bool = False


def read_fields(given: BinaryReading, fields: Iterable[Field], place: NodePlace) -> dict[str, Any]:
    """Return the values of those fields that the version has."""
    found: dict[str, Any] = {}
    for field in fields:
        if field.since <= place.version <= field.until:
            value = field.codec.read(given, place)
            if not (field.quiet and value == field.default):
                found[field.key] = value
    return found


def write_fields(
    out: BinaryWriting, fields: Iterable[Field], found: Mapping[str, Any], place: NodePlace
) -> None:
    """Write those fields that the version has."""
    for field in fields:
        if field.since <= place.version <= field.until:
            field.codec.write(out, found.get(field.key, field.default), place)


def packed(form: str, kind: Callable[[Any], Any] = int) -> Codec:
    """Return the codec of one number, formatted as by `struct`."""
    return Codec(
        lambda given, place: kind(given.take(form)[0]),
        lambda out, value, place: out.pack(form, kind(value)),
    )


def _read_truths(given: BinaryReading, place: NodePlace) -> tuple[bool, ...]:
    at, count = given.at, given.size()
    if count > given.left:
        raise given.fault(f"a list of {count:,} truths does not fit into the file", at)
    return tuple(map(bool, given.take(f"{count}?")))


def _write_truths(out: BinaryWriting, values: Sequence[bool], place: NodePlace) -> None:
    out.size(len(values))
    out.pack(f"{len(values)}?", *values)


def words(names: Sequence[str], form: str = "i") -> Codec:
    """Return the codec of one of several words by its number."""

    def read(given: BinaryReading, place: NodePlace) -> str:
        at, number = given.at, given.whole(form)
        if not 0 <= number < len(names):
            raise given.fault(f"{number} is expected to be less than {len(names)}", at)
        return names[number]

    return Codec(read, lambda out, value, place: out.pack(form, names.index(value)))


def _read_own(given: BinaryReading, place: NodePlace) -> float:
    return float(given.take(REALS[place.dtype])[0])


class ShortSeed(int):
    """A seed of the four bytes that programs of one version wrote on Windows."""


def _write_seed(out: BinaryWriting, value: int, place: NodePlace) -> None:
    out.pack("I" if isinstance(value, ShortSeed) else "Q", value)


#: The one version whose seeds have the width of the machine that wrote them.
SHORT_SEEDS = 16


def _read_seed(given: BinaryReading, place: NodePlace) -> int:
    """Return a seed; where its width depends on the machine, the width after which the file
    continues validly.
    """
    if place.version == SHORT_SEEDS:
        at = given.at
        for form in ("Q", "I"):
            given.at = at
            if given.left < 16:
                continue
            seed = given.whole(form)
            end = given.at
            given.size()
            fits = any(given.starts(mark) for mark in (*REALS_IN_FILES, "ENodeList"))
            given.at = end
            if fits:
                return seed if form == "Q" else ShortSeed(seed)
        given.at = at
    return given.size()


#: The names of precisions in a file.
REALS_IN_FILES = {"float": "float32", "double": "float64", "half": "float16"}

SIZE, WHOLE, LONG, UNSIGNED = packed("Q"), packed("i"), packed("q"), packed("I")
REAL, DOUBLE, TRUTH = packed("f", float), packed("d", float), packed("?", bool)
OWN = Codec(_read_own, lambda out, value, place: out.pack(REALS[place.dtype], value))
TEXT = Codec(lambda given, place: given.text(), lambda out, value, place: out.text(value))
SHAPE = Codec(lambda given, place: given.shape(), lambda out, value, place: out.shape(value))
OLD_SHAPE = Codec(
    lambda given, place: given.old_shape(), lambda out, value, place: out.shape(value)
)
TRUTHS = Codec(_read_truths, _write_truths)
SEED = Codec(_read_seed, _write_seed)
