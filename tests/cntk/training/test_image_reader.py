"""ImageReader and deserializers: lists, pixels, and changes of images."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netsharp_engine.cntk.images import decoding
from netsharp_engine.cntk.images.decoding import pixels
from netsharp_engine.cntk.images.maps import ImageList, Listed
from netsharp_engine.cntk.images.resizing import KINDS, resized
from netsharp_engine.cntk.images.transforms import (
    Color,
    Crop,
    Draws,
    Intensity,
    Mean,
    Scale,
    changed,
)
from netsharp_engine.cntk.samples.bundles import Keyed, bundled
from netsharp_engine.cntk.samples.faults import AllowedFaults
from netsharp_engine.cntk.samples.text_format import TextOptions, TextStream, read_text
from netsharp_engine.data import DataError
from tests.conftest import SEED

FIRST = Draws(0, 0, 0, 0)
COLOURS = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)


def ppm(image: np.ndarray) -> bytes:
    """Red, green and blue as a PPM, or grey as a PGM."""
    kind = b"P6" if image.ndim == 3 else b"P5"
    return b"%s\n# made\n%d %d\n255\n" % (kind, image.shape[1], image.shape[0]) + image.tobytes()


def npy(image: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, image)
    return stream.getvalue()


def test_pixels_are_blue_green_red_whatever_the_file() -> None:
    image = pytest.importorskip("PIL.Image").fromarray(COLOURS)
    for data in (ppm(COLOURS), npy(COLOURS), *(saved(image, one) for one in ("PNG", "BMP"))):
        found = pixels(data, "x", grey=False)
        assert found.dtype == np.uint8
        assert found.tolist() == COLOURS[:, :, ::-1].tolist()
    grey = COLOURS[:, :, 0]
    for data in (ppm(grey), npy(grey), saved(pytest.importorskip("PIL.Image").fromarray(grey))):
        assert pixels(data, "x", grey=True)[:, :, 0].tolist() == grey.tolist()
        assert pixels(data, "x", grey=False).tolist() == np.stack([grey] * 3, 2).tolist()


def saved(image: Any, kind: str = "PNG") -> bytes:
    stream = io.BytesIO()
    image.save(stream, kind)
    return stream.getvalue()


def test_grey_is_mixed_of_red_green_and_blue() -> None:
    primary = np.array([[[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 255]]], np.uint8)
    assert pixels(ppm(primary), "x", grey=True).ravel().tolist() == [76, 150, 29, 255]


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"", "is not an image"),
        (b"no image", "is not an image"),
        (ppm(COLOURS)[:-1], "its head promises 2 x 4 pixels"),
        (b"P6 0 4 255 ", "its head promises"),
        (b"P5 2 2 65535 " + bytes(8), "Numbers up to 255"),
        (npy(np.zeros((2, 2))), "of type uint8"),
        (npy(np.zeros((2, 2, 4), np.uint8)), "of type uint8"),
        (npy(COLOURS)[:40], "is not a NumPy array"),
    ],
)
def test_what_is_no_image_is_a_sentence(data: bytes, word: str) -> None:
    with pytest.raises(DataError, match=word):
        pixels(data, "x", grey=False)


def test_without_pillow_the_way_out_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    data = saved(pytest.importorskip("PIL.Image").fromarray(COLOURS))
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(DataError, match=r"netsharp\[images\].*PPM, PGM or arrays"):
        pixels(data, "x", grey=False)
    assert pixels(ppm(COLOURS), "x", grey=False).shape == (2, 4, 3)
    assert decoding.__doc__ is not None


def test_an_image_of_too_many_pixels_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding.IMAGE_PIXELS, "most", 7)
    image = pytest.importorskip("PIL.Image").fromarray(COLOURS)
    for data in (ppm(COLOURS), saved(image)):
        with pytest.raises(DataError, match="more than 7 pixels"):
            pixels(data, "x", grey=False)


def listed(folder: Path, text: str, **files: bytes) -> list[Listed]:
    for name, data in files.items():
        (folder / name).write_bytes(data)
    path = folder / "map.txt"
    path.write_text(text)

    def locate(image: str) -> str:
        return "" if image.startswith("/etc") else str(folder / image)

    images = ImageList(str(path), 3, locate)
    return [one for _, _, one in images.images(AllowedFaults(str(path), 0))]


def test_lists_have_two_or_three_columns_and_know_their_folder(tmp_path: Path) -> None:
    found = listed(tmp_path, "a.ppm\t0\nkey\t.../a.ppm\t2\r\n", **{"a.ppm": b""})
    assert [(one.key, one.label) for one in found] == [("0", 0), ("key", 2)]
    assert {Path(one.path) for one in found} == {tmp_path / "a.ppm"}


def test_images_lie_in_archives(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("in/a.ppm", ppm(COLOURS))
    (found,) = listed(tmp_path, "all.zip@/in\\a.ppm\t1\n")
    assert found.inside == "in/a.ppm"
    from netsharp_engine.cntk.images.maps import image_bytes

    assert image_bytes(found) == ppm(COLOURS)
    with pytest.raises(
        DataError, match=r"line 1, column 1: 'all\.zip@/in/b\.ppm' is not in the arch"
    ):
        listed(tmp_path, "all.zip@/in/b.ppm\t1\n")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a.ppm\n", "line 1: expected are a path and a label"),
        ("a.ppm\t0\n\t1\n", "line 2: expected"),
        ("a.ppm\tcat\n", "line 1, column 7: 'cat' is not a number of a class"),
        (
            "a.ppm\t0\na.ppm\t3\n",
            "line 2, column 7: '3' is not a number of a class, which is below 3",
        ),
        ("a.ppm\t-1\n", "'-1' is not a number"),
        ("k\tb.ppm\t0\n", "line 1, column 3: 'b.ppm' is not a file"),
        ("/etc/passwd\t0\n", "lies outside"),
    ],
)
def test_lists_that_cannot_be_used_are_reported_by_their_place(
    text: str, words: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError) as raised:
        listed(tmp_path, text, **{"a.ppm": b""})
    assert words in str(raised.value)


def naive(image: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """Bilinear, pixel by pixel."""
    found = np.zeros((rows, columns, image.shape[2]))
    for row in range(rows):
        for column in range(columns):
            y = (row + 0.5) * image.shape[0] / rows - 0.5
            x = (column + 0.5) * image.shape[1] / columns - 0.5
            for dy in (0, 1):
                for dx in (0, 1):
                    at = int(np.floor(y)) + dy, int(np.floor(x)) + dx
                    share = (1 - abs(y - at[0])) * (1 - abs(x - at[1]))
                    place = [
                        min(max(one, 0), n - 1) for one, n in zip(at, image.shape, strict=False)
                    ]
                    found[row, column] += share * image[place[0], place[1]]
    return found


@pytest.mark.parametrize("size", [(5, 7), (2, 3), (9, 4), (3, 3)])
def test_linear_sizes_are_those_of_plain_loops(size: tuple[int, int]) -> None:
    image = np.random.default_rng(SEED).integers(0, 256, (6, 5, 3)).astype(np.uint8)
    found = resized(image, *size, "linear")
    # As OpenCV rounds: a half at the end, a quarter with each row, and shares of 2^11.
    assert np.abs(found - naive(image, *size)).max() <= 1.1
    assert np.abs(resized(image * 1.0, *size, "linear") - naive(image, *size)).max() < 1e-9


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_keeps_what_is_even_and_an_image_of_its_size(kind: str) -> None:
    even = np.full((4, 6, 3), 77, np.uint8)
    assert (resized(even, 9, 5, kind) == 77).all()
    image = np.random.default_rng(SEED).integers(0, 256, (4, 6, 1)).astype(np.uint8)
    assert np.array_equal(resized(image, 4, 6, kind), image)
    # Mirroring before or after gives the same, except with "nearest", which rounds to the left.
    if kind != "nearest":
        there = resized(image[:, ::-1], 7, 9, kind)[:, ::-1]
        assert np.abs(there.astype(int) - resized(image, 7, 9, kind)).max() <= 1


def test_bytes_in_linear_sizes_are_those_that_opencv_gave() -> None:
    # cv2.resize of this ramp to 5 columns and 3 rows; 7 x 4 pixels of 9 * column + 31 * row.
    ramp = (9 * np.arange(7)[None, :] + 31 * np.arange(4)[:, None]).astype(np.uint8)
    assert resized(ramp[:, :, None], 3, 5, "linear")[:, :, 0].tolist() == GIVEN


def test_nearest_takes_the_pixel_to_the_left() -> None:
    row = np.arange(6, dtype=np.uint8).reshape(1, 6, 1)
    assert resized(row, 1, 4, "nearest").ravel().tolist() == [0, 1, 3, 4]


#: By OpenCV 4, whose rule is that of 2016.
GIVEN = [[7, 20, 32, 45, 57], [48, 61, 74, 86, 99], [90, 102, 115, 127, 140]]
IMAGE = np.random.default_rng(SEED).integers(0, 256, (6, 9, 3)).astype(np.uint8)


def test_parts_are_cut_where_they_are_asked_for() -> None:
    middle = Crop().apply(IMAGE, FIRST, 0, "float32")
    assert np.array_equal(middle, IMAGE[:, 1:7])
    half = Crop(ratio=(0.5, 0.5)).apply(IMAGE, FIRST, 0, "float32")
    assert np.array_equal(half, IMAGE[1:4, 3:6])
    crop = Crop("multiview10", ratio=(0.5, 0.5))
    views = [crop.apply(IMAGE, FIRST._replace(number=one), 0, "float32") for one in range(20)]
    corners = [IMAGE[:3, :3], IMAGE[:3, 6:], IMAGE[3:, :3], IMAGE[3:, 6:], IMAGE[1:4, 3:6]]
    for number, view in enumerate(views):
        expected = corners[number % 5]
        assert np.array_equal(view, expected if number % 10 < 5 else expected[:, ::-1])


def test_random_parts_lie_everywhere_inside_and_are_drawn_again_in_each_pass() -> None:
    ramp = np.arange(6 * 9).reshape(6, 9, 1)
    crop = Crop("random", (0.5, 0.5), flips=True)
    seen: set[tuple[int, bool]] = set()
    for sweep in range(300):
        part = crop.apply(ramp, FIRST._replace(sweep=sweep), 0, "float32")
        assert part.shape == (3, 3, 1)
        seen.add((int(part.min()), bool(part[0, 0] > part[0, 1])))
    assert len(seen) == 4 * 7 * 2
    jittered = Crop("random", (0.3, 1.0), jitters=True, aspect=(0.5,))
    shapes = {
        jittered.apply(IMAGE, FIRST._replace(number=one), 0, "float32").shape for one in range(50)
    }
    assert len(shapes) > 5
    again = Crop("center", aspect=(0.5, 0.0)).apply(IMAGE, FIRST._replace(epoch=1), 0, "float32")
    assert again.shape == (6, 6, 3)


def test_sizes_fill_are_cut_or_padded() -> None:
    wide = np.full((4, 8, 3), 50, np.uint8)
    assert Scale(6, 6, 3).apply(wide, FIRST, 0, "float32").shape == (6, 6, 3)
    cut = Scale(6, 6, 3, mode="crop").apply(wide, FIRST, 0, "float32")
    assert cut.shape == (6, 6, 3)
    padded = Scale(6, 6, 3, mode="pad", value=7).apply(wide, FIRST, 0, "float32")
    assert padded[:, 0].tolist() == [[7, 0, 0]] + [[50] * 3] * 3 + [[7, 0, 0]] * 2
    border = Scale(6, 6, 3, mode="pad").apply(wide, FIRST, 0, "float32")
    assert (border == 50).all()
    with pytest.raises(DataError, match="10 x 9 pixels does not cover 20 x 4"):
        Scale(20, 4, 3, mode="crop").apply(np.zeros((9, 10, 3), np.uint8), FIRST, 0, "float32")
    with pytest.raises(DataError, match="9 x 10 pixels does not fit into 2 x 8"):
        Scale(2, 8, 3, mode="pad").apply(np.zeros((10, 9, 3), np.uint8), FIRST, 0, "float32")


def test_colours_change_within_their_radii() -> None:
    bright = Color(brightness=(0.5,)).apply(IMAGE, FIRST, 0, "float64")
    difference = bright - IMAGE
    free = (bright > 0) & (bright < 255)
    assert np.ptp(difference[free]) < 1e-9
    mean = IMAGE[:, :, 0].sum() / IMAGE.size
    assert 0 < abs(difference[free][0]) <= 0.5 * mean
    contrast = Color(contrast=(0.3,)).apply(IMAGE, FIRST, 0, "float64")
    ratio = (contrast / np.maximum(IMAGE, 1))[(IMAGE > 0) & (contrast < 255)]
    assert np.ptp(ratio) < 1e-9
    assert 0.7 <= ratio[0] <= 1.3


def test_saturation_keeps_hue_and_value() -> None:
    import colorsys

    after = Color(saturation=(0.4,)).apply(IMAGE, FIRST, 0, "float64")
    ratios = []
    for before, following in zip(IMAGE.reshape(-1, 3), after.reshape(-1, 3), strict=True):
        one, other = (colorsys.rgb_to_hsv(*(x[::-1] / 255.0)) for x in (before, following))
        assert other[2] == pytest.approx(one[2])
        assert other[0] == pytest.approx(one[0])
        if other[1] < 1 - 1e-9:
            ratios.append(other[1] / one[1])
    assert np.ptp(ratios) < 1e-9
    assert 0.6 <= ratios[0] <= 1.4


def test_intensity_shifts_each_channel_and_stays_in_bounds() -> None:
    eye = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    only_red = Intensity((5.0, 0.0, 0.0), eye, (2.0,)).apply(IMAGE, FIRST, 0, "float64")
    assert np.array_equal(only_red[:, :, :2], IMAGE[:, :, :2])
    assert not np.array_equal(only_red[:, :, 2], IMAGE[:, :, 2])
    far = Intensity((9e9,) * 3, eye, (2.0,)).apply(IMAGE, FIRST, 0, "float64")
    assert set(np.unique(far)) <= {0, 255}
    still = Intensity((5.0,) * 3, eye, (2.0, 0.0)).apply(IMAGE, FIRST._replace(epoch=3), 0, "f8")
    assert still is IMAGE


def test_a_mean_is_taken_away_and_has_to_fit() -> None:
    assert (Mean(IMAGE.ravel().tolist(), IMAGE.shape).apply(IMAGE, FIRST, 0, "float32") == 0).all()
    with pytest.raises(DataError, match="mean image is 2 x 2 x 3"):
        Mean([0] * 12, (2, 2, 3)).apply(IMAGE, FIRST, 0, "float32")


def test_numbers_go_column_by_column_of_each_channel_or_channel_first() -> None:
    by_channel = changed(COLOURS, [], FIRST, "float32", by_channel=True)
    assert by_channel.tolist()[:8] == [0, 3, 6, 9, 12, 15, 18, 21]
    by_pixel = changed(COLOURS, [], FIRST, "float64", by_channel=False)
    assert by_pixel.tolist() == [*range(24)]


def test_files_are_bundled_by_their_keys(tmp_path: Path) -> None:
    def text(name: str, data: str) -> Keyed:
        (tmp_path / name).write_text(data)
        streams = (TextStream(name, "v", 1, sparse=name == "b"),)
        found = read_text(str(tmp_path / name), streams, "float64", TextOptions(keys=True))
        return Keyed(name, found, found.keys, (name,))

    first = text("a", "3 |v 1\n7 |v 2\n7 |v 3\n9 |v 4\n")
    other = text("b", "7 |v 0:5\n003 |v 0:6\n003 |v 0:7\n8 |v 0:8\n")
    found = bundled([first, other])
    assert (
        "1 of 3 sequences are not in all files, and left out; the first is '9'"
        in (found.warnings[0])
    )
    assert found.lines is not None
    assert (found.chunks, found.lines.tolist()) == ([2], [2, 2])
    assert {name: one.tolist() for name, one in found.lengths.items()} == {"a": [1, 2], "b": [2, 1]}
    assert found.again is not None
    read = found.again(np.array([1, 0]))
    assert read["a"].tolist() == [[2], [3], [1]]  # type: ignore[union-attr]
    assert np.asarray(read["b"].values).tolist() == [5, 6, 7]
    with pytest.raises(DataError, match="none of its sequences is in b"):
        bundled([text("a", "1 |v 1\n"), other])
