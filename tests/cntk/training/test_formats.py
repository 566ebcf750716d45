"""Models as safetensors in place of CNTK's format: every command takes both."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from netsharp_engine.cntk.stored.binary import ModelFault
from netsharp_engine.cntk.stored.model_tensors import read_tensors
from netsharp_engine.model_file import VERSION
from netsharp_lsp.cntk.training.networks.models import ModelFiles
from netsharp_lsp.project.roots import ANYWHERE
from tests.cli.command_line import netsharp
from tests.cntk.training.experiments import Follower, made, run

OURS = ("--model-format", "safetensors")


def test_both_formats_hold_the_same_bits(tmp_path: Path) -> None:
    found = []
    for name, flags in (("theirs", ()), ("ours", OURS)):
        folder = made(tmp_path / name)
        done = netsharp("run", "net.cntk", *flags, cwd=folder)
        assert done.code == 0, done.err
        assert netsharp("run", "net.cntk", "command=score:tell", cwd=folder).code == 0
        model = ModelFiles(ANYWHERE).load(str(folder / "out" / "net.dnn"))
        reported = (folder / "out" / "told.PosteriorProb").read_bytes()
        found.append((model, reported, done.out))
    (theirs, *reported), (ours, *same) = found
    assert reported == same
    assert theirs.values.keys() == ours.values.keys()
    for name, values in theirs.values.items():
        assert ours.values[name].tobytes() == values.tobytes()
    assert list(theirs.network.groups) == list(ours.network.groups)
    assert theirs.network.nodes.keys() == ours.network.nodes.keys()
    first = (tmp_path / "ours" / "out" / "net.dnn").read_bytes()
    assert first[8:9] == b"{"


def test_a_run_that_stopped_continues_in_its_format(tmp_path: Path) -> None:
    whole, parted = made(tmp_path / "whole"), made(tmp_path / "parted")
    assert netsharp("run", "net.cntk", "command=learn", *OURS, cwd=whole).code == 0
    run(parted, "command=learn", follower=Follower(ends=2))
    assert netsharp("run", "net.cntk", "command=learn", *OURS, cwd=parted).code == 0
    names = [one / "out" / "net.dnn" for one in (whole, parted)]
    assert names[0].read_bytes() == names[1].read_bytes()


def test_what_is_damaged_is_a_sentence(tmp_path: Path) -> None:
    folder = made(tmp_path)
    assert netsharp("run", "net.cntk", "command=learn", *OURS, cwd=folder).code == 0
    path = folder / "out" / "net.dnn"
    whole = path.read_bytes()
    size = int.from_bytes(whole[:8], "little")
    random = np.random.default_rng(11)
    places = [int(one) for one in random.integers(0, size + 8, 60)]
    print("places", places)
    for at in places:
        changed = bytearray(whole)
        changed[at] ^= 1 << int(random.integers(0, 8))
        with suppress(ModelFault):
            read_tensors(bytes(changed))
    for cut in (0, 7, 9, 50, size, len(whole) - 1):
        with pytest.raises(ModelFault):
            read_tensors(whole[:cut])
    path.write_bytes(whole[: len(whole) - 100])
    done = netsharp("run", "net.cntk", "command=score", cwd=folder)
    assert done.code == 2
    assert "net.dnn" in done.err


@pytest.mark.parametrize(
    ("key", "value", "word"),
    [
        ("version", str(VERSION + 1), f"version {VERSION + 1}"),
        ("version", "0", "version 0"),
        ("format", "pt", "no network of CNTK's"),
        ("cntk", "[" * 100_000, "not a model"),
        ("cntk", "{}", "has no"),
    ],
)
def test_foreign_headers_are_refused(key: str, value: str, word: str) -> None:
    entry = {"nodes": [], "groups": {}, "dtype": "float32"}
    metadata = {"format": "netsharp", "version": "1", "cntk": json.dumps(entry), key: value}
    header = json.dumps({"__metadata__": metadata}).encode()
    with pytest.raises(ModelFault, match=word):
        read_tensors(len(header).to_bytes(8, "little") + header)


def test_the_flag_says_nothing_to_a_specification(tmp_path: Path) -> None:
    (tmp_path / "a.nn").write_text("input D [2]; output O [1] from D all;")
    done = netsharp("run", "a.nn", *OURS, cwd=tmp_path)
    assert done.code == 2
    assert "'--model-format' goes with a configuration" in done.err


def test_the_lines_of_both_releases_can_be_asked_for(tmp_path: Path) -> None:
    done = netsharp("run", "net.cntk", "--cntk-log=2016-08", cwd=made(tmp_path))
    assert done.code == 0
    assert '# Action "train"' in done.err
