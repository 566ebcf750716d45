"""What a configuration computes without training, on a requested device, and only there."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netsharp_engine.cntk.computing import BACKEND, Computing, Requested, beside
from netsharp_engine.cntk.stored.model_file import read_model
from netsharp_engine.graph import Graph, GraphError, Node
from netsharp_engine.phases import PhasedBackend
from netsharp_engine.program import Job, Unsupported
from netsharp_engine.tensor_backend import TensorDraft
from netsharp_lsp.cntk.training.networks.models import ModelFiles
from netsharp_lsp.cntk.training.plans.devices import unit_of
from netsharp_lsp.project.roots import ANYWHERE
from tests.cli.command_line import clean_environment
from tests.cntk.training import test_renormalizing, test_validation
from tests.cntk.training.experiments import Follower, made, run
from tests.cntk.training.test_sequences import held

EXAMPLES = Path(__file__).parents[3] / "examples" / "cntk"
TORCH = "torch:cpu"
#: Commands of the examples that train, and those that use the models.
COMMANDS = {
    "plane": ("learn", "score:decide"),
    "wave": ("fitting", "fitted"),
    "words": ("guessing", "guessed"),
    "sentences": ("tagging:sorting", "tagged:sorted"),
    "numerals": ("learn", "score"),
}
NEAR = {"double": 1e-9, "float": 1e-4}
PRECISIONS = pytest.mark.parametrize("precision", NEAR)


def done(folder: Path, *items: str, device: str = "", precision: str = "") -> Follower:
    answer, follower = run(folder, *items, device=device, precision=precision)
    assert answer.code == 0, (answer.complaints, answer.told, answer.reports)
    return follower


@pytest.fixture
def only_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every program of the processor fail."""
    pytest.importorskip("torch", reason="PyTorch is in the dependency group 'peers'")

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the processor's engine computes")

    monkeypatch.setattr(TensorDraft, "program", refuse)


def numbers(event: dict[str, Any], key: str = "") -> list[float]:
    """The criterion and the other figures of an event, or of its validation."""
    found = event[key] if key else event
    return [found["loss"], *found["evaluation"].values()]


def devices(follower: Follower) -> dict[str, str]:
    """The device of each command that trains nothing."""
    told = [one for one in follower.events if one["event"] == "device"]
    assert all(one["device"]["why"] for one in told)
    return {one["command"]: one["device"]["name"] for one in told}


def written(folder: Path) -> dict[str, Any]:
    """The numbers of written files, else their words, by name."""
    found: dict[str, Any] = {}
    for path in sorted(folder.glob("out/*")):
        if not re.search(r"\.(dnn|ckp)(\.|$)", path.name):
            words = path.read_text().split()
            try:
                found[path.name] = np.array(words, float)
            except ValueError:
                found[path.name] = words
    return found


def compare(ours: dict[str, Any], theirs: dict[str, Any], near: float) -> None:
    assert ours.keys() == theirs.keys()
    for name, one in ours.items():
        if isinstance(one, list):
            assert theirs[name] == one, name
        else:
            np.testing.assert_allclose(theirs[name], one, rtol=near, atol=near, err_msg=name)


@pytest.mark.costly
@PRECISIONS
@pytest.mark.parametrize("name", COMMANDS)
def test_examples_are_tested_and_written_alike(
    name: str, precision: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Images, columns, tagged words, and sparse sentences of unequal length."""
    folder = tmp_path / name
    shutil.copytree(EXAMPLES / name, folder, ignore=shutil.ignore_patterns("out"))
    train, use = COMMANDS[name]
    typed = f"precision={precision}"
    few = [f"{one}=[SGD=[maxEpochs=1]]" for one in train.split(":")]
    done(folder, typed, f"command={train}", *few)
    found = [done(folder, typed, f"command={use}")]
    files = [written(folder)]
    request.getfixturevalue("only_torch")
    found.append(done(folder, typed, f"command={use}", device=TORCH))
    files.append(written(folder))
    assert devices(found[0]) == {}
    assert devices(found[1]) == dict.fromkeys(use.split(":"), TORCH)
    ends = [[one for one in each.events if one["event"] == "end"] for each in found]
    assert len(ends[0]) == len(ends[1]) >= 1
    for ours, theirs in zip(*ends, strict=True):
        assert ours["samples"] == theirs["samples"]
        assert numbers(theirs) == pytest.approx(numbers(ours), rel=NEAR[precision], abs=1e-12)
    compare(*files, NEAR[precision])


@PRECISIONS
def test_validation_after_epochs(
    precision: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """With statistics of inputs before the first, and of minibatches of two sizes."""
    items = ("command=learn", f"precision={precision}")
    ours = done(test_validation.checked(tmp_path / "cpu"), *items)
    request.getfixturevalue("only_torch")
    theirs = done(test_validation.checked(tmp_path / "torch"), *items, device=TORCH)
    assert len(ours.epochs) == len(theirs.epochs) == 4
    for first, second in zip(ours.epochs, theirs.epochs, strict=True):
        near = pytest.approx(numbers(first, "validation"), rel=NEAR[precision])
        assert numbers(second, "validation") == near
    (start,) = (one for one in theirs.events if one["event"] == "start")
    assert start["device"].keys() == {"name", "title", "why"}


STATISTICS = """\
command = learn:tell
modelPath = "out/net.dnn"
precision = "double"
reader = { file = "data.ctf" ; input = {
    x = { dim = 3 ; format = "dense" } ; y = { dim = 2 ; format = "dense" } } }
learn = {
    action = "train"
    BrainScriptNetworkBuilder = {
        x = Input (3) ; y = Input (2)
        h = Tanh (ParameterTensor {(4:3), initValueScale=3} * x)
        n = PerDimMeanVarNormalization (h, Mean (h), InvStdDev (h))
        ce = CrossEntropyWithSoftmax (y, LinearLayer {2} (n))
        featureNodes = (x) ; labelNodes = (y) ; criterionNodes = (ce) ; outputNodes = (n)
    }
    SGD = { maxEpochs = 1 ; minibatchSize = 7 ; learningRatesPerSample = 1e-6 }
}
tell = { action = "write" ; outputPath = "out/told" }
"""


def test_statistics_of_computed_nodes(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    models = []
    for device in ("", TORCH):
        folder = tmp_path / (device.partition(":")[0] or "cpu")
        folder.mkdir()
        test_renormalizing.data(folder)
        (folder / "net.cntk").write_text(STATISTICS)
        if device:
            request.getfixturevalue("only_torch")
        done(folder, device=device)
        models.append(ModelFiles(ANYWHERE).load(str(folder / "out" / "net.dnn")))
    for name, values in models[0].values.items():
        theirs = models[1].values[name]
        np.testing.assert_allclose(theirs, values, rtol=1e-9, atol=1e-12, err_msg=name)
    told = written(tmp_path / "torch")["told.n"].reshape(-1, 4)
    np.testing.assert_allclose(told.mean(0), 0, atol=1e-3)
    np.testing.assert_allclose(told.std(0), 1, atol=1e-3)


def test_statistics_of_normalised_batches(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """The action bnstat, node after node, and a test of the model that it writes."""
    test_renormalizing.data(tmp_path)
    (tmp_path / "net.cntk").write_text(test_renormalizing.TEXT)
    use, model = "command=again:score", tmp_path / "out" / "net.dnn.PBN"
    ours, before = done(tmp_path, "command=learn:again:score"), read_model(model.read_bytes())
    request.getfixturevalue("only_torch")
    theirs = done(tmp_path, use, device=TORCH)
    assert devices(theirs) == {"again": TORCH, "score": TORCH}
    assert numbers(theirs.events[-1]) == pytest.approx(numbers(ours.events[-1]), rel=1e-9)
    for first, second in zip(before.nodes, read_model(model.read_bytes()).nodes, strict=True):
        assert (first.name, first.attributes) == (second.name, second.attributes)
        if first.values is not None:
            np.testing.assert_allclose(second.values, first.values, rtol=1e-9, atol=1e-12)


def test_models_of_epochs_are_compared(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    streams = "features=[dim=2;format=dense];labels=[dim=3;format=dense]"
    compare = f"action=cv;crossValidationInterval=1:1:4;reader=[file=data.ctf;input=[{streams}]]"
    keeps = "learn=[SGD=[keepCheckPointFiles=true]]"
    folder = made(tmp_path / "run")
    done(folder, "command=learn", keeps, "precision=double")
    items = ("command=best", f"best=[{compare}]", "precision=double")
    ours = done(folder, *items)
    request.getfixturevalue("only_torch")
    theirs = done(folder, *items, device=TORCH)
    assert devices(theirs) == {"best": TORCH}
    ends = [[one for one in each.events if one["event"] == "end"] for each in (ours, theirs)]
    assert len(ends[0]) == 4
    for first, second in zip(*ends, strict=True):
        assert first["epoch"] == second["epoch"]
        assert numbers(second) == pytest.approx(numbers(first), rel=1e-9)


def test_products_of_half_the_digits_are_named(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    folder = made(tmp_path / "run")
    done(folder, "command=learn")
    (whole,) = (one for one in done(folder, "command=score").events if one["event"] == "end")
    request.getfixturevalue("only_torch")
    follower = done(folder, "command=score", device=TORCH, precision="bf16")
    told, end = follower.events
    assert told["device"]["title"].endswith("products of bf16")
    assert numbers(end) == pytest.approx(numbers(whole), rel=0.05)
    assert numbers(end) != pytest.approx(numbers(whole), rel=1e-6)


class Narrow(TensorDraft):
    """A back end that lacks one operation, and reads only the last node."""

    def unsupported(self) -> list[Unsupported]:
        nodes = [node for node in self.job.graph.nodes if node.op == "Tanh"]
        lacking = [Unsupported(node, f"{node.name}: there is no tanh here.") for node in nodes]
        return [*lacking, *super().unsupported()]

    def unreadable(self, nodes: list[Node]) -> list[Unsupported]:
        last = self.job.graph.nodes[-1]
        return [Unsupported(one, f"{one.name}: is not kept.") for one in nodes if one is not last]


def network(operation: str) -> Graph:
    graph = Graph()
    product = graph.apply("Times", held(graph, "W", 2, 3), graph.input("x", (2,)), name="product")
    graph.apply(operation, product, name="end")
    return graph


def test_the_whole_of_what_a_device_lacks_is_left_to_the_processor() -> None:
    narrow: PhasedBackend = Narrow
    facts = {"name": "narrow:1", "title": "Narrow", "why": "requested"}
    first = Computing("float32", narrow, facts)
    plain, lacking = (Job(network(one), 4, "float64") for one in ("Sigmoid", "Tanh"))
    assert beside(first, plain) == first._replace(dtype="float64")
    assert beside(first, plain, plain.graph.nodes[-1:]).backend is narrow
    for found, why in (
        (beside(first, lacking), "end: there is no tanh here"),
        (beside(first, plain, plain.graph.nodes), "W: is not kept"),
    ):
        assert (found.dtype, found.backend) == ("float64", BACKEND)
        assert found.facts == {
            "name": "cpu",
            "title": "numpy",
            "why": f"narrow:1 cannot do it: {why}; so cpu is used",
        }
    odd = Graph()
    odd.apply("Tanh", odd.apply("Sigmoid", odd.input("x", (2,))), name="end").op = "Unheard"
    for by in (first, Computing("float32", BACKEND, {**facts, "name": "cpu"})):
        with pytest.raises(GraphError, match="'Unheard' cannot be computed yet"):
            beside(by, Job(odd, 4))


@pytest.mark.parametrize(
    ("name", "title", "unit"),
    [
        ("cpu", "numpy", "CPU"),
        ("torch:cpu", "PyTorch 2.13.0+cpu, the processor", "CPU"),
        ("torch:cuda", "PyTorch 2.13.0, NVIDIA H200 (CUDA 13.0), products of bf16", "GPU 0"),
        ("wgpu:llvmpipe", "llvmpipe (Vulkan, Mesa 22.3.6), CPU", "CPU"),
        ("wgpu:Intel", "Intel (Vulkan, Mesa 22.3.6), IntegratedGPU", "GPU 0"),
    ],
)
def test_the_unit_of_lines_of_the_log(name: str, title: str, unit: str) -> None:
    assert unit_of({"name": name, "title": title, "why": "requested"}) == unit


def test_what_is_not_there_is_refused_for_every_action() -> None:
    job = Job(network("Sigmoid"), 4)
    assert Requested().forward(job) == Computing("float32")
    for asked, said in (
        (Requested("rocm"), r"--device rocm: There is no device 'rocm'\. Name auto, cpu, torch"),
        (
            Requested("", "bf16"),
            r"--device cpu: cpu has no products of bf16\. Choose --device torch",
        ),
    ):
        for choose in (asked.forward, asked.training):
            with pytest.raises(GraphError, match=said):
                choose(job)


@pytest.mark.costly
@pytest.mark.parametrize("device", ["", "cpu", "auto"])
def test_the_processor_loads_no_other_back_end(device: str, tmp_path: Path) -> None:
    from netsharp_engine.backends.likely import torch_is_likely

    if device == "auto" and torch_is_likely():
        pytest.skip("this computer may have a device, so torch is asked")
    folder = test_validation.checked(tmp_path)
    words = ["run", "net.cntk", "learn=[SGD=[maxEpochs=1]]"]
    words += ["--device", device] if device else []
    code = (
        "import sys; from netsharp_lsp.__main__ import main; code = main(sys.argv[1:]); "
        "sys.exit(code or any(one in sys.modules for one in ('torch', 'wgpu')))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=folder,
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    assert ("score: cpu computes (numpy)" in answer.stderr) == bool(device)
    assert (folder / "out" / "told.PosteriorProb").exists()
