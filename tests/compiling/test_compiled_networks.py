"""What a person does with a compiled network: reads its report, keeps it, writes it; and what is
said where that cannot be.
"""

from __future__ import annotations

import os
import pickle
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import netsharp
from netsharp_compile.writing.manifest import network_of
from tests.compiling.networks import DEEP, ONE, trained

pytestmark = pytest.mark.filterwarnings("ignore:On training rows")


def test_the_report_is_read_at_a_glance() -> None:
    model, x = trained(DEEP)
    first, *_, sizes, rows = str(netsharp.compile(model, x).report).splitlines()
    assert first.startswith("A: 6 to 7, tanh, sums of ")
    assert sizes.endswith("multiply-adds")
    assert rows.startswith("on 200 rows: ")


def test_an_estimator_and_a_file_are_models_too(tmp_path: Path) -> None:
    model, x = trained(ONE.format("tanh", "softmax"))
    netsharp.save(model, tmp_path / "net.safetensors")
    loaded = netsharp.compile(str(tmp_path / "net.safetensors"), x.tolist())
    assert loaded.report == netsharp.compile(model, x).report
    classifier = netsharp.NetSharpClassifier(max_iter=3)
    with pytest.raises(ValueError, match=r"model that could be compiled\. Call fit first"):
        netsharp.compile(classifier, x)
    classifier.fit(x, x[:, 0] > 2)
    found = netsharp.compile(classifier, x).simulate(x)
    assert (np.array(found.predicted) == classifier.predict(x)).mean() > 0.95
    with pytest.raises(ValueError, match=r"shape \(200, 5\); the model needs rows of 6 features"):
        netsharp.compile(model, x[:, :5])
    with pytest.raises(netsharp.DataError, match="missing or not finite"):
        netsharp.compile(model, np.where(x > 8, np.nan, x))


def test_rows_that_the_training_left_out_have_no_answer() -> None:
    model, x = trained(ONE.format("tanh", "softmax"), missing="drop")
    made = netsharp.compile(model, x)
    gaps = x.copy()
    gaps[3, 1] = np.nan
    found = made.simulate(gaps)
    assert found.predicted[3] is None
    assert np.isnan(found.probabilities[3]).all()
    assert None not in [*found.predicted[:3], *found.predicted[4:]]
    with pytest.raises(netsharp.CompileError, match=r"of row 4 is missing\. Leave the row out"):
        netsharp.compile(model, gaps)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize(("factor", "what"), [(1e200, "values"), (1e308, "sums")])
def test_numbers_beyond_all_numbers_are_a_sentence(factor: float, what: str) -> None:
    model, x = trained(ONE.format("square", "softmax"), dtype="float64")
    model.tensors["H/X/weights"][:] *= factor
    with pytest.raises(netsharp.CompileError, match=f"'H' on these rows: its {what} go from .*inf"):
        netsharp.compile(model, x)
    large, x = trained(ONE.format("tanh", "softmax"), dtype="float64")
    large.tensors["H/X/weights"][:] *= 1e200
    assert netsharp.compile(large, x).report.rows == 200


def test_a_compiled_network_can_be_pickled() -> None:
    model, x = trained(DEEP)
    made = netsharp.compile(model, x)
    made.simulate(x)
    again = pickle.loads(pickle.dumps(made))
    assert again.report == made.report
    np.testing.assert_array_equal(again.simulate(x).probabilities, made.simulate(x).probabilities)


def test_a_folder_is_replaced_as_a_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, x = trained(DEEP)
    made = netsharp.compile(model, x)
    made.write(tmp_path / "net")
    before = {path.name: path.read_bytes() for path in (tmp_path / "net").iterdir()}
    made.write(str(tmp_path / "net"))
    assert {path.name: path.read_bytes() for path in (tmp_path / "net").iterdir()} == before
    (tmp_path / "net" / "mine.txt").write_text("kept")
    with pytest.raises(netsharp.CompileError, match=r"holds mine\.txt, which is not a file of"):
        made.write(tmp_path / "net")
    (tmp_path / "net" / "mine.txt").unlink()

    replaced = os.rename
    with monkeypatch.context() as patched:
        failed: list[int] = []

        def once(source: str, target: str) -> None:
            if target.endswith("net") and not failed:
                failed.append(1)
                raise OSError("no room")
            replaced(source, target)

        patched.setattr(os, "rename", once)
        with pytest.raises(OSError, match="no room"):
            made.write(tmp_path / "net")
    assert {path.name: path.read_bytes() for path in (tmp_path / "net").iterdir()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["net"]
    with pytest.raises(OSError, match="nowhere"):
        made.write(tmp_path / "nowhere" / "net")


CASES: list[tuple[str, dict[str, Any], str]] = [
    (
        "input X [6]; hidden C [6] from X response norm { InputShape = [6]; KernelShape = [3];"
        " Padding = true; Alpha = 0.1; Beta = 0.5; } output Y auto from C all;",
        {},
        r"line 1: the response norm bundle cannot be compiled yet: response normalisation divides",
    ),
    (
        "input X auto; hidden H [4] softmax from X all; output Y auto from H all;",
        {},
        "'H' cannot be compiled yet: softmax within a network looks at all nodes at once",
    ),
    (
        ONE.format("tanh", "softmax"),
        {"activations": "uint9x"},
        "are uint8, .*'uint9x' is none",
    ),
    (ONE.format("tanh", "softmax"), {"weights": "int4"}, "int16, qmn8; 'int4' is none"),
    (ONE.format("tanh", "softmax"), {"logits": 3}, "logits is one of int16, .*; 3 is none"),
]


def test_what_a_killed_run_took_away_is_put_back(tmp_path: Path) -> None:
    """Killed between taking the old folder away and putting the new one there, and before both."""
    model, x = trained(DEEP)
    made = netsharp.compile(model, x)
    made.write(tmp_path / "net")
    for leftover in (".net.netsharp-one", ".net.netsharp-two", ".other.netsharp-three"):
        (tmp_path / leftover / "new").mkdir(parents=True)
        os.utime(tmp_path / leftover, (1, 1))
    (tmp_path / "net").rename(tmp_path / ".net.netsharp-two" / "old")
    os.utime(tmp_path / ".net.netsharp-two", (1, 1))
    with pytest.raises(netsharp.CompileError, match=r"holds net\.c, which is not a file of"):
        made.write(tmp_path / "net", prefix="another")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".other.netsharp-three", "net"]
    assert len(list((tmp_path / "net").iterdir())) == 13


def test_what_a_link_beside_a_folder_leads_to_is_left_unchanged(tmp_path: Path) -> None:
    """Whatever it is called: no run makes links."""
    model, x = trained(DEEP)
    (tmp_path / "others" / "old").mkdir(parents=True)
    (tmp_path / "others" / "old" / "net.c").write_text("theirs")
    os.utime(tmp_path / "others", (1, 1))
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / ".net.netsharp-link").symlink_to(tmp_path / "others")
    netsharp.compile(model, x).write(tmp_path / "here" / "net")
    assert (tmp_path / "others" / "old" / "net.c").read_text() == "theirs"
    assert len(list((tmp_path / "here" / "net").iterdir())) == 13


def test_several_that_write_one_folder_all_do(tmp_path: Path) -> None:
    """One after the other, and what stays is whole and one of theirs."""
    model, x = trained(DEEP)
    made = [netsharp.compile(model, x, activations=one) for one in ("uint8", "int8")]
    with ThreadPoolExecutor(4) as pool:
        written = [pool.submit(made[turn % 2].write, tmp_path / "net") for turn in range(40)]
        names = [one.result() for one in written]
    files = {one.name: one.read_bytes() for one in (tmp_path / "net").iterdir()}
    assert all(one == sorted(files) for one in names)
    assert [one.name for one in tmp_path.iterdir()] == ["net"]
    for place, one in enumerate(made):
        one.write(tmp_path / str(place))
    whole = [
        {one.name: one.read_bytes() for one in (tmp_path / str(place)).iterdir()}
        for place in range(2)
    ]
    assert files in whole


def test_a_link_to_a_folder_stays_a_link(tmp_path: Path) -> None:
    model, x = trained(DEEP)
    made = netsharp.compile(model, x)
    made.write(tmp_path / "real")
    (tmp_path / "link").symlink_to("real")
    netsharp.compile(model, x, activations="int8").write(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert "typedef int8_t net_in_t" in (tmp_path / "real" / "net.h").read_text()


@pytest.mark.parametrize(("text", "settings", "message"), CASES)
def test_what_cannot_be_compiled_is_a_sentence(
    text: str, settings: dict[str, Any], message: str
) -> None:
    model, x = trained(text)
    with pytest.raises(netsharp.CompileError, match=message):
        netsharp.compile(model, x, **settings)


def test_rows_that_tell_nothing_and_numbers_that_are_none(tmp_path: Path) -> None:
    model, x = trained(ONE.format("tanh", "softmax"))
    with pytest.raises(netsharp.CompileError, match="rows of numbers, and there are none"):
        netsharp.compile(model, x[:0])
    made = netsharp.compile(model, x)
    for prefix in ("", "9a", "int", "a-b", "_a", "x" * 33, "naïve", "class", "stdint"):
        with pytest.raises(netsharp.CompileError, match="begins names of C"):
            made.write(tmp_path / "net", prefix=prefix)
    assert not (tmp_path / "net").exists()
    model.tensors["H/X/weights"][0, 0] = np.nan
    with pytest.raises(
        netsharp.CompileError, match="'H/X/weights' holds numbers that are infinite"
    ):
        netsharp.compile(model, x)


def fault_of(text: str) -> str:
    """What is wrong with a manifest, "" where nothing is."""
    try:
        network_of(text)
    except netsharp.CompileError as error:
        return str(error)
    return ""


@pytest.mark.drawn
@pytest.mark.parametrize("round_", range(8))
def test_a_damaged_manifest_is_a_sentence(round_: int, seed: int, tmp_path: Path) -> None:
    model, x = trained(ONE.format("tanh", "softmax"))
    netsharp.compile(model, x).write(tmp_path / "net")
    text = (tmp_path / "net" / "net.json").read_text()
    chance = random.Random(f"{seed} {round_}")
    network_of(text)
    for _ in range(60):
        place = chance.randrange(len(text))
        damaged = chance.choice(
            [text[:place], text[:place] + chance.choice('0{["x-,') + text[place + 1 :]]
        )
        assert fault_of(damaged)[-1:] in ("", ".")
    with pytest.raises(netsharp.CompileError, match=r"has version 2, and 1 is read here"):
        network_of(text.replace('"netsharp_manifest": 1', '"netsharp_manifest": 2'))
