"""Scripts of edits that end with a dump: nodes as text, as they are at the place of the dump, and
with the same numbers as the models that the script writes.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from tests.cntk.training.edit_scripts import change, model_in, refused, trained_to_change
from tests.cntk.training.experiments import run

SHOWING = """
show = { action = "dumpNode" ; modelPath = "out/edited.dnn" ; outputFile = "all.txt" }
"""
EDITS = """\
m = LoadModel("out/net.dnn", format="cntk")
SetDefaultModel(m)
Extra = Parameter(3, 1, init="uniform")
Shifted = Plus(HLast, Extra)
SetProperty(Shifted, "output", "true")
"""


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trained_to_change(tmp_path_factory.mktemp("trained") / "run", SHOWING)


def heads(path: Path) -> list[str]:
    return re.findall(r"^(\S+)=\w+", path.read_text(), re.MULTILINE)


def numbers_of(name: str, path: Path) -> list[list[np.float32]]:
    body = path.read_text().partition(f"\n{name}=")[2].partition("\n")[2].partition(" ####")[0]
    return [[np.float32(one) for one in row.split()] for row in body.splitlines()]


def test_a_dump_is_what_the_action_shows_of_the_same_model(trained: Path) -> None:
    for data in ("", ", includeData=false", ", includeData=true"):
        change(trained, f'{EDITS}SaveModel(m, "out/edited.dnn")\nDumpModel(m, "d.txt"{data})\n')
        shows = "true" if "true" in data else "false"
        answer, _ = run(trained, "command=show", f"show=[printValues={shows}]")
        assert answer.code == 0, answer.complaints
        assert (trained / "d.txt").read_bytes() == (trained / "all.txt").read_bytes()
        assert ("####" in (trained / "d.txt").read_text()) == (shows == "true")


def test_a_dump_shows_the_model_as_it_is_where_it_is(trained: Path) -> None:
    script = (
        'm = LoadModel("out/net.dnn")\nSetDefaultModel(m)\nDump(m, "before.txt")\n'
        'Rename(W0, First)\nDump(m, "after.txt", includeData=true)\n'
    )
    change(trained, script)
    before, after = heads(trained / "before.txt"), heads(trained / "after.txt")
    assert "W0" in before
    assert "First" not in before
    assert sorted(after, key=str.lower) == after
    assert set(after) == (set(before) - {"W0"}) | {"First"}
    stored = model_in(trained / "out" / "net.dnn").values["W0"].reshape(2, 8).T
    assert np.array_equal(numbers_of("First", trained / "after.txt"), stored)


@pytest.mark.parametrize(
    ("meant", "shown"),
    [
        ("W*", ["W0", "W0*features", "W0*features+B0", "W1", "W1*H0"]),
        ("m.w0", ["W0"]),
        ("m.*Last", ["BLast", "HLast", "WLast"]),
        ("Extra", ["Extra"]),
    ],
)
def test_nodes_of_a_name_or_pattern_are_dumped(meant: str, shown: list[str], trained: Path) -> None:
    change(trained, f'{EDITS}DumpNode({meant}, "some.txt", includeData=true)\n')
    found = heads(trained / "some.txt")
    names = model_in(trained / "out" / "net.dnn").network.nodes.keys() | {"Extra"}
    assert found == [one for one in shown if one in names]
    assert found


def test_dumps_and_models_of_a_script_have_the_same_random_numbers(trained: Path) -> None:
    script = (
        f'{EDITS}DumpNode(Extra, "first.txt", includeData=true)\nSaveModel(m, "out/edited.dnn")\n'
        'Rename(Extra, More)\nSaveModel(m, "out/second.dnn")\n'
        'DumpNode(More, "second.txt", includeData=true)\n'
    )
    change(trained, script)
    first = model_in(trained / "out" / "edited.dnn").values["Extra"]
    second = model_in(trained / "out" / "second.dnn").values["More"]
    assert first.tobytes() == second.tobytes()
    assert len(set(first.tolist())) == 3
    for name, file in (("Extra", "first.txt"), ("More", "second.txt")):
        assert np.array_equal(np.ravel(numbers_of(name, trained / file)), first), file


def test_two_models_of_one_snippet_begin_with_numbers_of_their_own(trained: Path) -> None:
    snippet = 'x = InputValue(2)\nW = Parameter(3, 2, init="uniform")\nz = Times(W, x)\n'
    snippet += "FeatureNodes = (x)\nOutputNodes = (z)\n"
    (trained / "part.ndl").write_text(f"part = [\n{snippet}]\n")
    script = "".join(
        f'LoadNDLSnippet({name}, "part.ndl", section=part)\nSaveModel({name}, "out/{name}.dnn")\n'
        for name in ("a", "b")
    )
    change(trained, script)
    a, b = (model_in(trained / "out" / f"{name}.dnn").values["W"] for name in ("a", "b"))
    assert not np.array_equal(a, b)


REFUSED = {
    "outside": ('DumpModel(m, "../all.txt")', "outside"),
    "a program": ('DumpModel(m, "|cat")', "a program or a stream in the place of a file"),
    "a model to a program": ('SaveModel(m, "cat|")', "a program or a stream"),
    "twice": ('SaveModel(m, "out/e.dnn")\nDumpModel(m, "out/e.dnn")', "both a model and a text"),
    "lost input": ('RemoveNode(W0)\nDumpModel(m, "all.txt")', "Input 0 of 'W0*features'"),
    "unknown model": ('n = LoadModel("none.dnn")\nDumpModel(n, "all.txt")', "none.dnn"),
    "nothing": ("Rename(W0, First)", "writes no model"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_a_dump_that_cannot_be_is_reported_first(kind: str, trained: Path) -> None:
    more, word = REFUSED[kind]
    (trained / "all.txt").unlink(missing_ok=True)
    (trained / "out" / "edited.dnn").unlink(missing_ok=True)
    saves = "" if kind == "nothing" else 'SaveModel(m, "out/edited.dnn")\n'
    done = refused(trained, f"{EDITS}{saves}{more}\n")
    assert word in done.err
    assert not (trained / "all.txt").exists()
    assert not (trained / "out" / "edited.dnn").exists()


def test_a_dump_that_cannot_be_written_is_one_sentence(trained: Path) -> None:
    (trained / "taken.txt").mkdir(exist_ok=True)
    done = refused(trained, f'{EDITS}DumpModel(m, "taken.txt")\n')
    assert done.code == 2
    assert "taken.txt" in done.err
