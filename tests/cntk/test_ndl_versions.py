"""Releases of NDL's words: the one that a run is for, what is reported of words that it does not
know, and names that were free before.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from netsharp_lsp.cntk.ndl.functions import FUNCTIONS
from netsharp_lsp.cntk.networks.node_types import NODE_TYPES
from netsharp_lsp.cntk.run.experiment import Experiment, SingleFile
from netsharp_lsp.cntk.versions import FIRST, LAST, VERSIONS, rank
from netsharp_lsp.workspace import Premises, Run
from tests.cli.command_line import netsharp
from tests.cntk.test_versions import experiment as network_run
from tests.cntk.test_versions import message, reported
from tests.cntk.texts import Memory

CONFIGURATION = b"""\
command = Train
modelPath = "m/a.dnn"
Train = {
    action = train
    NDLNetworkBuilder = { networkDescription = "net.ndl" }
    SGD = { maxEpochs = 1 ; learningRatesPerMB = 0.1 }
    reader = {
        readerType = CNTKTextFormatReader
        file = "rows.txt"
        input = { v = { dim = 4 ; format = dense } ; l = { dim = 4 ; format = dense } }
    }
}
"""
NETWORK = """\
v = Input(4, tag = feature)
l = Input(4, tag = label)
c = Parameter(4, 1)
h = {call}
e = SquareError(l, h, tag = criterion)
"""
#: What is written, the lowest release that knows it, and whether an earlier one stops there.
CALLS = (
    ("Tanh(v)", FIRST, True),
    ("Pass(v)", "2.0", True),
    ("Plus(v, EditDistanceError(v, l))", "2.0", True),
    ("BatchNormalization(v, c, c, c, c, Constant(0))", "2.0", True),
    ("Cosh(Sinh(v))", "2.1", True),
    ("Asin(Acos(v))", "2.2", True),
    ("BatchNormalization(v, c, c, c, c, disableRegularization = true)", "2.3", False),
    ("StopGradient(v)", "2.4", True),
    ("Cast(v, precision = double)", "2.7", True),
)
every_call = pytest.mark.parametrize(("call", "version", "stops"), CALLS)


def experiment(call: str, version: str = "", before: str = "") -> Experiment:
    text = (before + NETWORK.format(call=call)).encode()
    files = Memory({"a.cntk": CONFIGURATION, "net.ndl": text, "rows.txt": b""})
    return Experiment(Run(("configFile=a.cntk",)), files, given=Premises(version=version))


@every_call
def test_the_lowest_release_that_knows_every_word_is_meant(
    call: str, version: str, stops: bool
) -> None:
    run = experiment(call)
    assert (run.version.name, reported(run)) == (version, [])
    assert reported(experiment(call, version)) == reported(experiment(call, LAST)) == []
    for earlier in VERSIONS[: rank(version)]:
        found = reported(experiment(call, earlier))
        assert {one.split()[0] for one in found} == {"CK121"}
        assert {one.split()[1] for one in found} == {"error" if stops else "warning"}


def test_later_releases_splice_along_an_axis_without_turning() -> None:
    layer = "{ r = Splice (image : image, axis=2) }.r"
    operations = {}
    for version in (FIRST, "2.0", LAST):
        (built,) = network_run(layer, version).networks
        assert built.network is not None
        assert built.network.nodes["h"].shape == (12, 20, 3)
        operations[version] = {node.operation for node in built.network.nodes.values()}
    assert operations[FIRST] - operations["2.0"] == {"TransposeDimensions"}
    assert operations["2.0"] == operations[LAST]


def test_a_file_for_itself_is_of_the_release_of_its_words() -> None:
    files = Memory({"net.ndl": b"v = Input(4)\nh = Cosh(v)\n"})
    assert SingleFile("net.ndl", "ndl", files).version.name == "2.1"


def test_a_sentence_names_the_release() -> None:
    reported = message(experiment("Cosh(v)", "2.0"), "CK121")
    assert reported.startswith(
        "CNTK knows 'Cosh' of NDL from 2.1 on, and the settings say that 2.0"
    )


@pytest.mark.parametrize("name", ["Pass", "Cast", "cosh"])
def test_names_that_only_later_functions_have_are_free(name: str) -> None:
    run = experiment(f"{name}(v)", before=f"{name}(x) = Tanh(x)\n")
    assert (run.version.name, reported(run)) == (FIRST, [])
    network = run.networks[0].network
    assert network is not None
    assert "Tanh" in {node.operation for node in network.nodes.values()}
    variable = experiment(f"Tanh({name})", before=f"v2 = Input(4)\n{name} = Sigmoid(v2)\n")
    assert not [one for one in reported(variable) if "ND" in one]


def test_functions_and_their_nodes_come_with_the_same_release() -> None:
    for function in FUNCTIONS.values():
        kind = NODE_TYPES.get(function.operation)
        if kind is not None and kind.since and function.known.since != FIRST:
            assert function.known.since == kind.since
    misspellings = message(experiment("Coshh(v)", FIRST), "ND002")
    assert "Cosh'" not in misspellings


def test_a_network_of_a_later_release_is_migrated_for_it(tmp_path: Path) -> None:
    (tmp_path / "a.cntk").write_bytes(CONFIGURATION)
    call = "BatchNormalization(StopGradient(v), c, c, c, c, spatial = true)"
    (tmp_path / "net.ndl").write_text(NETWORK.format(call=call))
    assert netsharp("migrate", "--write", "a.cntk", cwd=tmp_path).code == 0
    written = (tmp_path / "net.bs").read_text()
    assert "BatchNormalization (StopGradient (v), c, c, c, c, spatial=true)" in written
