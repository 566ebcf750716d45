"""Nodes that say whether there is a training, and such as print what they pass on."""

from __future__ import annotations

from pathlib import Path

import pytest

from netsharp_engine.cntk.stored.model_file import read_model
from tests.cntk.training.experiments import run
from tests.cntk.training.test_queries import made

NODE = "flag = EnvironmentInput ('isTraining')"


def changed(folder: Path, node: str = NODE) -> Path:
    """The value reported beside the criterion is 1 for a sample in a training, else 0."""
    path = made(folder, f"{node} ; told = SumElements (flag .* (gain - gain + Constant (1)))")
    text = (path / "net.cntk").read_text()
    (path / "net.cntk").write_text(
        text.replace("evaluationNodes = (best)", "evaluationNodes = (told)")
    )
    return path


def test_a_training_and_a_test_differ(tmp_path: Path) -> None:
    folder = changed(tmp_path)
    answer, follower = run(folder, "learn=[SGD=[maxEpochs=1]]")
    assert (answer.code, answer.complaints) == (0, ())
    assert follower.epochs[0]["evaluation"] == {"told": 1.0}
    (end,) = [one for one in follower.events if one["event"] == "end"]
    assert {**end["evaluation"], end["criterion"]: end["loss"]}["told"] == 0.0
    model = read_model((folder / "out" / "net.dnn").read_bytes())
    (flag,) = [one for one in model.nodes if one.operation == "EnvironmentInput"]
    assert flag.attributes == {"propertyName": "isTraining"}


def test_another_property_is_refused(tmp_path: Path) -> None:
    answer, _ = run(changed(tmp_path, NODE.replace("isTraining", "isTuesday")), "command=learn")
    assert answer.code == 2
    assert any("the property 'isTuesday'" in one for one in answer.complaints)


@pytest.mark.parametrize("validated", [False, True])
def test_data_of_validation_are_no_training(validated: bool, tmp_path: Path) -> None:
    folder = changed(tmp_path)
    if validated:
        path = folder / "net.cntk"
        text = path.read_text()
        reader = text[text.rindex("reader = {") :].rstrip().removesuffix("}").rstrip()
        path.write_text(
            text.replace("    SGD = {", f"    cv{reader[0].upper()}{reader[1:]}\n    SGD = {{")
        )
    answer, follower = run(folder, "command=learn", "learn=[SGD=[maxEpochs=1]]")
    assert (answer.code, answer.complaints) == (0, ())
    assert follower.epochs[0]["evaluation"] == {"told": 1.0}
    if validated:
        assert follower.epochs[0]["validation"]["evaluation"] == {"told": 0.0}


def test_a_trace_passes_on_what_it_would_print(tmp_path: Path) -> None:
    for name, node in (("plain", "t = Pass (gain)"), ("traced", "t = Trace (gain, say='gain')")):
        made(tmp_path / name, f"{node} ; told = SumElements (t)")
        path = tmp_path / name / "net.cntk"
        path.write_text(path.read_text().replace("LambdaRank (gain,", "LambdaRank (t,"))
    _, plain = run(tmp_path / "plain", "learn=[SGD=[maxEpochs=2]]")
    answer, traced = run(tmp_path / "traced", "learn=[SGD=[maxEpochs=2]]")
    assert (answer.code, answer.complaints) == (0, ())
    assert "learn: 't' of type Trace: passed on, and not printed." in traced.notices
    assert [one["loss"] for one in traced.epochs] == [one["loss"] for one in plain.epochs]
    model = read_model((tmp_path / "traced" / "out" / "net.dnn").read_bytes())
    (node,) = [one for one in model.nodes if one.operation == "Trace"]
    assert (node.attributes["say"], node.attributes["logFrequency"]) == ("gain", 100)
