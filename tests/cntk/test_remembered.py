"""What runs share in a process changes nothing of what each says, and has its bounds."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from netsharp_lsp.cntk.brainscript.evaluation import remembered
from netsharp_lsp.cntk.brainscript.evaluation.program import Surroundings
from netsharp_lsp.cntk.brainscript.evaluation.remembered import outcome_of
from netsharp_lsp.cntk.brainscript.reading import known
from netsharp_lsp.cntk.brainscript.reading.known import known_text
from netsharp_lsp.cntk.commands.check import RunJob, check_run
from netsharp_lsp.cntk.commands.runs import OverDisk, supposed_run
from netsharp_lsp.cntk.library import own_library
from netsharp_lsp.cntk.networks.node import Network, Node
from netsharp_lsp.cntk.networks.same import compare
from netsharp_lsp.project.roots import roots_around
from netsharp_lsp.workspace import NO_PREMISES
from tests.cntk.fresh_runs import jobs, reported
from tests.torture.rows.crowds import CONFIGURATION, SHARED, write_configurations

# Each takes seconds, or a process of its own.
pytestmark = pytest.mark.costly

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "tests" / "corpus"
BUILDER = b"""{
    include "shared.bs"
    x = Input {%d} ; y = Linear (x, %d, 3)
    featureNodes = (x) ; outputNodes = (y)
}"""


def fresh(folder: Path) -> list[str]:
    """What every run says that is checked in a process of its own."""
    answer = subprocess.run(
        [sys.executable, "-m", "tests.cntk.fresh_runs", str(folder)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=True,
        text=True,
    )
    return answer.stdout.splitlines()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The corpus, and a crowd of which some have the very same network."""
    shutil.copytree(CORPUS / "experiments", tmp_path / "experiments")
    shutil.copytree(CORPUS / "cntk", tmp_path / "cntk")
    write_configurations(tmp_path / "crowd", 24)
    for number in range(0, 24, 3):
        text = CONFIGURATION.format(number=number, size=7)
        (tmp_path / "crowd" / f"exp{number:05}.cntk").write_text(text)
    return tmp_path


@pytest.mark.skipif(os.name != "posix", reason="forks a process for each run")
def test_runs_of_one_process_say_what_each_says_alone(folder: Path) -> None:
    alone = fresh(folder)
    assert len(alone) > 150
    assert list(map(reported, jobs(folder))) == alone
    again = [reported(job) for job in reversed(jobs(folder))]
    assert again[::-1] == alone


CHANGES = {
    "the network that all include": ("shared.bs", SHARED.replace("Linear", "Lineal")),
    "a fault in it": ("shared.bs", SHARED.replace("W * x", "W * (x")),
    "shapes in it": ("shared.bs", SHARED.replace("(outDim:inDim)", "(outDim:7)")),
    "what all configurations include": ("base.cntk", "precision = wide\ntraceLevel = 1\n"),
    "a configuration": (
        "exp00003.cntk",
        CONFIGURATION.format(number=3, size=4).replace("ce)", "cf)"),
    ),
}


@pytest.mark.skipif(os.name != "posix", reason="forks a process for each run")
@pytest.mark.parametrize("change", CHANGES)
def test_a_file_that_changes_between_two_checks_counts(change: str, tmp_path: Path) -> None:
    crowd = tmp_path / "crowd"
    write_configurations(crowd, 6)
    before = list(map(reported, jobs(crowd)))
    name, text = CHANGES[change]
    kept = (crowd / name).read_text()
    (crowd / name).write_text(text)
    changed = list(map(reported, jobs(crowd)))
    assert changed != before
    assert changed == fresh(crowd)
    (crowd / name).write_text(kept)
    assert list(map(reported, jobs(crowd))) == before


def test_a_file_that_comes_before_the_one_that_was_included_counts(tmp_path: Path) -> None:
    """Files are looked for in folders in turn: that there was none is an answer, too."""
    outer, inner = tmp_path / "outer", tmp_path / "outer" / "inner"
    write_configurations(outer, 1)
    inner.mkdir()
    shutil.move(outer / "exp00000.cntk", inner / "exp.cntk")
    roots = roots_around([str(outer)])

    def codes() -> set[str]:
        run = supposed_run(str(inner / "exp.cntk"), NO_PREMISES, OverDisk({}, roots)).run
        run.also = (str(outer),)
        found = check_run(RunJob(run, {}, roots)).diagnostics
        return {one.code for several in found.values() for one in several}

    assert "BS020" not in codes()
    (inner / "shared.bs").write_text("Other (x) = x\n")
    assert "BS020" in codes()
    (inner / "shared.bs").unlink()
    assert "BS020" not in codes()


def around(shared: bytes = SHARED.encode(), precision: str = "float") -> Surroundings:
    return Surroundings({"shared.bs": shared}.get, own_library(), precision=precision)


def built(data: bytes, surroundings: Surroundings) -> Network:
    network = outcome_of(data, "<builder>", surroundings).network
    assert network is not None
    return network


def test_a_network_is_its_callers_own() -> None:
    data = BUILDER % (5, 5)
    first = built(data, around())
    kept = {name: (node.where, node.shape, dict(node.attributes)) for name, node in parts(first)}
    for _, node in parts(first):
        node.where, node.shape = ("elsewhere", 0, 0), (1,)
        node.attributes.clear()
        node.inputs = ()
    second = built(data, around())
    assert {name: (one.where, one.shape, one.attributes) for name, one in parts(second)} == kept
    third = built(data, around())
    assert not compare(second, third).differences
    assert {id(node) for _, node in parts(second)}.isdisjoint(id(one) for _, one in parts(third))
    assert all(one in second.nodes.values() for _, node in parts(second) for one in node.inputs)


def parts(network: Network) -> Iterator[tuple[str, Node]]:
    return iter(network.nodes.items())


def test_what_is_remembered_has_its_bounds() -> None:
    """A server sees another text with each letter that is typed, for days."""
    for size in range(1, 700):
        outcome_of(BUILDER % (size, size), "<builder>", around())
        known_text(b"a = %d\n" % size * 100)
    for store, most in ((remembered._OUTCOMES, remembered.KEPT), (known._TEXTS, known.KEPT)):
        assert 0 < len(store) < 699
        assert store.weight <= most
