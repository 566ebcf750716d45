"""Weights of CNTK's models, out of their files, back into them, and compared."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from netsharp_engine.data.array_files import read_arrays
from netsharp_lsp.language import read_numbers
from tests.cli.command_line import netsharp
from tests.cli.test_schemas import schema
from tests.cntk.training.model_writing import First
from tests.cntk.training.test_model_dictionaries import layered


def first() -> bytes:
    out = First(10)
    out.parameter("W", np.arange(6, dtype=np.float32).reshape(2, 3))
    out.parameter("b", np.array([0, 1], np.float32))
    return out.data()


def second() -> bytes:
    out, _, root = layered(2)
    return out.data(root)


@pytest.mark.parametrize("suffix", ["npz", "safetensors"])
@pytest.mark.parametrize("made", [first, second])
def test_weights_go_out_and_back(made, suffix: str, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    model, arrays = tmp_path / "m.dnn", str(tmp_path / f"w.{suffix}")
    data = made()
    model.write_bytes(data)
    assert netsharp("weights", str(model), "--to", arrays, cwd=tmp_path).code == 0
    before = read_numbers(str(model))
    found = read_arrays(arrays)
    assert {name: one.tolist() for name, one in found.items()} == {
        name: one.tolist() for name, one in before.items()
    }
    assert netsharp("weights", str(model), "--from", arrays, cwd=tmp_path).code == 0
    assert model.read_bytes() == data
    name = next(iter(found))
    np.savez(tmp_path / "changed.npz", **{name: found[name] + 1})
    assert (
        netsharp("weights", str(model), "--from", str(tmp_path / "changed.npz"), cwd=tmp_path).code
        == 0
    )
    after = read_numbers(str(model))
    assert after[name].tolist() == (before[name] + 1).tolist()
    changed = model.read_bytes()
    assert len(changed) == len(data)
    places = [at for at, (one, other) in enumerate(zip(data, changed, strict=True)) if one != other]
    assert places[-1] - places[0] < before[name].nbytes


def test_what_does_not_fit_leaves_the_model_as_it_is(tmp_path: Path) -> None:
    model = tmp_path / "m.dnn"
    model.write_bytes(first())
    for arrays, words in (
        ({"W": np.ones((3, 2), np.float32)}, "'W' has the shape [2, 3], and the new numbers"),
        ({"other": np.ones(2, np.float32)}, "no numbers called 'other'"),
    ):
        np.savez(tmp_path / "w.npz", **arrays)
        done = netsharp("weights", str(model), "--from", str(tmp_path / "w.npz"), cwd=tmp_path)
        assert done.code == 2
        assert words in done.err
        assert model.read_bytes() == first()
    done = netsharp("weights", str(model), "--to", str(tmp_path / "w.csv"), cwd=tmp_path)
    assert (done.code, "neither .npz nor .safetensors" in done.err) == (2, True)


def test_a_node_answers_to_any_of_its_names(tmp_path: Path) -> None:
    (tmp_path / "m.dnn").write_bytes(second())
    (tmp_path / "d.ctf").write_text("|features 1 2 3\n")
    output = [
        netsharp("predict", "m.dnn", "--data", "d.ctf", "--output", name, cwd=tmp_path)
        for name in ("Block1", "layer1", "Block1_Output_0")
    ]
    assert [one.code for one in output] == [0, 0, 0], [one.err for one in output]
    values = [one.out.splitlines()[-1] for one in output]
    assert len(set(values)) == 1


def test_statistics_of_weights(tmp_path: Path) -> None:
    model = tmp_path / "m.dnn"
    model.write_bytes(first())
    output = netsharp("weights", str(model), "--statistics", cwd=tmp_path).out
    assert "W  [2, 3]  mean 2.5  deviation 1.70783  norm 7.4162  zeros 1 of 6" in output


def test_models_are_compared_by_nodes_and_numbers(tmp_path: Path) -> None:
    (tmp_path / "a.dnn").write_bytes(second())
    (tmp_path / "b.dnn").write_bytes(second())
    done = netsharp("diff", "a.dnn", "b.dnn", cwd=tmp_path)
    assert (done.code, done.out) == (0, "The networks are the same.\n")
    numbers = read_numbers(str(tmp_path / "a.dnn"))["layer1/W"]
    moved = numbers.copy()
    moved[0, 0] += 0.25
    np.savez(tmp_path / "w.npz", **{"layer1/W": moved})
    assert netsharp("weights", "b.dnn", "--from", "w.npz", cwd=tmp_path).code == 0
    done = netsharp("diff", "a.dnn", "b.dnn", cwd=tmp_path)
    assert done.code == 1
    assert done.out.startswith("~ parameter layer1/W: norm ")
    assert "(difference: norm 0.25, largest 0.25)" in done.out


def test_a_model_is_compared_with_a_configuration(tmp_path: Path) -> None:
    (tmp_path / "net.cntk").write_text(TRAINED)
    (tmp_path / "data.ctf").write_text("|x 1 2 |y 1\n" * 4)
    assert netsharp("run", "net.cntk", cwd=tmp_path).code == 0
    done = netsharp("diff", "out/net.dnn", "net.cntk", cwd=tmp_path)
    assert done.code == 0
    *moved, last = done.out.splitlines()
    message = (
        f"The networks are the same, and {len(moved)} parameters have moved since training began."
    )
    assert last == message
    assert all(one.startswith("~ parameter ") and " norm since it began " in one for one in moved)
    done = netsharp("diff", "out/net.dnn.0", "net.cntk", cwd=tmp_path)
    assert (done.code, done.out) == (0, "The networks are the same.\n")
    (tmp_path / "wide.cntk").write_text(TRAINED.replace("Input {2}", "Input {3}"))
    done = netsharp("diff", "out/net.dnn", "wide.cntk", cwd=tmp_path)
    assert done.code == 1
    assert "~ node x: shape 2 -> 3" in done.out


def test_a_recurrent_model_is_that_of_its_configuration(tmp_path: Path) -> None:
    # A file keeps the value before the first step in four bytes, and the shapes of delays.
    (tmp_path / "net.cntk").write_text(RECURRENT)
    (tmp_path / "data.ctf").write_text("0 |x 1 2 |y 1\n0 |x 2 1 |y 0\n1 |x 1 1 |y 1\n" * 2)
    assert netsharp("run", "net.cntk", cwd=tmp_path).code == 0
    done = netsharp("check", "net.cntk", cwd=tmp_path)
    assert "CK126" not in done.out
    done = netsharp("diff", "out/net.dnn", "net.cntk", cwd=tmp_path)
    assert done.code == 0
    assert "have moved since training began." in done.out.splitlines()[-1]
    assert "~ node" not in done.out
    changed = RECURRENT.replace("PastValue (3, h)", "PastValue (3, h, defaultHiddenActivation=0.2)")
    (tmp_path / "other.cntk").write_text(changed)
    done = netsharp("diff", "out/net.dnn", "other.cntk", cwd=tmp_path)
    assert done.code == 1
    assert ": defaultHiddenActivation 0.1 -> 0.2" in done.out


def test_figures_of_what_moved_are_numbers_in_json(tmp_path: Path) -> None:
    (tmp_path / "net.cntk").write_text(TRAINED.replace("maxEpochs = 1", "maxEpochs = 3"))
    (tmp_path / "data.ctf").write_text("|x 1 2 |y 1\n|x -1 0.5 |y 0\n" * 4)
    assert netsharp("run", "net.cntk", cwd=tmp_path).code == 0
    names = sorted(path.name for path in (tmp_path / "out").glob("net.dnn.[0-9]"))
    assert len(names) >= 2
    first, last = (read_numbers(str(tmp_path / "out" / name)) for name in (names[0], names[-1]))
    for before, after, code in (
        (f"out/{names[0]}", f"out/{names[-1]}", 1),
        ("net.cntk", f"out/{names[-1]}", 0),
    ):
        done = netsharp("diff", before, after, "--format", "json", cwd=tmp_path)
        assert done.code == code, done.out
        document = json.loads(done.out)
        schema("diff.json").validate(document)
        assert document["same"] is (code == 0)
        found = {one["name"]: one["norms"] for one in document["differences"]}
        assert set(found) == {name for name in first if (first[name] != last[name]).any()}
        for name, norms in found.items():
            old, new = (one[name].astype(np.float64).ravel() for one in (first, last))
            assert norms == pytest.approx(
                {
                    "before": np.linalg.norm(old),
                    "after": np.linalg.norm(new),
                    "difference": np.linalg.norm(new - old),
                    "largest": np.abs(new - old).max(),
                },
                rel=1e-6,
            )


def test_a_model_is_compared_with_the_command_that_writes_it(tmp_path: Path) -> None:
    """Numbers are drawn in order through a run, so those of the second come after the first's."""
    block = TRAINED.partition("\n")[2]
    late = block.replace("Train = {", "Late = {").replace("net.dnn", "late.dnn")
    text = "command = Train:Late\n" + block + late.replace("LinearLayer {1}", "DenseLayer {1}")
    (tmp_path / "net.cntk").write_text(text)
    (tmp_path / "data.ctf").write_text("|x 1 2 |y 1\n" * 4)
    done = netsharp("run", "net.cntk", cwd=tmp_path)
    assert done.code == 0, done.err
    for name in ("net", "late"):
        done = netsharp("diff", f"out/{name}.dnn.0", "net.cntk", cwd=tmp_path)
        assert (done.code, done.out) == (0, "The networks are the same.\n")
        done = netsharp("diff", f"out/{name}.dnn", "net.cntk", cwd=tmp_path)
        assert "moved since training began" in done.out


def test_what_cannot_be_computed_is_taken_from_the_first_epoch(tmp_path: Path) -> None:
    text = TRAINED.replace(
        "z = LinearLayer {1} (x)",
        'W = ParameterTensor {(1:2), init = "fromFile", initFromFilePath = "w.txt"} ; z = W * x',
    )
    (tmp_path / "net.cntk").write_text(text)
    (tmp_path / "w.txt").write_text("3 4\n")
    (tmp_path / "data.ctf").write_text("|x 1 2 |y 1\n" * 4)
    done = netsharp("run", "net.cntk", cwd=tmp_path)
    assert done.code == 0, done.err
    known = netsharp("diff", "net.cntk", "out/net.dnn", cwd=tmp_path).out
    assert known.startswith("~ parameter W: norm since it began 5 -> ")
    (tmp_path / "w.txt").unlink()
    assert netsharp("diff", "net.cntk", "out/net.dnn", cwd=tmp_path).out == known
    (tmp_path / "out" / "net.dnn.0").write_bytes(b"B\0C\0N\0damaged")
    done = netsharp("diff", "net.cntk", "out/net.dnn", cwd=tmp_path)
    assert done.out == "The networks are the same.\n"


def test_models_are_listed_with_the_command_that_writes_them(tmp_path: Path) -> None:
    (tmp_path / "net.cntk").write_text(TRAINED)
    (tmp_path / "data.ctf").write_text("|x 1 2 |y 1\n" * 4)
    assert netsharp("run", "net.cntk", cwd=tmp_path).code == 0
    (tmp_path / "old.cmf").write_bytes(second())
    (tmp_path / "cut.dnn").write_bytes(second()[:-9])
    (tmp_path / "text.model").write_text("no model")
    done = netsharp("config", "--list", ".", cwd=tmp_path)
    assert done.code == 0, done.err
    output = [line for line in done.out.splitlines() if "model" in line]
    assert len(output) == 3
    assert output[0].startswith("cut.dnn: a model that cannot be used: ")
    assert "byte " in output[0]
    assert output[1].startswith("old.cmf: model of format v2, version 3, ")
    assert output[2].startswith(f"{Path('out') / 'net.dnn'}: model of format v1, version 15, ")
    assert output[2].endswith("outputs z; written by Train of net.cntk")


TRAINED = """command = Train
Train = {
    action = "train" ; modelPath = "out/net.dnn"
    BrainScriptNetworkBuilder = {
        x = Input {2} ; y = Input {1}
        z = LinearLayer {1} (x)
        e = SquareError (y, z)
        featureNodes = (x) ; labelNodes = (y) ; criterionNodes = (e) ; outputNodes = (z)
    }
    SGD = { maxEpochs = 1 ; epochSize = 0 ; minibatchSize = 4 ; learningRatesPerSample = 0.01 }
    reader = {
        readerType = "CNTKTextFormatReader" ; file = "data.ctf"
        input = { x = { dim = 2 ; format = "dense" } ; y = { dim = 1 ; format = "dense" } }
    }
}
"""
RECURRENT = TRAINED.replace(
    "z = LinearLayer {1} (x)",
    """h = Tanh (ParameterTensor {(3:2)} * x + ParameterTensor {(3:3)} * PastValue (3, h))
        z = LinearLayer {1} (h)""",
)
