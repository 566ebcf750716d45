"""`netsharp describe` of commands that read a model: the network is that of what trains it."""

from __future__ import annotations

import json
import pathlib

import pytest

from tests.cli.command_line import netsharp
from tests.cntk.cli.experiments import NETWORK, TRAINS, write

READS = """\
command = Test
Test = { action = "test" ; modelPath = "out/net.dnn" }
"""
BOTH = TRAINS.replace("Train\n", "Train:Test\n", 1) + READS.partition("\n")[2]
#: An edit whose output cannot be determined.
WRITES = "m = CreateModel()\nSaveModel(m, $Path$)\n"
LOG = "".join(
    f"Validating --> {line}\n"
    for line in (
        "labels = InputValue() :  -> [3 x *]",
        "z.W = LearnableParameter() :  -> [3 x 4]",
        "features = InputValue() :  -> [4 x *]",
        "z.PlusArgs[0] = Times (z.W, features) : [3 x 4], [4 x *] -> [3 x *]",
        "z.b = LearnableParameter() :  -> [3]",
        "z = Plus (z.PlusArgs[0], z.b) : [3 x *], [3] -> [3 x *]",
        "ce = CrossEntropyWithSoftmax (labels, z) : [3 x *], [3 x *] -> [1]",
    )
)


def trains(folder: pathlib.Path, **files: str) -> None:
    own = TRAINS.replace("$OutDir$", "out")
    write(folder, net_dot_bs=NETWORK, train_dot_cntk=own, **files)


@pytest.mark.parametrize("argument", ["both.cntk --command Test", "test.cntk"])
def test_the_network_is_that_of_what_trains_the_model(
    tmp_path: pathlib.Path, argument: str
) -> None:
    both = BOTH.replace("$OutDir$", "out")
    if "both" in argument:
        write(tmp_path, net_dot_bs=NETWORK, both_dot_cntk=both)
    else:
        trains(tmp_path, test_dot_cntk=READS.replace("net.dnn", "net.dnn.2"))
    answer = netsharp("describe", *argument.split(), "--format", "json", cwd=tmp_path)
    assert answer.code == 0, answer.err
    found = json.loads(answer.out)
    shapes = {one["name"]: one["shape"] for one in found["nodes"]}
    assert (found["command"], shapes["z"], shapes["features"]) == ("Test", [3], [4])
    assert {one["file"] for one in found["nodes"]} == {"net.bs"}
    drawn = netsharp("describe", *argument.split(), "--format", "svg", cwd=tmp_path)
    assert drawn.code == 0
    assert "CrossEntropyWithSoftmax" in drawn.out


def test_a_log_of_a_test_is_compared(tmp_path: pathlib.Path) -> None:
    trains(tmp_path, test_dot_cntk=READS, good_dot_log=LOG, bad_dot_log=LOG.replace("[4 ", "[5 "))
    same = netsharp("describe", "test.cntk", "--log", "good.log", cwd=tmp_path)
    assert (same.code, same.out) == (0, "The log has the same 7 nodes.\n"), same.err
    other = netsharp("describe", "test.cntk", "--log", "bad.log", cwd=tmp_path)
    assert other.code == 1
    assert "'features' is [5] in the log and [4] here" in other.out


def test_a_model_that_nothing_known_trains(tmp_path: pathlib.Path) -> None:
    write(tmp_path, test_dot_cntk=READS)
    answer = netsharp("describe", "test.cntk", cwd=tmp_path)
    assert answer.code == 2
    assert "'Test' reads the model 'out/net.dnn', and neither" in answer.err


def test_a_model_that_is_trained_twice(tmp_path: pathlib.Path) -> None:
    again = TRAINS.replace("$OutDir$", "out").replace("net.bs", "more.bs")
    trains(tmp_path, test_dot_cntk=READS, again_dot_cntk=again, more_dot_bs=NETWORK)
    assert netsharp("describe", "test.cntk", cwd=tmp_path).code == 0
    write(tmp_path, more_dot_bs=NETWORK.replace("z)", "z + 1)"))
    answer = netsharp("describe", "test.cntk", cwd=tmp_path)
    assert answer.code == 2
    assert "train it with different networks (again.cntk, train.cntk)" in answer.err


def test_a_model_that_an_edit_may_have_written(tmp_path: pathlib.Path) -> None:
    edits = BOTH.replace("$OutDir$", "out").replace("Train:Test", "Train:Edit:Test")
    edits += 'Edit = { action = "edit" ; editPath = "e.mel" }\n'
    write(tmp_path, net_dot_bs=NETWORK, both_dot_cntk=edits, e_dot_mel=WRITES)
    answer = netsharp("describe", "both.cntk", "--command", "Test", cwd=tmp_path)
    assert answer.code == 2
    assert "'Edit' edits models, and may have written 'out/net.dnn'" in answer.err


def test_values_that_are_given_hold_for_both(tmp_path: pathlib.Path) -> None:
    write(tmp_path, net_dot_bs=NETWORK, train_dot_cntk=TRAINS)
    write(tmp_path, test_dot_cntk=READS.replace("out/", "$OutDir$/"))
    answer = netsharp("describe", "test.cntk", "--set", "OutDir=models", cwd=tmp_path)
    assert "CrossEntropyWithSoftmax" in answer.out, answer.err
