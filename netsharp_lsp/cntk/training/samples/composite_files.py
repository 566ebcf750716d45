"""Several files read together, as the list `deserializers` of a reader describes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from netsharp_engine.cntk.images.pictures import PictureSweeps
from netsharp_engine.cntk.samples.bundles import Keyed, bundled
from netsharp_engine.cntk.samples.minibatches import Sweeps
from netsharp_engine.cntk.samples.truncated import Truncated
from netsharp_engine.data.errors import DataError
from netsharp_lsp.cntk.configuration.arrays import elements
from netsharp_lsp.cntk.configuration.records import is_block
from netsharp_lsp.cntk.configuration.scope import Found
from netsharp_lsp.cntk.training.options import Options
from netsharp_lsp.cntk.training.refusals import (
    FilesRefused,
    Refused,
    RunRefusal,
    SurveyedFile,
    where_of,
)
from netsharp_lsp.cntk.training.samples.image_files import ImageFile, image_deserializer
from netsharp_lsp.cntk.training.samples.text_files import TextFile, text_file
from netsharp_lsp.cntk.training.samples.word_lists import where_of_option

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from netsharp_engine.cntk.images.pictures import Pictures
    from netsharp_engine.cntk.samples.text_format import Sequences
    from netsharp_engine.cntk.samples.truncated import Cut
    from netsharp_lsp.cntk.networks.node import Where
    from netsharp_lsp.cntk.run.files import RunFiles

_TEXT, _IMAGES = "CNTKTextFormatDeserializer", "ImageDeserializer"


class CompositeFile:
    """Files of text and images, by the keys of the first."""

    def __init__(self, parts: Sequence[TextFile | ImageFile], where: Where, window: int | None):
        self._parts, self.where, self._window = parts, where, window
        self._pictures: list[Pictures] = []
        self.path = parts[0].path

    @property
    def sizes(self) -> Mapping[str, int]:
        """The numbers of a sample, by stream."""
        return {name: size for one in self._parts for name, size in one.sizes.items()}

    @property
    def files(self) -> Sequence[TextFile | ImageFile]:
        """The files that they are read from."""
        return self._parts

    def read(self, dtype: str) -> Sequences:
        """Return its samples; DataError where it cannot be used."""
        self._pictures, found = [], list[Keyed]()
        for one in self._parts:
            if isinstance(one, ImageFile):
                self._pictures.append(one.pictures(dtype))
                sequences = self._pictures[-1].sequences()
            else:
                sequences = one.read(dtype)
            found.append(Keyed(one.path, sequences, sequences.keys, tuple(one.sizes)))
        return found[0].sequences if len(found) == 1 else bundled(found)

    def sweeps(self, sequences: Sequences, randomize: bool, cut: Cut | None) -> Sweeps:
        """Return its samples in order."""
        shuffled = randomize and self._window != 0
        if self._pictures:
            if cut is not None:
                raise DataError("images are not sequences and cannot be cut. Remove truncated.")
            return PictureSweeps(sequences, self._pictures, shuffled, self._window)
        if cut is not None:
            return Truncated(sequences, shuffled, self._window, cut, self.sizes)
        return Sweeps(sequences, shuffled, self._window)


class _Part(NamedTuple):
    """A deserializer: its block and its type."""

    options: Options
    kind: str


def composite_file(options: Options, files: RunFiles) -> CompositeFile:
    """Return the files of a reader that is made of deserializers."""
    where = where_of_option(options, "deserializers")
    parts = list[TextFile | ImageFile]()
    frames = options.truth("frameMode", False)
    refusals, looked_at = list[RunRefusal](), list[SurveyedFile]()
    for one in _parts(options):
        try:
            parts.append(_read(one, files, frames))
            looked_at.append(parts[-1])
        except Refused as refused:
            refusals += refused.refusals
            looked_at += refused.files if isinstance(refused, FilesRefused) else ()
    if refusals:
        raise FilesRefused(refusals, looked_at)
    if not parts:
        reason = "'deserializers' contains no block."
        raise Refused(RunRefusal(reason, where))
    names = [name for one in parts for name in one.sizes]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        reason = f"two deserializers provide the stream '{twice}'."
        raise Refused(RunRefusal(reason, where))
    return CompositeFile(parts, where, _window(options, parts))


def _read(one: _Part, files: RunFiles, frames: bool) -> TextFile | ImageFile:
    """Return the file of a deserializer; Refused where its type is not supported."""
    if one.kind == _IMAGES:
        return image_deserializer(one.options, files)
    if one.kind != _TEXT:
        reason = (
            f"the deserializer '{one.kind}' is not supported; {_TEXT} and {_IMAGES} are. Write its "
            "data in CNTK's text format."
        )
        raise Refused(RunRefusal(reason, where_of_option(one.options, "type")))
    text = text_file(one.options, files)
    changed = text.options._replace(keys=True, frames=frames)
    return text._replace(options=changed)


def _parts(options: Options) -> list[_Part]:
    found = options.found("deserializers")
    listed = (elements(found.text) or ()) if found is not None else ()
    blocks = [
        Options(options.scope.inside(Found(found.entry, found.scope, part)))
        for part in listed
        if found is not None and is_block(part.text)
    ]
    return [_Part(one, one.text("type")) for one in blocks]


def _window(options: Options, parts: Sequence[TextFile | ImageFile]) -> int | None:
    """Return the number of samples that are shuffled together, None for all; images without other
    files are shuffled one by one.
    """
    if options.found("randomizationWindow") is None:
        return 1 if len(parts) == 1 and isinstance(parts[0], ImageFile) else None
    found = options.whole("randomizationWindow", 0)
    if found < 0:
        where = where_of(options.scope.text)
        raise Refused(RunRefusal("'randomizationWindow' must not be negative.", where))
    return found
