"""Parameters that begin with numbers of a file or a text, and with kernels that enlarge images:
their values as the original lays them out, and what is said where they do not fit.
"""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netsharp_engine.cntk.matrices import bilinear, matrix
from netsharp_engine.cntk.stored.model_file import read_model
from netsharp_lsp.cntk.networks.starting import literal_lines
from netsharp_lsp.limits import COUNTED_BYTES
from netsharp_lsp.questions import Answer
from netsharp_lsp.text.matrices import matrix_of
from tests.cntk.training.experiments import made, run
from tests.conftest import PIPES

HEAD = """\
command = learn
modelPath = "out/net.dnn"
learn = {
    action = "train"
"""
TAIL = """
    SGD = { maxEpochs = 1 ; minibatchSize = 10 ; learningRatesPerSample = 0.01 }
    reader = { file = "data.ctf" ; input = {
        features = { dim = 2 ; format = "dense" } ; labels = { dim = 3 ; format = "dense" } } }
}
"""
ENDS = """
        ce = CrossEntropyWithSoftmax (labels, z)
        featureNodes = (features) ; labelNodes = (labels) ; criterionNodes = (ce)
        outputNodes = (z)
"""


def text(network: str) -> str:
    """A configuration with a network in BrainScript, between what all have."""
    inputs = "        features = Input {2}\n        labels = Input {3}\n"
    return f"{HEAD}    BrainScriptNetworkBuilder = {{\n{inputs}{network}{ENDS}    }}{TAIL}"


NDL = (
    HEAD
    + """    NDLNetworkBuilder = [ run = net ]
"""
    + TAIL
    + """
net = [
    features = Input(2)
    labels = Input(3)
    A = Parameter(3, 2, init = fromFile, initFromFilePath = "w.txt", learningRateMultiplier = 0)
    z = Times(A, features)
    ce = CrossEntropyWithSoftmax(labels, z)
    FeatureNodes = (features) ; LabelNodes = (labels) ; CriterionNodes = (ce) ; OutputNodes = (z)
]
"""
)
FIXED = 'ParameterTensor {(3:2), learningRateMultiplier = 0, init = "fromFile", initFromFilePath ='
MATRIX = 'Parameter (3, 2, initFromFilePath = "w.txt", learningRateMultiplier = 0)'
OPEN = "ParameterTensor {(0:0), learningRateMultiplier = 0, initFromFilePath ="
ROWS = b"1 2\n\n 3.5\t-4e-1 \r\n0x1p-3 .5\n"
WANTED = [[1.0, 2.0], [3.5, -0.4], [0.125, 0.5]]


def trained(folder: Path, configuration: str, **files: bytes) -> dict[str, Any]:
    """The parameters of the model that a run leaves, as matrices."""
    answer = ran(folder, configuration, **files)
    assert answer.code == 0, (answer.complaints, answer.reports)
    model = read_model((folder / "out" / "net.dnn").read_bytes())
    return {
        node.name: node.values.reshape((node.shape[0], -1), order="F")
        for node in model.nodes
        if node.values is not None
    }


def ran(folder: Path, configuration: str, **files: bytes) -> Answer:
    """What a run answers."""
    made(folder, rows=30)
    (folder / "net.cntk").write_text(configuration)
    for name, data in files.items():
        (folder / f"{name}.txt").write_bytes(data)
    return run(folder)[0]


def reported(answer: Answer) -> str:
    """All that a run says that did not work."""
    found = [one.message for many in answer.reports for it in many for one in it.diagnostics]
    return "\n".join([*answer.complaints, *found])


@pytest.mark.parametrize(
    "configuration",
    [
        text(f'        z = {FIXED} "w.txt"}} * features'),
        text(f'        z = {OPEN} "w.txt"}} * features'),
        text(f"        z = {MATRIX} * features"),
        text('        e = EmbeddingLayer {3, embeddingPath = "w.txt"}\n        z = e (features)'),
        NDL,
    ],
    ids=["shape", "open", "matrix", "embedding", "ndl"],
)
def test_numbers_of_a_file_stand_as_the_original_puts_them(
    configuration: str, tmp_path: Path
) -> None:
    """A line for each row, empty lines left out; C's numbers, hexadecimal ones, too."""
    values = trained(tmp_path / "x", configuration, w=ROWS)
    (found,) = (one for one in values.values() if one.shape == (3, 2))
    assert found.tolist() == np.float32(WANTED).tolist()


def test_numbers_are_trained_from_there(tmp_path: Path) -> None:
    """What is not fixed moves away from them, and less far than from anywhere else."""
    moving = text(f'        z = {FIXED} "w.txt"}} * features').replace(
        "Multiplier = 0", "Multiplier = 1"
    )
    (found,) = (
        one for one in trained(tmp_path / "x", moving, w=ROWS).values() if one.shape == (3, 2)
    )
    assert not np.array_equal(found, np.float32(WANTED))
    assert np.abs(found - np.float32(WANTED)).max() < 0.5


def test_an_embedding_is_read_the_other_way_round(tmp_path: Path) -> None:
    network = (
        '        e = EmbeddingLayer {3, embeddingPath = "w.txt", transpose = true}\n'
        "        z = e (features)"
    )
    values = trained(tmp_path / "x", text(network), w=b"1 3.5 .125\n2 -.4 .5\n")
    assert values["e.E"].tolist() == np.float32(WANTED).T.tolist()


def test_numbers_that_are_written_in_the_network(tmp_path: Path) -> None:
    literal = "\n   1 2\n   3.5 -4e-1\n\n  0.125 0.5 \n"
    network = (
        "        z = ParameterTensor {(3:2), learningRateMultiplier = 0, "
        f"init = 'fromLiteral', initFromLiteral = '{literal}'}} * features"
    )
    (found,) = (one for one in trained(tmp_path / "x", text(network)).values() if one.size == 6)
    assert found.tolist() == np.float32(WANTED).tolist()
    wrong = ran(tmp_path / "y", text(network.replace("3.5 -4e-1", "3.5")))
    assert wrong.code == 1
    assert "'initFromLiteral': line 3 has 1 number, and line 2 has 2" in reported(wrong)
    other = ran(tmp_path / "z", text(network.replace("(3:2)", "(2:3)")))
    assert "'initFromLiteral' has 3 lines of 2 numbers, and the shape [2 x 3]" in reported(other)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"1 2\n3 4\n", "'w.txt' has 2 lines of 2 numbers, and the shape [3 x 2] needs 3 rows."),
        (b"1 2 3\n4 5 6\n", "It fits when transposed."),
        (b"1 2\n3\n5 6\n", "line 2 has 1 number, and line 1 has 2"),
        (b"1 2\n3 x\n5 6\n", "line 2 has 'x', which is not a number"),
        (b"1 2\n3 1_0\n5 6\n", "line 2 has '1_0', which is not a number"),
        (b"", "it contains no numbers"),
        (None, "w.txt"),
    ],
)
@pytest.mark.parametrize("large", [False, True])
def test_a_file_that_does_not_fit(
    data: bytes | None, words: str, large: bool, tmp_path: Path
) -> None:
    """Also one that is too large to be looked at before it is needed."""
    folder = tmp_path / "x"
    if large and data:
        data += b"\n" * (COUNTED_BYTES.most + 1)
    files = {} if data is None else {"w": data}
    answer = ran(folder, text(f'        z = {FIXED} "w.txt"}} * features'), **files)
    assert answer.code == 1, reported(answer)
    assert words in reported(answer)
    assert not (folder / "out").exists()


def test_a_large_file_is_read_where_the_shape_is_written(tmp_path: Path) -> None:
    data = ROWS + b"\n" * (COUNTED_BYTES.most + 1)
    fixed = text(f'        z = {FIXED} "w.txt"}} * features')
    assert trained(tmp_path / "x", fixed, w=data)
    answer = ran(tmp_path / "y", text(f'        z = {OPEN} "w.txt"}} * features'), w=data)
    assert answer.code == 2
    assert f"cannot be read or is larger than {COUNTED_BYTES}: write its dim" in reported(answer)


def test_a_file_outside_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "w.txt").write_bytes(ROWS)
    answer = ran(tmp_path / "x", text(f'        z = {FIXED} "../w.txt"}} * features'))
    assert answer.code == 2
    assert "'../w.txt' lies outside the folders that are read here" in reported(answer)
    assert not (tmp_path / "x" / "out").exists()


@PIPES
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    folder = tmp_path / "x"
    folder.mkdir()
    os.mkfifo(folder / "w.txt")
    answer = ran(folder, text(f'        z = {FIXED} "w.txt"}} * features'))
    assert answer.code in (1, 2)
    assert "w.txt" in reported(answer)


def test_kernels_that_do_not_enlarge_are_refused(tmp_path: Path) -> None:
    start = 'init = fromFile, initFromFilePath = "w.txt"'
    for size, words in (
        ("1, kernelHeight = 1", "as many output channels"),
        ("1, kernelHeight = 2", "dif"),
    ):
        odd = NDL.replace(start, f"init = bilinear, kernelWidth = {size}")
        answer = ran(tmp_path / "x", odd)
        assert answer.code == 2
        assert "'A' is initialized by 'bilinear'" in reported(answer)
        assert words in reported(answer)
    square = NDL.replace(start, "init = bilinear, kernelWidth = 1, kernelHeight = 1")
    square = square.replace("A = Parameter(3, 2", "B = Parameter(3, 2)\n    A = Parameter(3, 3")
    square = square.replace("(A, features)", "(A, h)\n    h = Times(B, features)")
    assert trained(tmp_path / "y", square)["A"].tolist() == np.eye(3).tolist()


def test_what_c_takes_for_numbers() -> None:
    text = b"0X1.8P1 inf -Infinity nan NAN(1) 1e400 -0x1p9999 1e-400 .5 5."
    assert matrix_of((text,)).flaw == ""
    found = matrix((text[:9], text[9:30], text[30:]), 1, 10).tolist()
    assert found[:3] == [3.0, math.inf, -math.inf]
    assert [math.isnan(one) for one in found[3:5]] == [True, True]
    assert found[5:] == [math.inf, -math.inf, 0.0, 0.5, 5.0]
    with pytest.raises(ValueError, match="too short"):
        matrix((b"1 2",), 3, 1)


def test_lines_of_a_text_are_those_of_a_file() -> None:
    assert matrix_of((literal_lines("\r  1 2\r\r\n  \n 3 4"),)) == (2, 2, "")


def test_kernels_that_enlarge() -> None:
    """The worked example: 3 x 3, highest in the middle, and nothing from other channels."""
    one = [0.25, 0.5, 0.25, 0.5, 1.0, 0.5, 0.25, 0.5, 0.25]
    found = bilinear(2, 3).reshape(2, 2, 9)
    assert found[0, 0].tolist() == found[1, 1].tolist() == one
    assert not found[0, 1].any()
    assert not found[1, 0].any()
    assert bilinear(1, 4).reshape(4, 4)[0].tolist() == [0.0625, 0.1875, 0.1875, 0.0625]
    assert bilinear(1, 1).tolist() == [1.0]
