"""Images, as the block of an ImageReader or an ImageDeserializer describes them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple
from xml.etree import ElementTree

from netsharp_engine.cntk.images.decoding import black, pixels
from netsharp_engine.cntk.images.maps import ImageList, image_bytes
from netsharp_engine.cntk.images.pictures import (
    ImageStreams,
    Pictures,
    PictureSweeps,
    survey_images,
)
from netsharp_engine.cntk.images.resizing import KINDS
from netsharp_engine.cntk.images.transforms import (
    Color,
    Crop,
    Draws,
    Intensity,
    Mean,
    Scale,
    Transform,
    changed,
)
from netsharp_engine.cntk.samples.faults import IgnoredFaults
from netsharp_engine.data.errors import DataError
from netsharp_lsp.cntk.configuration.arrays import elements
from netsharp_lsp.cntk.configuration.records import is_block
from netsharp_lsp.cntk.configuration.scope import Found
from netsharp_lsp.cntk.training.options import Options
from netsharp_lsp.cntk.training.refusals import FilesRefused, Refused, RunRefusal, where_of
from netsharp_lsp.cntk.training.samples.text_files import located
from netsharp_lsp.cntk.training.samples.word_lists import sections, where_of_option
from netsharp_lsp.workspace import outside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from netsharp_engine.cntk.generators import Array
    from netsharp_engine.cntk.samples.faults import DataSurvey
    from netsharp_engine.cntk.samples.minibatches import Sweeps
    from netsharp_engine.cntk.samples.text_format import Sequences
    from netsharp_engine.cntk.samples.truncated import Cut
    from netsharp_lsp.cntk.networks.node import Where
    from netsharp_lsp.cntk.run.files import RunFiles

#: Orders of numbers in which the channel is fastest.
_BY_PIXEL = ("nhwc", "legacy")
_DRAWN = (
    "CNTK drew the random changes of images with a generator for each thread; here they depend on "
    "the seed, the pass over the data and the image, and never on threads. So the numbers differ "
    "from CNTK's."
)
_SCALED = (
    "Images are resized in float64 and rounded once; OpenCV rounds intermediate values, so that a "
    "number may differ by 1 (interpolations=linear is nearly the same)."
)
_ROUNDED = ("cubic", "lanczos")
#: Sides of an image that are not read, where a Scale sets its size.
_ANY = 64
#: Rows, columns and channels of a mean are no more.
_LARGEST_EXTENT = 1e9
_ENTITY = re.compile(rb"<!(DOCTYPE|ENTITY)")


class ImageFile(NamedTuple):
    """The images of a list, and the options to read them."""

    path: str
    where: Where
    listed: ImageList
    streams: ImageStreams
    size: int

    @property
    def sizes(self) -> Mapping[str, int]:
        """The numbers of a sample, by stream."""
        return {self.streams.features: self.size, self.streams.labels: self.listed.classes}

    @property
    def files(self) -> tuple[ImageFile]:
        """The file itself."""
        return (self,)

    @property
    def most_errors(self) -> int:
        """Return the number of skipped errors: none."""
        return 0

    @property
    def key(self) -> object:
        """Return a key that is equal for equal reads."""
        return self.path, self.listed.classes, self.streams.grey

    def read(self, dtype: str) -> Sequences:
        """Return its samples; DataError where it cannot be used."""
        return self.pictures(dtype).sequences()

    def pictures(self, dtype: str) -> Pictures:
        """Return its images."""
        found = Pictures(self.listed, self.streams, dtype)
        transforms = self.streams.transforms
        if any(isinstance(one, Scale) and one.kind in _ROUNDED for one in transforms):
            found.warnings.append(_SCALED)
        if any(map(is_random, transforms)):
            found.warnings.append(_DRAWN)
        return found

    def survey(self) -> DataSurvey:
        """Return all its faults; DataError where it cannot be read."""
        return survey_images(self.listed, self.streams)

    def sweeps(self, sequences: Sequences, randomize: bool, cut: Cut | None) -> Sweeps:
        """Return its images in order; each is a chunk of its own, and chunks are shuffled."""
        if cut is not None:
            raise DataError("images are not sequences and cannot be cut. Remove truncated.")
        pictures = getattr(sequences.again, "__self__", None)
        assert isinstance(pictures, Pictures)
        return PictureSweeps(sequences, [pictures], randomize, 1)


def image_file(options: Options, files: RunFiles) -> ImageFile:
    """Return the list of an ImageReader."""
    found = list(sections(options))
    features = [one for one in found if one[1].scope.here(b"width") is not None]
    labels = [one for one in found if one[1].scope.here(b"labelDim") is not None]
    _demand_one(options, "ImageReader", "width", features, labels)
    name, inner = features[0]
    layout = inner.text("mbFormat", "nchw").lower()
    if layout not in (*_BY_PIXEL, "nchw"):
        reason = f"'mbFormat' is '{layout}', not one of nchw, nhwc, legacy."
        raise Refused(RunRefusal(reason, where_of_option(inner, "mbFormat")))
    crop = _crop(inner)
    transforms: list[Transform] = [crop, _scale(inner), _color(inner)]
    transforms += [*_intensity(inner, files), *_mean(inner, files)]
    grey = options.truth("grayscale", _whole(inner, "channels") == 1)
    many = crop.kind == "multiview10" or inner.truth("multiViewCrop", False)
    streams = ImageStreams(
        name,
        labels[0][0],
        tuple(transforms),
        layout == "nchw",
        grey,
        many,
        inner.whole("seed", 0),
        max(options.whole("numCPUThreads", 0), 0),
    )
    return _made(options, files, labels[0][1], streams)


def image_deserializer(options: Options, files: RunFiles) -> ImageFile:
    """Return the list of an ImageDeserializer with its transforms in order."""
    found = options.found("input")
    inputs = list(sections(Options(options.scope.inside(found)))) if found is not None else []
    features = [one for one in inputs if one[1].scope.here(b"transforms") is not None]
    labels = [one for one in inputs if one[1].scope.here(b"labelDim") is not None]
    _demand_one(options, "ImageDeserializer", "transforms", features, labels)
    name, inner = features[0]
    transforms: list[Transform] = []
    by_channel, seed = False, 0
    for one in _listed(inner):
        kind = one.text("type")
        seed = one.whole("seed", seed)
        if kind == "Transpose":
            by_channel = True
        elif kind in _TRANSFORMS:
            transforms += _TRANSFORMS[kind](one, files)
        elif kind != "Cast":
            reason = f"'type' of a transform is '{kind}', not one of {', '.join(_TRANSFORMS)}."
            raise Refused(RunRefusal(reason, where_of_option(one, "type")))
    streams = ImageStreams(
        name,
        labels[0][0],
        tuple(transforms),
        by_channel,
        options.truth("grayscale", False),
        options.truth("multiViewCrop", False),
        seed,
    )
    return _made(options, files, labels[0][1], streams)


def _demand_one(
    options: Options,
    reader: str,
    key: str,
    features: Sequence[object],
    labels: Sequence[object],
) -> None:
    if len(features) != 1 or len(labels) != 1:
        reason = (
            f"{reader} needs one block of images (with {key}) and one of labels (with labelDim), "
            f"and there are {len(features)} and {len(labels)}."
        )
        raise Refused(RunRefusal(reason, where_of(options.scope.text)))


def _listed(options: Options) -> Iterator[Options]:
    """Yield the blocks in the list of transforms."""
    found = options.found("transforms")
    for part in (elements(found.text) or ()) if found is not None else ():
        if found is not None and is_block(part.text):
            yield Options(options.scope.inside(Found(found.entry, found.scope, part)))


def _made(options: Options, files: RunFiles, labels: Options, streams: ImageStreams) -> ImageFile:
    path, where = located(options, files)

    def locate(image: str) -> str:
        return "" if files.outside(image) else files.locate(image)

    listed = ImageList(path, _whole(labels, "labelDim"), locate)
    scaled = [one for one in streams.transforms if isinstance(one, Scale)]
    channels = 1 if streams.grey else 3
    if any(one.channels != channels for one in scaled):
        reason = (
            f"'channels' is {scaled[-1].channels}, and images are read with {channels}. "
            "grayscale=true reads one channel, grayscale=false three."
        )
        raise Refused(RunRefusal(reason, where))
    try:
        image = black(_ANY, _ANY, channels) if scaled else _first(listed, streams.grey)
        numbers = changed(image, streams.transforms, Draws(0, 0, 0, 0), "float32", by_channel=True)
    except DataError as error:
        looked_at = ImageFile(path, where, listed, streams, 0)
        raise FilesRefused([RunRefusal(str(error), where)], [looked_at]) from None
    return ImageFile(path, where, listed, streams, len(numbers))


def _first(listed: ImageList, grey: bool) -> Array:
    """Return the first image, whose size is that of all where none is given."""
    for _, _, image in listed.images(IgnoredFaults()):
        return pixels(image_bytes(image), image.path, grey)
    raise DataError(f"{listed.path}: lists no image.")


def _crop(options: Options) -> Crop:
    kind = options.text("cropType", "center").lower() or "center"
    jitter = options.text("jitterType", "none").lower() or "none"
    ratios = options.reals("cropRatio") or [1.0]
    low, high = ratios[0], ratios[min(1, len(ratios) - 1)]
    if kind not in ("center", "random", "multiview10"):
        reason = f"'cropType={kind}' is not supported; center, random and multiview10 are."
        raise Refused(RunRefusal(reason, where_of_option(options, "cropType")))
    if jitter not in ("none", "uniratio"):
        reason = (
            f"'jitterType={jitter}' is not supported, nor by CNTK of November 2016; uniRatio is."
        )
        raise Refused(RunRefusal(reason, where_of_option(options, "jitterType")))
    if not 0 < low <= high <= 1:
        reason = "'cropRatio' has to be above 0 and at most 1, the smaller one first."
        raise Refused(RunRefusal(reason, where_of_option(options, "cropRatio")))
    is_given = options.scope.here(b"hflip") is not None
    flips = options.truth("hflip", False) if is_given else kind == "random"
    radii = _radii(options, "aspectRatioRadius")
    jitters = jitter == "uniratio" and low < high
    return Crop(kind, (low, high), jitters, flips and kind != "multiview10", radii)


def _scale(options: Options) -> Scale:
    kind = options.text("interpolations", "linear").lower()
    mode, value = options.text("scaleMode", "fill"), options.whole("padValue", -1)
    if kind not in KINDS:
        reason = f"'interpolations' is '{kind}', not one of {', '.join(KINDS)}."
        raise Refused(RunRefusal(reason, where_of_option(options, "interpolations")))
    if mode not in ("fill", "crop", "pad") or value < -1:
        reason = "'scaleMode' has to be fill, crop or pad, and 'padValue' -1 or more."
        raise Refused(RunRefusal(reason, where_of_option(options, "scaleMode")))
    columns, rows, channels = (_whole(options, key) for key in ("width", "height", "channels"))
    if channels not in (1, 3):
        reason = f"'channels' is {channels}, and images have 3 or 1."
        raise Refused(RunRefusal(reason, where_of_option(options, "channels")))
    return Scale(columns, rows, channels, kind, mode, value)


def _color(options: Options) -> Color:
    keys = ("brightnessRadius", "contrastRadius", "saturationRadius")
    return Color(*(_radii(options, key) for key in keys))


def _intensity(options: Options, files: RunFiles) -> list[Transform]:
    width = tuple(options.reals("intensityStdDev")) or (0.0,)
    found = _numbers_of(options, "intensityFile", files, ("EigVal", "EigVec"))
    if found is None or not any(width):
        return []
    values, vectors = found["EigVal"], found["EigVec"]
    if len(values) != 3 or len(vectors) != 9:
        reason = (
            f"'{options.path('intensityFile')}' needs 3 numbers in EigVal and 3 x 3 in EigVec, and "
            f"has {len(values)} and {len(vectors)}."
        )
        raise Refused(RunRefusal(reason, where_of_option(options, "intensityFile")))
    rows = tuple(tuple(vectors[at : at + 3]) for at in (0, 3, 6))
    return [Intensity(tuple(values), rows, width)]


def _mean(options: Options, files: RunFiles) -> list[Transform]:
    found = _numbers_of(options, "meanFile", files, ("MeanImg", "Row", "Col", "Channel"))
    if found is None:
        return []
    shape = tuple(map(_extent, (found[key] for key in ("Row", "Col", "Channel"))))
    numbers = found["MeanImg"]
    if min(shape) < 1 or len(numbers) != shape[0] * shape[1] * shape[2]:
        reason = (
            f"'{options.path('meanFile')}' has Row, Col and Channel {', '.join(map(str, shape))}, "
            f"and MeanImg has {len(numbers):,} numbers."
        )
        raise Refused(RunRefusal(reason, where_of_option(options, "meanFile")))
    return [Mean(numbers, shape)]


def _numbers_of(
    options: Options, key: str, files: RunFiles, names: Sequence[str]
) -> dict[str, list[float]] | None:
    """Return the numbers of some elements of an XML file of OpenCV's; None where no file is
    named.
    """
    path = options.path(key)
    if not path:
        return None
    where = where_of_option(options, key)
    if files.outside(path):
        raise Refused(RunRefusal(outside(path), where))
    data = files.read(path)
    if data is None:
        raise Refused(RunRefusal(f"the file '{path}', which '{key}' names, does not exist.", where))
    try:
        if _ENTITY.search(data):
            raise ValueError("it declares entities, which are not read")
        root = ElementTree.fromstring(data)
        return {name: _held(root.find(name)) for name in names}
    except (ElementTree.ParseError, ValueError) as error:
        reason = f"'{path}' is not an XML file of OpenCV with {', '.join(names)}: {error}."
        raise Refused(RunRefusal(reason, where)) from None


def _extent(numbers: Sequence[float]) -> int:
    """Return the size in an element, 0 where it is not a size."""
    return int(numbers[0]) if numbers and 1 <= numbers[0] <= _LARGEST_EXTENT else 0


def _held(found: ElementTree.Element | None) -> list[float]:
    """Return the numbers of an element, of a matrix those of its data; ValueError for other
    words.
    """
    if found is None:
        raise ValueError("one of these is missing")
    data = found.find("data")
    words = (found if data is None else data).text or ""
    return [float(word) for word in words.split()]


def _radii(options: Options, key: str) -> tuple[float, ...]:
    """Return a radius for each epoch."""
    found = tuple(options.reals(key)) or (0.0,)
    if not all(0 <= one <= 1 for one in found):
        raise Refused(RunRefusal(f"'{key}' has to be from 0 to 1.", where_of_option(options, key)))
    return found


def _whole(options: Options, key: str) -> int:
    """Return a required number, which has to be 1 or more."""
    options.required(key, "a block of images")
    found = options.whole(key, 0)
    if found < 1:
        reason = f"'{key}' has to be 1 or more."
        raise Refused(RunRefusal(reason, where_of_option(options, key)))
    return found


def is_random(one: Transform) -> bool:
    """Return whether a transform changes images at random."""
    if isinstance(one, Crop):
        return one.kind == "random" or one.flips or one.jitters or any(one.aspect)
    if isinstance(one, Color):
        return any(map(any, one))
    return isinstance(one, Intensity)


_TRANSFORMS: Mapping[str, Callable[[Options, RunFiles], list[Transform]]] = {
    "Crop": lambda options, files: [_crop(options)],
    "Scale": lambda options, files: [_scale(options)],
    "Color": lambda options, files: [_color(options)],
    "Intensity": _intensity,
    "Mean": _mean,
}
