"""`netsharp compile` from end to end: a file of rows, a model, and C that a compiler takes."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

import netsharp
from tests.cli.command_line import netsharp as command
from tests.compiling.builds import COMPILERS, STRICT
from tests.compiling.networks import DEEP, ONE, trained
from tests.peers import needs_runtime

pytestmark = pytest.mark.filterwarnings("ignore:On training rows")
ROOT = Path(__file__).parents[2]
IRIS = ROOT / "examples" / "iris" / "iris.csv"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model of flowers, its rows, and a model that was trained on arrays."""
    made = tmp_path_factory.mktemp("compile")
    (made / "iris.csv").write_bytes(IRIS.read_bytes())
    text = "input X auto; hidden H [8] tanh from X all; output Y auto softmax from H all;"
    (made / "iris.nn").write_text(text + "\n")
    answer = command("run", "iris.nn", "--train", "iris.csv", "--label", "species", cwd=made)
    assert answer.code == 0, answer.err
    netsharp.save(trained(DEEP)[0], made / "arrays.safetensors")
    return made


def test_a_model_becomes_c_that_passes_its_own_test(folder: Path) -> None:
    answer = command("compile", "iris.safetensors", "--output", "device", cwd=folder)
    assert (answer.code, answer.err) == (0, "")
    first, second, sizes, rows, note, files = answer.out.splitlines()
    assert first.startswith("H: 4 to 8, tanh, sums of ")
    assert second.startswith("Y: 8 to 3, softmax, sums of ")
    assert sizes.startswith(
        "155 bytes of weights, biases and scales, 256 bytes in 1 lookup table, 8 "
    )
    assert rows.startswith("on 150 rows: ")
    assert note.startswith("note: no held-out rows to evaluate it on")
    assert files == (
        "device: net.c, net.h, net.json, net.tables.bin, net_load.c, net_load.h, net_quantize.c, "
        "net_tables.c, net_test.c, net_weights.c, report.json, report.md, report.svg"
    )
    sources = sorted(str(path) for path in (folder / "device").glob("*.c"))
    program = folder / "program"
    subprocess.run([COMPILERS[0], *STRICT, *sources, "-o", str(program)], check=True)
    assert subprocess.run([program], check=False).returncode == 0


def test_the_report_as_json_and_every_setting(folder: Path) -> None:
    settings = ("--activations", "int8", "--weights", "int16", "--logits", "uint8")
    more = ("--no-share-tables", "--prefix", "flower", "--format", "json", "--answers", "softmax")
    rows = ("--calibrate", "iris.csv")
    answer = command(
        "compile", "iris.safetensors", "--output", "other", *rows, *settings, *more, cwd=folder
    )
    assert (answer.code, answer.err) == (0, "")
    output = json.loads(answer.out)
    assert {"flower_test.c", "flower_softmax.c"} <= set(output["files"])
    assert [one["name"] for one in output["report"]["layers"]] == ["H", "Y"]
    assert output["report"]["rows"] == 150
    assert output["report"]["agreement"] > 0.97
    assert "typedef int8_t flower_in_t;" in (folder / "other" / "flower.h").read_text()


@pytest.mark.parametrize(
    ("model", "rest", "message"),
    [
        ("arrays.safetensors", (), "trained on arrays, and ranges are read from rows: name files"),
        ("iris.safetensors", ("--calibrate", "none.csv"), "none.csv"),
        ("iris.safetensors", ("--prefix", "int"), "iris.safetensors: The prefix begins names of C"),
        ("iris.csv", (), "iris.csv"),
        ("none.safetensors", (), "none.safetensors"),
    ],
)
def test_what_cannot_be_is_a_sentence_and_nothing_is_written(
    model: str, rest: tuple[str, ...], message: str, folder: Path
) -> None:
    before = sorted(folder.iterdir())
    answer = command("compile", model, "--output", "never", *rest, cwd=folder)
    assert (answer.code, answer.out) == (2, "")
    assert message in answer.err
    assert "Traceback" not in answer.err
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(
    ("header", "place", "flags"),
    [
        ("a,b,c,d,e,f,label\n", 6, ()),
        ("Label,a,b,c,d,e,f\n", 0, ()),
        ("a,b,c,kind,d,e,f\n", 3, ("--label", "kind")),
        ("", 6, ("--label", "7")),
    ],
)
def test_rows_of_a_model_of_arrays_may_have_a_label(
    header: str, place: int, flags: tuple[str, ...], tmp_path: Path
) -> None:
    """Its features have no names: they are the other columns, in order."""
    model, x = trained(DEEP)
    netsharp.save(model, tmp_path / "net.safetensors")
    lines = []
    for row, answer in zip(x[:60].tolist(), model.predict(x[:60]).predicted, strict=True):
        cells = [*map(repr, row)]
        cells.insert(place, str(answer))
        lines.append(",".join(cells) + "\n")
    (tmp_path / "rows.csv").write_text(header + "".join(lines))
    rows = ("--calibrate", "rows.csv", "--holdout", "rows.csv", *flags)
    answer = command("compile", "net.safetensors", "--output", "net", *rows, cwd=tmp_path)
    assert (answer.code, answer.err) == (0, "")
    assert "on 60 held-out rows (rows.csv): accuracy 100.00%" in answer.out
    if flags != ():
        answer = command("compile", "net.safetensors", "--output", "no", *rows[:4], cwd=tmp_path)
        assert answer.err.endswith(
            "rows.csv has 7 columns; the model takes 6 features, which are matched by position: "
            "leave out the others, or name the label with --label.\n"
        )


def test_rows_that_the_training_left_out_give_no_ranges(tmp_path: Path) -> None:
    rows = [
        "a,b,label",
        *(f"{'' if n % 9 == 4 else n},{n * n % 7},{'xy'[n % 2]}" for n in range(90)),
    ]
    (tmp_path / "rows.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "net.nn").write_text(ONE.format("tanh", "softmax") + "\n")
    train = ("--train", "rows.csv", "--label", "label", "--missing", "drop", "--epochs", "2")
    assert command("run", "net.nn", *train, cwd=tmp_path).code == 0
    answer = command("compile", "net.safetensors", "--output", "net", cwd=tmp_path)
    assert (answer.code, answer.err) == (0, "")
    assert "on 80 rows: " in answer.out


def test_a_folder_of_others_is_left_unchanged(folder: Path) -> None:
    (folder / "mine").mkdir(exist_ok=True)
    (folder / "mine" / "note.txt").write_text("kept")
    answer = command("compile", "iris.safetensors", "--output", "mine", cwd=folder)
    assert answer.code == 2
    assert "holds note.txt, which is not a file of this network" in answer.err
    assert [path.name for path in (folder / "mine").iterdir()] == ["note.txt"]
    (folder / "file").write_text("kept")
    answer = command("compile", "iris.safetensors", "--output", "file", cwd=folder)
    assert (answer.code, (folder / "file").read_text()) == (2, "kept")
    answer = command("compile", "iris.safetensors", "--output", "no/where", cwd=folder)
    assert answer.code == 2
    assert "cannot be written" in answer.err


def test_layers_that_are_not_compiled_are_named_with_their_line(tmp_path: Path) -> None:
    text = (
        "input X [6];\nhidden C [6] from X response norm { InputShape = [6]; KernelShape = [3];"
        " Padding = true; Alpha = 0.1; Beta = 0.5; }\noutput Y auto from C all;\n"
    )
    model, _ = trained(text)
    netsharp.save(model, tmp_path / "net.safetensors")
    (tmp_path / "rows.csv").write_text("1,2,3,4,5,6\n" * 20)
    rows = ("--calibrate", "rows.csv")
    answer = command("compile", "net.safetensors", "--output", "net", *rows, cwd=tmp_path)
    assert answer.code == 2
    assert "line 2: the response norm bundle cannot be compiled yet: response norm" in answer.err
    assert not (tmp_path / "net").exists()
    model, _ = trained(ONE.format("tanh", "softmax"))
    netsharp.save(model, tmp_path / "net.safetensors")
    answer = command("compile", "net.safetensors", "--output", "net", *rows, cwd=tmp_path)
    assert answer.code == 0, answer.err


@needs_runtime
def test_the_integers_as_an_onnx_file(folder: Path) -> None:
    """Beside the float export, under a name of its own, with the report on its rows."""
    answer = command("export", "iris.safetensors", "--to", "onnx-qdq", cwd=folder)
    assert (answer.code, answer.err) == (0, "")
    first, rows, inputs, outputs, *compared = answer.out.splitlines()
    assert re.fullmatch(r"iris\.qdq\.onnx: \d+ operators of set 21", first)
    assert rows.startswith("  on 150 rows: ")
    assert inputs == "  inputs: features [batch, 4]"
    assert outputs == "  outputs: label [batch], probabilities [batch, 3]"
    assert all("in onnxruntime" in line for line in compared)
    assert re.fullmatch(
        r"  answers in onnxruntime, on 150 rows: \d+ of 450 codes differ(, by 1 at most)?; "
        "150 have the same largest answer",
        compared[-1],
    )
    assert (folder / "iris.qdq.onnx").exists()


@needs_runtime
def test_every_setting_of_the_integers_shapes_the_file(folder: Path) -> None:
    settings = ("--activations", "int8", "--layer", "H=uint4", "--weights", "int16")
    more = ("--logits", "uint8", "--range", "mse", "--requant", "shift", "--no-share-tables")
    rows = ("--calibrate", "iris.csv", "--holdout", "iris.csv", "--verify", "iris.csv")
    export = ("export", "iris.safetensors", "--to", "onnx-qdq", "set.onnx")
    answer = command(*export, *settings, *more, *rows, "--max-drop", "90", cwd=folder)
    assert (answer.code, answer.err) == (0, "")
    assert "on 150 held-out rows (iris.csv)" in answer.out
    import onnx

    model = onnx.load(folder / "set.onnx")
    weights = next(one for one in model.graph.initializer if one.name == "H/weights")
    assert weights.data_type == onnx.TensorProto.INT16


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--to", "onnx", "--weights", "int16"), "--weights is about integers, which --to onnx"),
        (("--to", "onnx", "--weights", "int8"), "--weights is about integers, which --to onnx"),
        (("--to", "torch", "--share-tables"), "--share-tables is about integers, which --to torch"),
        (("--to", "tsql", "--no-share-tables"), "--no-share-tables is about integers, which --to"),
        (("--to", "onnx", "--range", "operator"), "--range is about integers, which --to onnx"),
        (("--to", "onnx-qdq", "--output", "H"), "--output says nothing of a network in integers"),
        (("--to", "onnx-qdq", "--stream", "a=b"), "--stream and --reader are for models whose"),
        (("--to", "torch", "--opset", "17"), "--opset is about ONNX's operators, which --to torch"),
        (("--to", "tsql", "--sequences-first"), "is about tensors of sequences, which --to tsql"),
        (("--to", "onnx", "--classes", "a.txt"), "--classes is about the samples of a network in"),
        (("--to", "onnx-qdq", "--opset", "17"), "its codes need operator set 21 or later"),
        (("--to", "onnx-qdq", "--layer", "Z=int8"), "There is no layer 'Z'"),
        (("--to", "onnx-qdq", "--calibrate", "none.csv"), "none.csv"),
        (("--to", "onnx-qdq", "iris.safetensors"), "is the model itself"),
    ],
)
def test_what_no_onnx_file_holds_is_a_sentence(
    words: tuple[str, ...], message: str, folder: Path
) -> None:
    before = sorted(folder.iterdir())
    answer = command("export", "iris.safetensors", *words, cwd=folder)
    assert (answer.code, answer.out) == (2, "")
    assert message in answer.err
    assert answer.err.count("\n") == 1
    assert sorted(folder.iterdir()) == before
