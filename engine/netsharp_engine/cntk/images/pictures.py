"""Images of a list as samples: read, transformed and packed when a minibatch needs them, by several
threads whose number changes no result.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from netsharp_engine.cntk.generators import Array
from netsharp_engine.cntk.images.decoding import pixels
from netsharp_engine.cntk.images.maps import ImageList, Listed, image_bytes
from netsharp_engine.cntk.images.transforms import VIEWS, Draws, Transform, changed
from netsharp_engine.cntk.samples.faults import AllowedFaults, DataSurvey, LineFault
from netsharp_engine.cntk.samples.minibatches import Minibatch, Sweeps
from netsharp_engine.cntk.samples.sentences import one_hot
from netsharp_engine.cntk.samples.text_format import Sequences
from netsharp_engine.data.errors import DataError
from netsharp_engine.packing import Indices
from netsharp_engine.program import Sparse


class ImageStreams(NamedTuple):
    """The streams that images provide: their numbers after the transforms, and labels; of ten
    ``views`` each where asked for.

    ``threads`` read them, 0 for the number of processors.
    """

    features: str
    labels: str
    transforms: Sequence[Transform]
    by_channel: bool = True
    grey: bool = False
    views: bool = False
    seed: int = 0
    threads: int = 0


class Pictures:
    """The images of a list, of which some are asked for; ``at`` says in which pass and epoch."""

    def __init__(self, listed: ImageList, streams: ImageStreams, dtype: str) -> None:
        faults = AllowedFaults(listed.path, 0)
        found = [image for _, _, image in listed.images(faults)]
        if not found:
            raise DataError(f"{listed.path}: names no image.")
        times = VIEWS if streams.views else 1
        self.images: Sequence[Listed] = [one for one in found for _ in range(times)]
        self.warnings = faults.finish()
        self._classes, self._streams, self._dtype = listed.classes, streams, dtype
        self._sweep = self._epoch = 0

    def at(self, sweep: int, epoch: int) -> None:
        """Go to a pass and an epoch, both from 0."""
        self._sweep, self._epoch = sweep, epoch

    def sequences(self) -> Sequences:
        """Return the images as sequences of one sample, each a chunk."""
        keys = [one.key for one in self.images]
        return Sequences({}, [1] * len(keys), self.warnings, again=self.read, keys=keys)

    def read(self, chosen: Indices) -> Mapping[str, Array | Sparse]:
        """Return some images, [images, numbers], and their labels, by stream. Raises DataError for
        an image that cannot be read, or whose transforms give another number of values than those
        of the others.
        """
        numbers = chosen.tolist()
        threads = min(self._streams.threads or os.cpu_count() or 1, len(numbers))
        if threads > 1:
            with ThreadPoolExecutor(threads) as pool:
                rows = list(pool.map(self._one, numbers))
        else:
            rows = [self._one(number) for number in numbers]
        self._demand_alike(numbers, rows)
        labels = np.array([self.images[one].label for one in numbers], np.intp)
        return {
            self._streams.features: np.stack(rows),
            self._streams.labels: one_hot(labels, self._dtype),
        }

    def _one(self, number: int) -> Array:
        image, streams = self.images[number], self._streams
        found = pixels(image_bytes(image), image.path, streams.grey)
        draws = Draws(streams.seed, self._sweep, self._epoch, number)
        try:
            return changed(
                found, streams.transforms, draws, self._dtype, by_channel=streams.by_channel
            )
        except DataError as error:
            raise DataError(f"{image.path}: {error}") from None

    def _demand_alike(self, numbers: Sequence[int], rows: Sequence[Array]) -> None:
        """Refuse images of several sizes."""
        for number, row in zip(numbers, rows, strict=True):
            if len(row) != len(rows[0]):
                raise DataError(
                    f"{self.images[number].path}: has {len(row):,} numbers after all transforms, "
                    f"and {self.images[numbers[0]].path} {len(rows[0]):,}. Give a Scale."
                )


def survey_images(listed: ImageList, streams: ImageStreams) -> DataSurvey:
    """Return all faults of a list and of its images."""
    survey = DataSurvey()
    for number, line, image in listed.images(survey):
        try:
            pixels(image_bytes(image), image.path, streams.grey)
        except DataError as error:
            survey.add(LineFault(number, line, 0, 0, str(error), counts=False, ends=True))
    return survey


class PictureSweeps(Sweeps):
    """Sequences among which are images, which learn in which pass and epoch they are."""

    def __init__(
        self,
        sequences: Sequences,
        pictures: Sequence[Pictures],
        randomize: bool,
        window: int | None,
    ) -> None:
        super().__init__(sequences, randomize, window)
        self._pictures, self._epoch = pictures, 0

    def epoch(self, number: int, size: int, samples: int) -> Iterator[Minibatch]:
        """Yield the minibatches of an epoch (from 0)."""
        self._epoch = number
        for batch in super().epoch(number, size, samples):
            yield batch
            self._epoch = number

    def minibatch(self, chosen: Indices) -> Minibatch:
        """Return the minibatch of the images with these indexes, [images]."""
        for one in self._pictures:
            one.at(max(self._sweep, 0), self._epoch)
        return super().minibatch(chosen)
