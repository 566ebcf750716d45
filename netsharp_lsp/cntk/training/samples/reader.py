"""The samples that the block of a reader describes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from netsharp_engine.data.errors import DataError, nearest
from netsharp_engine.plain_files import open_plain
from netsharp_lsp.cntk.configuration.options import DEFAULT_READER, READERS
from netsharp_lsp.cntk.networks.node import elements
from netsharp_lsp.cntk.training.options import Options
from netsharp_lsp.cntk.training.refusals import Refused, RunRefusal, UnreadFileError, where_of
from netsharp_lsp.cntk.training.samples.column_files import column_file
from netsharp_lsp.cntk.training.samples.composite_files import composite_file
from netsharp_lsp.cntk.training.samples.image_files import image_file
from netsharp_lsp.cntk.training.samples.sentence_files import sentence_file
from netsharp_lsp.cntk.training.samples.tag_files import tagged_file
from netsharp_lsp.cntk.training.samples.text_files import text_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from netsharp_engine.cntk.samples.minibatches import Sweeps
    from netsharp_engine.cntk.samples.text_format import Sequences
    from netsharp_engine.cntk.samples.truncated import Cut
    from netsharp_lsp.cntk.configuration.scope import Found, Scope
    from netsharp_lsp.cntk.networks.node import Node
    from netsharp_lsp.cntk.run.files import RunFiles
    from netsharp_lsp.cntk.training.refusals import SurveyedFile

_NEVER = ("none", "0")
#: Options of readers that are made of several.
_COMPOSED, _JOINED = "deserializers", "readers"


class DataFile(Protocol):
    """The data of a reader, as its block describes them."""

    @property
    def path(self) -> str:
        """Return the path of the file, or of the first of several."""

    @property
    def files(self) -> Sequence[SurveyedFile]:
        """Return the files that are read."""

    @property
    def sizes(self) -> Mapping[str, int]:
        """Return the numbers of a sample, by stream."""

    def read(self, dtype: str) -> Sequences:
        """Return its samples; DataError where it cannot be used."""

    def sweeps(self, sequences: Sequences, randomize: bool, cut: Cut | None) -> Sweeps:
        """Return its samples in order, in pieces of sequences where these are ``cut``; with one
        more warning where the order is not known to be CNTK's.
        """


class SampleReader:
    """The settings of a reader's block; `source` reads the file."""

    def __init__(self, scope: Scope, file: DataFile, randomize: bool) -> None:
        self._where = where_of(scope.text)
        self.options = Options(scope)
        #: The inputs along each dynamic axis.
        self._axes: dict[str, list[str]] = {}
        self.file = file
        self.randomize = randomize

    def fit(self, inputs: Iterable[Node]) -> None:
        """Refuse inputs that no stream provides, or provides with another size."""
        inputs = list(inputs)
        for node in inputs:
            self._axes.setdefault(node.text("dynamicAxis"), []).append(node.name)
        sizes = self.file.sizes
        for node in inputs:
            held, size = sizes.get(node.name), elements(node.shape or ())
            if held is None:
                reason = f"no stream has the name '{node.name}' of an input of the network."
                raise Refused(RunRefusal(reason + nearest(node.name, sizes), self._where))
            if held != size:
                reason = f"'{node.name}' has dim={held} here, and the network's has {size}."
                raise Refused(RunRefusal(reason, self._where))

    def source(self, dtype: str, cut: Cut | None = None) -> Sweeps:
        """Return the samples, in pieces of sequences where these are ``cut``; DataError where the
        file cannot be used, UnreadFileError with the place that names it where it cannot be opened.
        """
        sequences = self.sequences(dtype)
        for names in self._axes.values():
            for other in names[1:]:
                self._compare(sequences, names[0], other)
        try:
            return self.file.sweeps(sequences, self.randomize, cut)
        except DataError as error:
            raise DataError(f"{self.file.path}: {error}") from None

    def sequences(self, dtype: str) -> Sequences:
        """Return the samples in file order; DataError and UnreadFileError likewise."""
        for one in self.file.files:
            _demand_readable(one)
        return self.file.read(dtype)

    def _compare(self, sequences: Sequences, first: str, second: str) -> None:
        """Refuse sequences of different lengths along one axis."""
        place = sequences.differing(first, second)
        if place is not None:
            number, one, other = place
            raise DataError(
                f"{self.file.path}: sequence {number + 1:,} has {one:,} samples of '{first}' and "
                f"{other:,} of '{second}', which run along the same dynamic axis. Give one of them "
                "a DynamicAxis of its own."
            )


def _demand_readable(file: SurveyedFile) -> None:
    try:
        with open_plain(file.path):
            return
    except OSError as error:
        sentence = f"{file.path}: cannot be read: {error.strerror}."
        raise UnreadFileError(sentence, file.where) from None


class _Kind(NamedTuple):
    """A type of reader: the function that makes a file of its block, and whether `randomize` is a
    truth value there, rather than a window of samples.
    """

    file: Callable[[Options, RunFiles], DataFile]
    is_truth: bool
    #: Only a reader that is asked for it shuffles.
    is_asked: bool = False


#: What is read, by the names of readers in lower case.
_KINDS = {
    DEFAULT_READER.lower(): _Kind(text_file, is_truth=True),
    "ucifastreader": _Kind(column_file, is_truth=False),
    "imagereader": _Kind(image_file, is_truth=False),
    _COMPOSED: _Kind(composite_file, is_truth=True, is_asked=True),
    "lmsequencereader": _Kind(sentence_file, is_truth=False),
    "lusequencereader": _Kind(tagged_file, is_truth=False, is_asked=True),
}


def reader_of(
    found: Found, outer: Scope, files: RunFiles, otherwise: bool, may_randomize: bool = True
) -> SampleReader:
    """Return the reader in a block.

    Samples come in a random order or in that of the file, as `otherwise` sets where the block
    itself does not; it is not `may_randomize` where the order must not change.
    """
    scope = outer.inside(found)
    options = Options(scope)
    name = options.text("readerType", DEFAULT_READER)
    is_composed = options.found(_COMPOSED) is not None
    kind = _KINDS.get(_COMPOSED if is_composed else name.lower())
    is_joined = options.found(_JOINED) is not None
    if kind is None or is_joined:
        place = options.found("readerType")
        where = where_of(found.text if place is None or is_joined else place.text)
        raise Refused(RunRefusal(_why_not(name, is_joined), where))
    is_given = scope.here(b"randomize") is not None
    randomize = otherwise and (is_given or not kind.is_asked)
    if may_randomize and (randomize or is_given):
        never = options.text("randomize").lower() in _NEVER
        randomize = not never and (not kind.is_truth or options.truth("randomize", True))
    return SampleReader(scope, kind.file(options, files), randomize)


def _why_not(name: str, is_joined: bool) -> str:
    """Return why a reader is not supported, by what it reads, and what to do instead."""
    table = READERS.get(name.lower())
    description = table.description if table is not None and not is_joined else ""
    what = "a reader that is made of several" if is_joined else f"the reader {name}"
    reads = f" ({description[:1].lower()}{description[1:].rstrip('.')})" if description else ""
    return (
        f"{what}{reads} is not supported yet. Write the data in CNTK's text format and read them "
        f"by {DEFAULT_READER}."
    )
