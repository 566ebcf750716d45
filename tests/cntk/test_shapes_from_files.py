"""Shapes that CNTK reads from files: matrices that parameters start from, lists of labels."""

from __future__ import annotations

import json
import os
import pathlib
import random
from collections.abc import Callable, Iterable

import pytest

from netsharp_lsp.cntk.checking.check import diagnostics_by_file
from netsharp_lsp.cntk.networks.starting import completed
from netsharp_lsp.cntk.run.experiment import Experiment
from netsharp_lsp.diagnostics.model import Diagnostic
from netsharp_lsp.limits import COUNTED_BYTES
from netsharp_lsp.project.disk_files import DiskFiles
from netsharp_lsp.text.matrices import labels_in, matrix_of
from netsharp_lsp.workspace import Run
from tests.cli.command_line import netsharp
from tests.cntk.cli.experiments import checked
from tests.cntk.texts import Memory
from tests.costs import assert_in_proportion
from tests.server.test_roots import codes, watched

#: `e` depends on what e.txt holds, `q` does not, and `bad` has a fault of its own.
NETWORK = """\
x = Input {5}
y = Input {3}
e = EmbeddingLayer {2, embeddingPath="e.txt", transpose=true}
z = LinearLayer {3} (e (x))
q = LinearLayer {3} (x)
bad = y + ParameterTensor {4}
ce = CrossEntropyWithSoftmax (y, z + q, tag="criterion")
"""
COMMAND = "command = Train\nprecision = float\nmodelPath = m\nTrain = {\n action = train\n"
CONFIGURATION = COMMAND + " BrainScriptNetworkBuilder = {\n" + NETWORK + " }\n}\n"
NDL = (
    COMMAND + " NDLNetworkBuilder = [\n  run = n\n ]\n}\nn = [\n x = Input(5)\n"
    ' W = Parameter(2, 5, init = fromFile, initFromFilePath = "e.txt")\n'
    " z = Times(W, x)\n y = Input(2)\n ce = SquareError(y, z)\n"
    " FeatureNodes = (x)\n LabelNodes = (y)\n CriteriaNodes = (ce)\n]\n"
)
ROWS = b"1 2\n3 4\n5 6\n7 8\n9 10\n"


def experiment(text: str, **files: bytes) -> Experiment:
    held = {name.replace("_dot_", "."): data for name, data in files.items()}
    return Experiment(Run(("configFile=a.cntk",)), Memory({"a.cntk": text.encode(), **held}))


def shapes(run: Experiment) -> dict[str, tuple[int, ...] | None]:
    network = run.networks[0].network
    assert network is not None
    return {name: node.shape for name, node in network.nodes.items()}


def found(run: Experiment, *wanted: str) -> list[Diagnostic]:
    return [one for one in diagnostics_by_file(run)["a.cntk"] if one.code in wanted]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"1 2 3\r\n\r\n4 5 6", (2, 3, "")),
        (b"0x1p3 nan .5 5. 1e3 INF\n", (1, 6, "")),
        (b"1 2\n\n3\n", (1, 2, "line 3 has 1 number, and line 1 has 2")),
        (b"1 2\n \n", (1, 2, "line 2 has 0 numbers, and line 1 has 2")),
        (b"1 2\nx 1\n", (1, 2, "line 2 has 'x', which is not a number")),
        (b"1,2\n", (0, 0, "line 1 has '1,2', which is not a number")),
        (b"1_0\n", (0, 0, "line 1 has '1_0', which is not a number")),
        (b"", (0, 0, "it contains no numbers")),
        (b"\n\n", (0, 0, "it contains no numbers")),
        (b"1\r2\r3", (1, 3, "")),
    ],
)
def test_rows_and_columns(text: bytes, expected: tuple[int, int, str]) -> None:
    assert matrix_of([text]) == expected


def test_counting_does_not_depend_on_blocks() -> None:
    seed = 7
    print("seed", seed)
    rng = random.Random(seed)
    for _ in range(2000):
        text = "".join(rng.choice("12 \n\r\t.") for _ in range(rng.randrange(40))).encode()
        size = rng.randrange(1, 5)
        blocks = [text[at : at + size] for at in range(0, len(text), size)]
        assert matrix_of(blocks) == matrix_of([text]), text
        assert labels_in(blocks) == labels_in([text]), text


@pytest.mark.parametrize("unit", [b"1 2 3 4\n", b"1\n", b"\n", b" ", b"1", b"x ", b"1 "])
@pytest.mark.costly
def test_counting_costs_in_proportion(unit: bytes) -> None:
    def prepared(size: int) -> Callable[[], object]:
        text = unit * (size // len(unit))
        return lambda: matrix_of(text[at : at + 65536] for at in range(0, size, 65536))

    assert_in_proportion(prepared, 1_000_000, 4_000_000, slack=5)


@pytest.mark.parametrize(
    ("shape", "matrix", "expected"),
    [
        ((0, 2), (5, 2), (5, 2)),
        ((2, 0), (2, 5), (2, 5)),
        ((0,), (5, 1), (5,)),
        ((0,), (5, 2), (5, 2)),
        ((), (5, 1), (5,)),
        ((2, 3, 0), (2, 12), (2, 3, 4)),
        ((2, 5, 0), (2, 12), None),
        ((2, 0, 0), (2, 12), None),
    ],
)
def test_open_dimensions(
    shape: tuple[int, ...], matrix: tuple[int, int], expected: tuple[int, ...] | None
) -> None:
    assert completed(shape, *matrix) == expected


def test_a_matrix_gives_a_parameter_its_size() -> None:
    known = shapes(experiment(CONFIGURATION, e_dot_txt=ROWS))
    assert (known["e.E"], known["z"], known["q"], known["bad"]) == ((5, 2), (3,), (3,), None)


def test_without_the_file_only_what_depends_on_it_is_unknown() -> None:
    text = CONFIGURATION.replace("{5}", "{(5:1)}").replace("e (x)", "e (x) + ParameterTensor {0}")
    run = experiment(text)
    known = shapes(run)
    assert (known["z"], known["e.E"]) == ((3,), None)
    (fault,) = found(run, "BS050")
    assert "'y' is [3]" in fault.message
    assert found(run, "BS051", "BS056", "BS079") == []
    (missing,) = found(run, "CK117")
    assert "there is no file 'e.txt'" in missing.message


def test_a_product_with_one_number_open_keeps_its_shape() -> None:
    known = shapes(experiment(CONFIGURATION))
    assert (known["e.E"], known["z.x"], known["z"]) == ((5, 2), (2,), (3,))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"1 2\n3\n", "line 2 has 1 number, and line 1 has 2"),
        (b"one two\n", "line 1 has 'one', which is not a number"),
        (b"", "it contains no numbers"),
        (b"1 2 3\n4 5 6\n", "'e.txt' has 2 lines of 3 numbers, and the shape [0 x 2] needs 2"),
    ],
)
def test_a_file_that_stops_the_program(text: bytes, message: str) -> None:
    run = experiment(CONFIGURATION, e_dot_txt=text)
    (one,) = found(run, "BS079")
    assert message in one.message
    assert one.severity == "error"
    assert [it.code for it in found(run, "BS051", "BS056")] == []


def test_ndl_starts_from_files_too() -> None:
    assert shapes(experiment(NDL))["z"] == (2,)
    run = experiment(NDL, e_dot_txt=ROWS)
    (one,) = found(run, "BS079")
    assert "5 lines of 2 numbers, and the shape [2 x 5] needs 2 rows. It fits when" in one.message
    fitting = experiment(NDL.replace("(2, 5,", "(0, 5,"), e_dot_txt=b"1 2 3 4 5\n" * 2)
    assert (shapes(fitting)["W"], found(fitting, "BS079")) == ((2, 5), [])


def test_labels_that_a_file_lists() -> None:
    text = (
        CONFIGURATION.replace(" }\n}\n", " }\n")
        + " reader = {\n  readerType = UCIFastReader ; file = t.txt\n"
        + "  x = { dim = 5 ; start = 3 }\n"
        + "  y = { dim = 1 ; start = 0 ; labelDim = 3 ; labelMappingFile = l.txt }\n }\n}\n"
    )
    text = text.replace("bad = y + ParameterTensor {4}", "labelNodes = (y) ; featureNodes = (x)")
    assert found(experiment(text), "CK108") == []
    assert found(experiment(text, l_dot_txt=b"a\nb\nc\n"), "CK108") == []
    assert found(experiment(text, l_dot_txt=b"a : b\nc\nd\ne\n"), "CK108") == []
    (one,) = found(experiment(text, l_dot_txt=b"a\nb\nc\nd\n"), "CK108")
    assert "has 4 numbers per sample ('l.txt' lists that number of labels" in one.message


def test_files_are_read_where_they_may_be(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    (folder / "a.cntk").write_text(CONFIGURATION)

    def shape_of_e(*more: str) -> object:
        answer = netsharp("describe", "--format", "json", "a.cntk", *more, cwd=folder)
        assert answer.code in (0, 1), answer.err
        assert "BS079" not in answer.err, answer.err
        return answer.code

    clean = CONFIGURATION.replace("bad = y + ParameterTensor {4}\n", "")
    (folder / "a.cntk").write_text(clean.replace("{5}", "{(5:1)}"))
    (folder / "e.txt").write_bytes(ROWS)
    described = netsharp("describe", "--format", "json", "a.cntk", cwd=folder)
    nodes = {one["name"]: one["shape"] for one in json.loads(described.out)["nodes"]}
    assert nodes["e.E"] == [5, 2]
    os.unlink(folder / "e.txt")
    with open(folder / "e.txt", "wb") as stream:
        stream.truncate(COUNTED_BYTES.most + 1)
    assert shape_of_e() == 0
    if os.name != "nt":
        os.unlink(folder / "e.txt")
        os.mkfifo(folder / "e.txt")
        assert shape_of_e() == 0
        os.unlink(folder / "e.txt")
        (tmp_path / "e.txt").write_bytes(b"secret\n")
        (folder / "e.txt").symlink_to(tmp_path / "e.txt")
        assert shape_of_e() == 0
        _, diagnostics = checked(folder, "a.cntk")
        assert "CK119" in [one["code"] for one in diagnostics]


@pytest.mark.costly
def test_a_server_that_is_not_trusted_reads_no_data(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    (folder / "a.cntk").write_text(CONFIGURATION)
    (folder / "e.txt").write_bytes(b"1 2\n3\n")
    uri = (folder / "a.cntk").as_uri()
    with watched(tmp_path, [folder], trusted=False) as (wire, untrusted):
        wire.open(uri, CONFIGURATION, "cntk")
        assert "BS079" not in codes(wire.published(uri))
    with watched(tmp_path, [folder], trusted=True) as (wire, trusted):
        wire.open(uri, CONFIGURATION, "cntk")
        assert "BS079" in codes(wire.published(uri))
    assert not any("e.txt" in one for one in untrusted)
    assert any("e.txt" in one for one in trusted)


def test_a_server_reads_data_once_it_is_trusted(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    (folder / "a.cntk").write_text(CONFIGURATION)
    (folder / "e.txt").write_bytes(b"1 2\n3\n")
    uri = (folder / "a.cntk").as_uri()
    with watched(tmp_path, [folder], trusted=False) as (wire, _):
        wire.open(uri, CONFIGURATION, "cntk")
        assert "BS079" not in codes(wire.published(uri))
        wire.notify("netsharp/trust", {"trusted": True})
        wire.send(wire.change(uri, 2, {"text": CONFIGURATION + "\n"}))
        assert "BS079" in codes(wire.published(uri, 2))
        (folder / "e.txt").write_bytes(ROWS)
        wire.send(wire.change(uri, 3, {"text": CONFIGURATION + "\n\n"}))
        assert "BS079" not in codes(wire.published(uri, 3))
        for version in range(4, 9):
            wire.send(wire.change(uri, version, {"text": CONFIGURATION + "\n" * version}))
            wire.published(uri, version)


def test_a_file_is_read_again_only_when_it_has_changed(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "e.txt"
    path.write_bytes(b"1 2\n")
    read: list[bytes] = []

    def count(blocks: Iterable[bytes]) -> int:
        read.append(b"".join(blocks))
        return len(read)

    files = [DiskFiles((str(tmp_path),)) for _ in range(3)]
    assert [each.counted("e.txt", count) for each in files] == [1, 1, 1]
    path.write_bytes(b"1 2 3\n")
    assert [each.counted("e.txt", count) for each in files] == [2, 2, 2]
    assert read == [b"1 2\n", b"1 2 3\n"]
