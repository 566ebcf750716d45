"""The blocks in a block of a reader, and the small files of words that they name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netsharp_engine.cntk.samples.vocabulary import Classes, Vocabulary
from netsharp_engine.data.errors import DataError
from netsharp_lsp.cntk.configuration.records import is_block
from netsharp_lsp.cntk.configuration.scope import Found
from netsharp_lsp.cntk.training.options import Options
from netsharp_lsp.cntk.training.refusals import Refused, RunRefusal, where_of
from netsharp_lsp.text.numbers import whole_number
from netsharp_lsp.workspace import outside

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from netsharp_lsp.cntk.networks.node import Where
    from netsharp_lsp.cntk.run.files import RunFiles

#: A block with one of these has labels.
_LABELS = (b"labelMappingFile", b"labelDim", b"labelType")
#: Notices about sentences, by the name of the reader.
_SECTION, _OF_LABELS = b"sectionType", b"labels"


def sections(options: Options) -> Iterator[tuple[str, Options]]:
    """Yield the blocks in a block, by name."""
    scope = options.scope
    for entry in scope:
        found = Found(entry, scope, scope.resolved(entry))
        if is_block(found.text.text):
            yield entry.key.decode("utf-8", "replace"), Options(scope.inside(found))


def is_of_labels(options: Options) -> bool:
    """Return whether a block is one of labels."""
    kind = options.scope.here(_SECTION)
    if kind is not None and options.scope.resolved(kind).text == _OF_LABELS:
        return True
    return any(options.scope.here(key) is not None for key in _LABELS)


def in_and_out(
    options: Options, reader: str
) -> tuple[tuple[str, Options], list[tuple[str, Options]]]:
    """Return the block of features, and the two of labels, that of the input first: in the order of
    their names, whatever these are.
    """
    found = sorted(sections(options), key=lambda one: one[0].lower())
    labels = [one for one in found if is_of_labels(one[1])]
    features = [one for one in found if one not in labels and one[1].scope.here(b"dim") is not None]
    if len(labels) != 2:
        reason = (
            f"{reader} needs two blocks of labels (with labelType, labelDim or labelMappingFile), "
            "of which the first by name is the input's, the other the output's, and there are "
            f"{len(labels)}."
        )
        raise Refused(RunRefusal(reason, where_of(options.scope.text)))
    if not features:
        reason = f"{reader} needs a block with dim, whose name is that of the network's input."
        raise Refused(RunRefusal(reason, where_of(options.scope.text)))
    return features[0], labels


def lines_of(options: Options, key: str, files: RunFiles) -> Sequence[bytes] | None:
    """Return the lines of a small file that an option names, without blanks around them; None where
    no file is named, or it does not exist.
    """
    found = options.found(key)
    path = options.path(key)
    if found is None or not path:
        return None
    if files.outside(path):
        raise Refused(RunRefusal(outside(path), where_of(found.text)))
    data = files.read(path)
    return None if data is None else [line.strip() for line in data.split(b"\n")]


def required_lines(options: Options, key: str, files: RunFiles) -> Sequence[bytes]:
    """Return the lines of a small file that is required."""
    found = lines_of(options, key, files)
    if found is None:
        reason = f"the file '{options.path(key)}', which '{key}' names, does not exist."
        raise Refused(RunRefusal(reason, where_of_option(options, key)))
    return found


def where_of_option(options: Options, key: str) -> Where:
    """Return the place of an option, else of its block."""
    found = options.found(key)
    return where_of(options.scope.text if found is None else found.text)


def vocabulary(words: Sequence[bytes], size: int, unknown: str) -> Vocabulary:
    """Return words, numbered in order."""
    ids = {word: number for number, word in enumerate(words)}
    return Vocabulary(ids, max(size, len(words)), unknown.encode())


def number_in(cell: bytes) -> int | None:
    """Return the integer in a cell of a list, of any length; None where it is not an integer."""
    return whole_number(cell.decode("latin-1"))


def classes(of: Sequence[int], options: Options, key: str) -> Classes:
    """Return the classes of words; Refused where they are invalid."""
    try:
        return Classes(of)
    except DataError as error:
        reason = f"'{options.path(key)}': {error}"
        raise Refused(RunRefusal(reason, where_of_option(options, key))) from None
