"""Experiments that read images: what is learnt, refused and resumed, and what a check says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli.command_line import netsharp
from tests.cntk.training.experiments import Follower, run
from tests.cntk.training.test_image_reader import npy, ppm
from tests.conftest import SEED

NETWORK = """command = learn:score
modelPath = "out/net.dnn"
learn = {
    action = "train"
    BrainScriptNetworkBuilder = {
        features = Input {(8:8:3)} ; labels = Input {3}
        z = LinearLayer {3} (ReLU (LinearLayer {12} (features .* Constant (0.00390625))))
        ce = CrossEntropyWithSoftmax (labels, z) ; errs = ClassificationError (labels, z)
        featureNodes = (features) ; labelNodes = (labels) ; criterionNodes = (ce)
        evaluationNodes = (errs) ; outputNodes = (z)
    }
    SGD = { maxEpochs = 8 ; minibatchSize = 10 ; learningRatesPerSample = 0.02
        momentumAsTimeConstant = 20 }
    reader = { READER }
}
score = { action = "test" ; reader = { SCORED } }
"""
PLAIN = """readerType = "ImageReader" ; file = "map.txt" ; numCPUThreads = THREADS
        randomize = "RANDOM"
        features = { width = 8 ; height = 8 ; channels = 3
            cropType = "KIND" ; cropRatio = 0.8
            MORE }
        labels = { labelDim = 3 }
"""
COMPOSED = """randomize = RANDOM ; deserializers = ({
        type = "ImageDeserializer" ; module = "ImageReader" ; file = "map.txt" ; input = {
            features = { transforms = (
                { type = "Crop" ; cropType = "KIND" ; cropRatio = 0.8 } :
                { type = "Scale" ; width = 8 ; height = 8 ; channels = 3 } :
                { type = "Transpose" } ) }
            LABELS = { labelDim = 3 } } } TEXT )
"""
TEXT = """: { type = "CNTKTextFormatDeserializer" ; module = "CNTKTextFormatReader"
        file = "labels.ctf" ; input = { labels = { dim = 3 ; format = "dense" } } }"""


HTK = (
    '"ImageDeserializer" ; module = "ImageReader"',
    '"HTKFeatureDeserializer" ; module = "HTKDeserializers"',
)


def drawn(folder: Path, reader: str = PLAIN, kind: str = "center", **options: object) -> Path:
    """Pictures of three colours, of several sizes, and a configuration that learns them."""
    folder.mkdir(exist_ok=True)
    random = np.random.default_rng(SEED)
    lines, labels = [], []
    for number in range(45):
        colour = int(random.integers(3))
        sides = random.integers(9, 14, 2)
        image = random.integers(0, 120, (*sides, 3)).astype(np.uint8)
        image[:, :, colour] += 90
        name = f"{number}.ppm" if number % 2 else f"{number}.npy"
        (folder / name).write_bytes(ppm(image) if number % 2 else npy(image))
        lines.append(f"{number}\t.../{name}\t{colour}")
        labels.append(
            f"{number} |labels {' '.join('1' if one == colour else '0' for one in range(3))}"
        )
    (folder / "map.txt").write_text("\n".join(lines) + "\n")
    (folder / "labels.ctf").write_text("\n".join(reversed(labels)) + "\n")
    options = {
        "random": "auto",
        "threads": 1,
        "more": "",
        "labels": "labels",
        "text": "",
        **options,
    }
    scored = reader
    for key, value in {"kind": kind, **options}.items():
        reader = reader.replace(key.upper(), str(value))
    for key, value in {"kind": "center", **options}.items():
        scored = scored.replace(key.upper(), str(value))
    (folder / "net.cntk").write_text(NETWORK.replace("READER", reader).replace("SCORED", scored))
    return folder


def figures(folder: Path, *items: str) -> tuple[list[dict[str, Any]], Follower]:
    answer, follower = run(folder, *items)
    assert answer.code == 0, (answer.complaints, answer.reports)
    keys = ("event", "loss", "evaluation", "samples")
    return [
        {key: one.get(key) for key in keys} for one in follower.events if "loss" in one
    ], follower


def test_images_are_learnt_and_what_is_random_depends_on_no_thread(tmp_path: Path) -> None:
    one, follower = figures(drawn(tmp_path / "one", kind="random", threads=1))
    four, _ = figures(drawn(tmp_path / "four", kind="random", threads=4))
    assert one == four
    first, second = ((tmp_path / x / "out/net.dnn").read_bytes() for x in ("one", "four"))
    assert first == second
    print(one[-1]["evaluation"])
    assert one[-1]["evaluation"]["errs"] == 0
    assert any("never on threads" in reported for reported in follower.notices)
    centred, _ = figures(drawn(tmp_path / "still"))
    assert centred[0]["loss"] != one[0]["loss"]
    other, _ = figures(drawn(tmp_path / "seeded", kind="random", more="seed = 5"))
    assert other[0]["loss"] != one[0]["loss"]


def test_a_run_with_random_parts_that_is_stopped_and_resumed_is_run_through(
    tmp_path: Path,
) -> None:
    whole, parts = (drawn(tmp_path / name, kind="random") for name in "ab")
    figures(whole, "command=learn")
    stopped, _ = run(parts, "command=learn", follower=Follower(ends=3))
    assert stopped.code == 130
    figures(parts, "command=learn")
    assert (whole / "out/net.dnn").read_bytes() == (parts / "out/net.dnn").read_bytes()


def test_cubic_sizes_are_reported_to_differ(tmp_path: Path) -> None:
    _, follower = figures(drawn(tmp_path, more='interpolations = "cubic"'), "command=learn")
    assert any("may differ by 1" in reported for reported in follower.notices)


@pytest.mark.costly
def test_deserializers_bring_what_a_reader_brings(tmp_path: Path) -> None:
    plain, _ = figures(drawn(tmp_path / "plain"))
    composed, _ = figures(drawn(tmp_path / "composed", COMPOSED, random="true"))
    assert plain == composed
    still, _ = figures(drawn(tmp_path / "still", random="none"))
    joined = drawn(tmp_path / "text", COMPOSED, random="false", labels="ignored", text=TEXT)
    assert figures(joined)[0] == still
    names = drawn(tmp_path / "names", COMPOSED, random="true", labels="ignored", text=TEXT)
    assert figures(names)[0][-1]["evaluation"]["errs"] == 0


@pytest.mark.parametrize(
    ("reader", "before", "after", "word"),
    [
        (PLAIN, 'cropType = "center"', 'jitterType = "uniArea"', "jitterType"),
        (PLAIN, "cropRatio = 0.8", "cropRatio = 1.5", "above 0 and at most 1"),
        (PLAIN, "cropRatio = 0.8", "scaleMode = odd", "fill"),
        (PLAIN, "cropRatio = 0.8", "brightnessRadius = 2", "from 0 to 1"),
        (PLAIN, "cropRatio = 0.8", 'meanFile = "none.xml"', "the file 'none.xml'"),
        (PLAIN, "cropRatio = 0.8", 'meanFile = "map.txt"', "is not an XML file"),
        (PLAIN, "cropRatio = 0.8", 'meanFile = "mean.xml"', "the mean image is 2 x 2 x 3"),
        (PLAIN, "labels = { labelDim = 3 }", "", "one of labels (with labelDim)"),
        (PLAIN, "labelDim = 3", "labelDim = 2", "must be equal"),
        (PLAIN, '"map.txt"', '"none.txt"', "none.txt"),
        (COMPOSED, 'type = "Transpose"', 'type = "Turn"', "Turn"),
        (COMPOSED, 'file = "map.txt"', 'file = "map.txt" ; grayscale = true', "read with 1"),
        (COMPOSED, *HTK, "HTKFeatureDeserializer"),
    ],
)
def test_what_cannot_be_read_is_reported_before_anything_is_done(
    reader: str, before: str, after: str, word: str, tmp_path: Path
) -> None:
    folder = drawn(tmp_path, reader, random="true" if reader is COMPOSED else "auto")
    (folder / "mean.xml").write_text(
        "<opencv_storage><Channel>3</Channel><Row>2</Row><Col>2</Col><MeanImg><rows>1</rows>"
        "<cols>12</cols><dt>f</dt><data>1 2 3 4 5 6 7 8 9 10 11 12</data></MeanImg>"
        "</opencv_storage>"
    )
    path = folder / "net.cntk"
    path.write_text(path.read_text().replace(before, after))
    answer, follower = run(folder)
    message = [
        *answer.complaints,
        *(str(one.message) for r in answer.reports for f in r for one in f.diagnostics),
    ]
    assert answer.code in (1, 2)
    assert any(word in one for one in message), message
    assert follower.events == []


def test_a_mean_of_opencv_and_intensities_are_read(tmp_path: Path) -> None:
    folder = drawn(
        tmp_path, more='meanFile = "mean.xml" ; intensityFile = "axes.xml" ; intensityStdDev = 0.1'
    )
    zeros = " ".join(["0.5"] * 192)
    (folder / "mean.xml").write_text(
        "<?xml version='1.0'?><opencv_storage><Channel>3</Channel><Row>8</Row><Col>8</Col>"
        f"<MeanImg type_id='opencv-matrix'><rows>1</rows><cols>192</cols><dt>f</dt><data>{zeros}"
        "</data></MeanImg></opencv_storage>"
    )
    (folder / "axes.xml").write_text(
        "<opencv_storage><EigVal><rows>1</rows><cols>3</cols><data>0.2 0.1 0.05</data></EigVal>"
        "<EigVec><data>1 0 0 0 1 0 0 0 1</data></EigVec></opencv_storage>"
    )
    reported, _ = figures(folder)
    other, _ = figures(drawn(tmp_path / "plain"))
    assert reported[0]["loss"] != other[0]["loss"]
    assert reported[-1]["evaluation"]["errs"] == 0


def test_a_check_of_the_data_reads_every_image(tmp_path: Path) -> None:
    folder = drawn(tmp_path)
    lines = (folder / "map.txt").read_text().splitlines()
    lines[1] = "1\t.../none.ppm\t0"
    lines[4] = lines[4][:-1] + "9"
    (folder / "map.txt").write_text("\n".join(lines) + "\n")
    (folder / "7.ppm").write_bytes(b"P6 2 2 255 ")
    done = netsharp("check", "--read-data", "net.cntk", cwd=folder)
    assert done.code == 1
    assert "map.txt:2:3" in done.out
    assert "map.txt:5:" in done.out
    assert "map.txt:8:1" in done.out
    assert "its head promises" in done.out
