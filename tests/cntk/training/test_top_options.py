"""Options of the whole run: the time before lines, a file at the end, seeds."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import numpy as np
import pytest

import netsharp_lsp.cntk
from netsharp_lsp.cntk.training import options as supported
from netsharp_lsp.cntk.training.networks.models import ModelFiles
from netsharp_lsp.project.roots import roots_around
from tests.cntk.training.experiments import made, run

STAMP = r"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d: "
TEXT = """NDLNetworkBuilder = { networkDescription = "net.ndl" }
    none = {"""
SCRIPT = """\
features = Input(2, tag=feature)
labels = Input(3, tag=label)
W = Parameter(3, 2, init=uniform)
V = Parameter(3, 2, init=uniform, randomSeed=7)
z = Plus(Times(W, features), Times(V, features))
ce = CrossEntropyWithSoftmax(labels, z, tag=criterion)
"""


def parameters(folder: Path, *items: str) -> dict[str, np.ndarray]:
    """The parameters before the first epoch."""
    answer, _ = run(folder, "command=learn", "learn=[SGD=[maxEpochs=1]]", *items)
    assert answer.code == 0, (answer.complaints, answer.reports)
    model = ModelFiles(roots_around([str(folder)], ())).load(str(folder / "out/net.dnn.0"))
    return {name: np.array(value) for name, value in model.values.items()}


def of_ndl(folder: Path) -> Path:
    """The experiment, with a network of two drawn parameters in NDL."""
    made(folder)
    (folder / "net.ndl").write_text(SCRIPT)
    path = folder / "net.cntk"
    path.write_text(path.read_text().replace("SimpleNetworkBuilder = {", TEXT))
    return folder


def test_the_time_precedes_lines_and_commands_in_the_name_of_the_log(tmp_path: Path) -> None:
    folder = made(tmp_path)
    answer, follower = run(
        folder, "timestamping=true", "stderr=out/log", "traceLevel=1", "command=learn:score"
    )
    assert answer.code == 0, answer.complaints
    assert not (folder / "out/log").exists()
    lines = (folder / "out/log_learn_score.log").read_text().splitlines()
    assert lines == follower.lines
    reported = [line for line in lines if re.match(STAMP, line)]
    for start in ("Starting Epoch 1", "Finished Epoch", "SGD: Saving", "Final Results", "#####"):
        assert any(re.match(STAMP + start, line) for line in reported), start
    assert re.fullmatch(STAMP + "__COMPLETED__", lines[-1])
    bare = [line for line in lines if line not in reported]
    plain = r"|Validating.*|Post-processing.*|Node '.*|\).*|\t.*|\d+ .*"
    assert [line for line in bare if not re.fullmatch(plain, line)] == []
    assert any(line.startswith("Validating -->") for line in bare)


def test_without_it_lines_and_the_name_are_as_they_were(tmp_path: Path) -> None:
    folder = made(tmp_path)
    run(folder, "stderr=out/log", "command=learn")
    lines = (folder / "out/log").read_text().splitlines()
    assert not any(re.match(STAMP, line) for line in lines)


def test_a_file_says_that_all_is_done(tmp_path: Path) -> None:
    folder = made(tmp_path)
    answer, _ = run(folder, "doneFile=out/done", "command=learn:none")
    assert answer.code != 0
    assert not (folder / "out/done").exists()
    answer, _ = run(folder, "doneFile=out/done", "command=learn")
    assert answer.code == 0
    assert (folder / "out/done").read_text().startswith("Successfully finished at ")


@pytest.mark.parametrize("path", ["../done", "data.ctf/done"])
def test_a_file_that_cannot_be_written_at_the_end(path: str, tmp_path: Path) -> None:
    """Outside the roots it is refused before anything is trained."""
    folder = made(tmp_path / "here")
    answer, follower = run(folder, f"doneFile={path}", "command=learn")
    assert answer.code == 2
    assert "done" in answer.complaints[0]
    assert bool(follower.epochs) == (path != "../done")


def test_every_parameter_has_the_same_seed(tmp_path: Path) -> None:
    folder = of_ndl(tmp_path)
    drawn = parameters(folder)
    assert not np.array_equal(drawn["W"], drawn["V"])
    same = parameters(folder, "forceConstantRandomSeed=true", "makeMode=false")
    np.testing.assert_array_equal(same["W"], drawn["W"])
    np.testing.assert_array_equal(same["V"], drawn["W"])


def test_a_number_is_added_to_seeds(tmp_path: Path) -> None:
    """Of NDL and of simple networks: seeds 1 and 7, then 7 and 13."""
    folder = of_ndl(tmp_path)
    drawn = parameters(folder)
    moved = parameters(folder, "randomSeedOffset=6", "makeMode=false")
    np.testing.assert_array_equal(moved["W"], drawn["V"])
    assert not np.array_equal(moved["V"], drawn["V"])
    simple = made(tmp_path / "simple")
    first = parameters(simple)
    later = parameters(simple, "randomSeedOffset=1", "makeMode=false")
    size = min(first["W1"].size, later["W0"].size)
    np.testing.assert_array_equal(later["W0"][:size], first["W1"][:size])


def test_a_number_for_seeds_that_no_one_adds_is_reported(tmp_path: Path) -> None:
    folder = of_ndl(tmp_path)
    path = folder / "net.cntk"
    brain = """BrainScriptNetworkBuilder = {
        features = Input (2, tag='feature') ; labels = Input (3, tag='label')
        ce = CrossEntropyWithSoftmax (labels, ParameterTensor ((3:2)) * features, tag='criterion')
    }
    none = {"""
    path.write_text(path.read_text().replace(TEXT, brain))
    answer, follower = run(folder, "command=learn", "randomSeedOffset=6")
    assert answer.code == 0, answer.complaints
    assert "without effect here: randomSeedOffset." in follower.notices
    answer, _ = run(of_ndl(tmp_path / "other"), "command=learn", "randomSeedOffset=-1")
    assert "must not be negative" in str(answer.complaints) + str(answer.reports)


def test_a_block_that_is_refused_is_reported_once(tmp_path: Path) -> None:
    folder = made(tmp_path)
    block = "tell=[writer=[writerType=LUSequenceWriter;outputNodeNames=x;a=[file=b;token=c]]]"
    answer, _ = run(folder, "command=tell", block)
    assert answer.code == 2
    assert len(answer.complaints) == 1
    assert "'writer'" in answer.complaints[0]


def test_what_is_read_is_read_somewhere() -> None:
    """Each option that counts as read is named by the code that reads it: none is ignored."""
    words: set[str] = set()
    patterns: list[str] = []
    root = Path(netsharp_lsp.cntk.__path__[0])
    for room in ("training", "simple", "ndl", "brainscript", "run", "configuration", "commands"):
        for path in root.joinpath(room).rglob("*.py"):
            if path.name == "options.py":
                continue
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.JoinedStr):
                    parts = [
                        re.escape(str(one.value)) if isinstance(one, ast.Constant) else r"\w+"
                        for one in node.values
                    ]
                    patterns.append("".join(parts).lower())
                elif isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
                    value = node.value
                    text = value if isinstance(value, str) else value.decode("latin-1")
                    words.update(text.lower().split())
    unread = [
        (table, name)
        for table, names in supported._READ.items()
        for name in names.split()
        if name.lower() not in words
        and not any(re.fullmatch(one, name.lower()) for one in patterns if one != r"\w+")
    ]
    assert unread == []
