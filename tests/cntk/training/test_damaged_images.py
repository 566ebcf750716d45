"""Images, their archives and lists of words that are damaged, or hold numbers without end."""

from __future__ import annotations

import io
import random
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest

from netsharp_engine.cntk.images.decoding import pixels
from netsharp_engine.cntk.images.maps import ImageList, Listed, image_bytes
from netsharp_engine.cntk.samples.faults import AllowedFaults
from netsharp_engine.cntk.samples.text_format import TextOptions, TextStream, read_text
from netsharp_engine.cntk.samples.vocabulary import Classes
from netsharp_engine.data import DataError
from netsharp_lsp.cntk.training.samples.word_lists import number_in
from tests.conftest import SEED

PICTURE = np.arange(189, dtype=np.uint8).reshape(9, 7, 3)
TRIES = 150


def saved(kind: str) -> bytes:
    stream = io.BytesIO()
    if kind == "npy":
        np.save(stream, PICTURE)
    else:
        images = pytest.importorskip("PIL.Image", reason="Pillow is not installed: images")
        images.fromarray(PICTURE).save(stream, kind)
    return stream.getvalue()


def damaged(data: bytes, chance: random.Random) -> bytes:
    found = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 5, 20))):
        at = chance.randrange(min(len(found), chance.choice((30, 150, 1 << 20))))
        if chance.random() < 0.8:
            found[at] = chance.choice((0, 255, ord("9"), chance.randrange(256)))
        elif at:
            del found[at:]
    return bytes(found)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["npy", "PNG", "JPEG", "BMP", "GIF", "TIFF", "DDS", "WEBP", "TGA"])
def test_a_damaged_image_is_read_or_reported(kind: str) -> None:
    data, chance, reported = saved(kind), random.Random(f"{SEED} {kind}"), list[str]()
    for _ in range(TRIES):
        try:
            pixels(damaged(data, chance), "one", grey=False)
        except DataError as error:
            reported.append(str(error))
    assert 0 < len(reported) < TRIES
    assert all(one.startswith("one: ") and not one.endswith("..") for one in reported)


@pytest.mark.parametrize(
    "shape", ["(1000000000000000,)", "(9999999999, 9999999999, 3)", "((((", ""]
)
def test_an_array_that_promises_what_no_memory_holds_is_reported(shape: str) -> None:
    head = f"{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    data = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + b"abc"
    with pytest.raises(DataError, match="one: is not a NumPy array that can be read"):
        pixels(data, "one", grey=False)


def listed(folder: Path, line: bytes) -> list[tuple[int, bytes, Listed]]:
    """The images of a list; DataError for a line that is wrong."""
    (folder / "map.txt").write_bytes(line)
    images = ImageList(str(folder / "map.txt"), 2, lambda one: str(folder / one))
    return [*images.images(AllowedFaults("map.txt", 0))]


def test_a_damaged_archive_is_read_or_reported(tmp_path: Path) -> None:
    stream = io.BytesIO()
    kinds = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
    with zipfile.ZipFile(stream, "w") as archive:
        for kind in kinds:
            archive.writestr(str(kind), saved("npy") * 9, compress_type=kind)
    path, chance, reported = tmp_path / "a.zip", random.Random(SEED), list[str]()
    for _ in range(TRIES * 2):
        path.write_bytes(damaged(stream.getvalue(), chance))
        for kind in kinds:
            try:
                image_bytes(Listed("0", str(path), str(kind), 0))
            except DataError as error:
                reported.append(str(error))
        try:
            listed(tmp_path, b"a.zip@/8\t0\n")
        except DataError as error:
            reported.append(str(error))
    assert len(reported) > TRIES
    assert all("a.zip@/" in one for one in reported)


def test_a_label_of_many_digits_is_reported(tmp_path: Path) -> None:
    (tmp_path / "a.npy").write_bytes(saved("npy"))
    with pytest.raises(DataError, match=r"map.txt, line 1, .* is not a number of a class"):
        listed(tmp_path, b"a.npy\t" + b"9" * 5000 + b"\n")
    assert [one.label for _, _, one in listed(tmp_path, b"a.npy\t 1\n")] == [1]


def test_classes_of_any_number_take_the_memory_of_their_words() -> None:
    huge = number_in(b"9" * 5000)
    assert huge is not None
    found = Classes([3, 3, 10**9, huge])
    assert found.labels(np.array([1, 2, 3]), "float64").tolist() == [
        [1, 3, 0, 2],
        [2, 10**9, 2, 3],
        [3, huge, 3, 4],
    ]
    assert number_in(b"x") is None


def test_a_key_of_many_digits_is_one(tmp_path: Path) -> None:
    path = tmp_path / "keyed.ctf"
    path.write_bytes(b"00%s |x 1\n007 |x 2\n000 |x 3\n" % (b"9" * 5000))
    streams = (TextStream("x", "x", 1, sparse=False),)
    found = read_text(str(path), streams, "float32", TextOptions(keys=True))
    assert found.keys == ["9" * 5000, "7", "0"]
