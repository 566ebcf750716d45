"""Lists of images with their labels, one a line, and where the images are.

Source: CNTK, Readers/ImageReader/ImageDataDeserializer.cpp.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Iterator
from itertools import chain
from typing import NamedTuple

from netsharp_engine.cntk.samples.faults import LineFault, LineFaults
from netsharp_engine.cntk.samples.lines import opened
from netsharp_engine.data.errors import DataError
from netsharp_engine.data.reading.arrays import UNREADABLE
from netsharp_engine.excerpt import excerpt
from netsharp_engine.limits import IMAGE_BYTES
from netsharp_engine.plain_files import open_plain

#: Digits of a label, zeros before it included.
_MOST_DIGITS = 18
#: The placeholder of the list's folder.
_HERE = "..."


class Listed(NamedTuple):
    """An image of a list: its key, its file, its place in that where it is an archive, and its
    class.
    """

    key: str
    path: str
    inside: str
    label: int


class ImageList(NamedTuple):
    """A list of images: its file, the number of classes, and the function that resolves a path, ""
    where nothing may be read.
    """

    path: str
    classes: int
    locate: Callable[[str], str]

    def images(self, faults: LineFaults) -> Iterator[tuple[int, bytes, Listed]]:
        """Yield the images, each with the number and the text of its line; invalid lines are left
        out. Raises DataError where the list cannot be read.
        """
        archives: dict[str, frozenset[str]] = {}
        with opened(self.path) as (first, rest):
            for number, whole in enumerate(chain((first,), rest), 1):
                line = whole.rstrip(b"\r\n")
                found = self._image(number, line, archives, faults)
                if found is not None:
                    yield number, line, found

    def _image(
        self, number: int, line: bytes, archives: dict[str, frozenset[str]], faults: LineFaults
    ) -> Listed | None:
        cells = line.split(b"\t")
        if len(cells) < 2 or not all(cells[:3]):
            message = "expected are a path and a label, or a key, a path and a label, between tabs"
            faults.add(LineFault(number, line, 0, 0, message, counts=False, ends=True))
            return None
        key, path, label = cells[:3] if len(cells) > 2 else (b"%d" % (number - 1), *cells)
        at = len(key) + 1 if len(cells) > 2 else 0
        place, (start, end) = path.decode("utf-8", "replace"), (at, at + len(path))
        outer, mark, inner = place.partition("@")
        if outer.startswith(_HERE):
            outer = os.path.join(os.path.dirname(self.path), outer[len(_HERE) :].lstrip("/\\"))
        file, inner = self.locate(outer), inner[1:].replace("\\", "/")
        why = _why_not(file, inner if mark else "", archives)
        message = f"'{_shown(path)}' {why}" if why else ""
        kind = _whole(label.strip())
        if kind is None or kind >= self.classes:
            start, end = end + 1, end + 1 + len(label)
            message = (
                f"'{_shown(label)}' is not a number of a class, which is below {self.classes:,}"
            )
        if message or kind is None:
            faults.add(LineFault(number, line, start, end, message, counts=False, ends=True))
            return None
        return Listed(key.decode("utf-8", "replace"), file, inner, kind)


def image_bytes(image: Listed) -> bytes:
    """Return the bytes of an image; DataError where they cannot be read."""
    where = f"{image.path}@/{image.inside}" if image.inside else image.path
    try:
        with open_plain(image.path) as stream:
            if not image.inside:
                found = stream.read(IMAGE_BYTES.most + 1)
            else:
                with zipfile.ZipFile(stream) as archive, archive.open(image.inside) as member:
                    found = member.read(IMAGE_BYTES.most + 1)
    except UNREADABLE as error:
        message = error.strerror if isinstance(error, OSError) else None
        raise DataError(f"{where}: cannot be read: {message or excerpt(error, 120)}.") from None
    if len(found) > IMAGE_BYTES.most:
        raise DataError(f"{where}: is longer than {IMAGE_BYTES}, which is not read.")
    return found


def _why_not(place: str, inner: str, archives: dict[str, frozenset[str]]) -> str:
    """Return why there is no image; empty where there is one."""
    if not place:
        return "lies outside of the folders that are read"
    if not os.path.isfile(place):
        return "is not a file"
    if not inner:
        return ""
    if place not in archives:
        try:
            with open_plain(place) as stream, zipfile.ZipFile(stream) as archive:
                archives[place] = frozenset(archive.namelist())
        except UNREADABLE:
            archives[place] = frozenset()
    return "" if inner in archives[place] else "is not in the archive"


def _whole(digits: bytes) -> int | None:
    """Return the number that some digits spell; None for other text, and above the number of
    classes that there can be.
    """
    return int(digits) if digits.isdigit() and len(digits) <= _MOST_DIGITS else None


def _shown(word: bytes) -> str:
    return excerpt(word.decode("utf-8", "replace"))
