"""An adversary's pass: every model that the experiments here leave, and those that CNTK wrote, is
compiled and exported as a QDQ file, and answers as its model does, or is refused by a sentence with
the node and its place; nothing is half-written.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import netsharp
from netsharp_lsp.cntk.commands.models import is_model
from tests.cli.command_line import netsharp as command
from tests.cntk.training.model_writing import dictionary
from tests.cntk.training.old_experiments import starts, unpacked
from tests.cntk.training.random_models import first, second
from tests.compiling.builds import COMPILERS, require_same_bits
from tests.compiling.qdq_files import HAS_RUNTIME, require_exported
from tests.compiling.test_networks_of_cntk import REFUSED, Compilable
from tests.conftest import SEED
from tests.readme.test_leaving import MODELS, needs_models

EXAMPLES = Path(__file__).parents[2] / "examples" / "cntk"
#: The experiments of a folder of old ones that have networks of rows, and how they are started.
STARTS = [one for one in starts() if not re.search("05_|07_|11_|tagging", " ".join(one))]
#: The others, of which one of each kind of reason is enough, and the examples.
OTHERS = [one for one in starts() if re.search("05_|11_", " ".join(one))]
RUNS = {
    "numerals": ("learn", "learn=[SGD=[maxEpochs=3]]"),
    "plane": ("learn", "learn=[SGD=[maxEpochs=1]]"),
    "wave": ("fitting", "fitting=[SGD=[maxEpochs=3]]"),
    "words": ("guessing", "guessing=[SGD=[maxEpochs=1]]"),
    "sentences": ("tagging:sorting", "tagging=[SGD=[maxEpochs=1]] sorting=[SGD=[maxEpochs=1]]"),
}
WIDE = ("--weights", "int16", "--activations", "uint12")
#: Why a model is refused: each names the file, and the node where it is about one.
SENTENCES = (
    r"'[^']+' in {name} cannot be compiled yet: .+\.",
    r"{name}: '[^']+' is a sum over samples, which evaluate reports\. .+\.",
    r"{name}: no run is known that trained the model: .+ Name rows with --calibrate FILE: .+\.",
)
CHECKPOINT = re.compile(r"\.ckp(\.safetensors)?$")


def models_below(folder: Path) -> Iterator[Path]:
    """Every model but those of epochs, of which there is the last."""
    for path in sorted(folder.rglob("*")):
        kept = re.search(r"\.\d+$", path.name) is None
        if path.is_file() and kept and not CHECKPOINT.search(path.name) and is_model(str(path)):
            yield path


def require_answers(model: Path, folder: Path, *given: str) -> str:
    """Compile a model where its run is; what was said of it, "compiled" or why it is refused.

    What was compiled is as good as the model on the rows that ranges were read from.
    """
    name = model.relative_to(folder).as_posix()
    answer = command("compile", name, "--output", "device", *given, cwd=folder)
    written = folder / "device"
    if answer.code == 2:
        assert answer.out == ""
        assert list(folder.glob("*device*")) == []
        (output,) = answer.err.splitlines()
        reasons = [one.format(name=re.escape(name)) for one in SENTENCES]
        assert any(re.fullmatch(f"netsharp: {one}", output) for one in reasons), output
        return output
    assert (answer.code, answer.err) == (0, ""), answer.err
    report = json.loads((written / "report.json").read_text())
    assert report["rows"] > 0
    if report["agreement"] is not None:
        differing = report["rows"] * (1 - report["agreement"])
        gate = report["gate"]
        # Of held-out rows only fewer right answers count.
        lost = differing if gate is None else gate["right_before"] - gate["right"]
        rows = report["rows"] if gate is None else gate["rows"]
        assert lost <= max(1, rows * 0.005) + 1e-6, name
    shutil.rmtree(written)
    if HAS_RUNTIME:
        require_exported(model, folder, *given)
    return "compiled"


@pytest.mark.costly
@pytest.mark.filterwarnings("ignore")
def test_models_of_old_experiments(tmp_path: Path) -> None:
    folder = unpacked(tmp_path / "old")
    for one in (*STARTS, *OTHERS):
        assert command("run", "--quiet", *one, cwd=folder).code == 0
    found = {
        model.relative_to(folder / "Output").as_posix(): require_answers(model, folder, *WIDE)
        for model in models_below(folder)
    }
    compiled = {name for name, reported in found.items() if reported == "compiled"}
    assert {"02/columns.dnn", "04/simple.dnn", "08/composite", "08/pictures.pbn"} <= compiled
    assert {"03/three/net.dnn", "10/adjusted.dnn", "12/net.dnn", "Models/01_plane"} <= compiled
    refused = {name: found[name] for name in found.keys() - compiled}
    assert "looks at other steps" in refused["11/truncated.dnn"]
    assert "is a sum over samples" in refused["05/words.dnn"]
    assert "no run is known" in refused["02/columns.top2.dnn"]


@pytest.mark.costly
def test_models_of_the_examples(tmp_path: Path) -> None:
    compiled = set()
    for name, (commands, more) in RUNS.items():
        folder = tmp_path / name
        shutil.copytree(EXAMPLES / name, folder)
        run = ("run", f"{name}.cntk", f"command={commands}", *more.split())
        assert command(*run, cwd=folder).code == 0
        for model in models_below(folder):
            if model.suffix == ".dnn" and require_answers(model, folder, *WIDE) == "compiled":
                compiled.add(model.stem)
    assert compiled == {"numerals", "plane", "wave"}


@needs_models
@pytest.mark.costly
def test_models_that_cntk_wrote(tmp_path: Path) -> None:
    """Those over rows are compiled from drawn ones; the others look along sequences."""
    found = {}
    for model in sorted(MODELS.iterdir()):
        if not is_model(str(model)) or CHECKPOINT.search(model.name):
            continue
        shutil.copy(model, tmp_path / model.name)
        read = netsharp.load(tmp_path / model.name)
        assert read.network is not None
        if not read.network.over_time and model.stat().st_size < 500_000:
            size = sum(one.size for one in read.graph.inputs)
            rows = np.random.default_rng(SEED).integers(0, 256, (40, size))
            np.savetxt(tmp_path / "rows.csv", rows, fmt="%d", delimiter=",")
            given = ("--calibrate", "rows.csv", *WIDE)
            found[model.name] = require_answers(tmp_path / model.name, tmp_path, *given)
        elif read.network.over_time:
            found[model.name] = require_answers(tmp_path / model.name, tmp_path)
    assert found.pop("mnist_conv.cmf") == "compiled"
    assert len(found) >= 2
    assert all("looks at other steps" in reported for reported in found.values())


@pytest.mark.drawn
@pytest.mark.parametrize("number", range(100))
@pytest.mark.parametrize("form", ["v1", "v2"])
def test_networks_drawn_by_chance_give_the_same_bits_in_c(
    form: str, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grown = Compilable(SEED + 1000 + number, form)
    path = tmp_path / "net.dnn"
    path.write_bytes(first(grown) if form == "v1" else dictionary(second(grown)))
    model = netsharp.load(path)
    size = sum(one.size for one in model.graph.inputs)
    rows = np.random.default_rng(SEED + number).normal(size=(60, size))
    made, reason = None, ""
    try:
        made = netsharp.compile(model, rows)
    except netsharp.CompileError as error:
        reason = str(error)
    if made is None:
        assert re.match(r"'[^']+' in .*net\.dnn cannot ", reason), reason
        assert REFUSED.search(reason), reason
        return
    monkeypatch.setattr("tests.compiling.builds.COMPILERS", COMPILERS[:1])
    require_same_bits(made, rows[:8], tmp_path, "-O1")
