"""Models and checkpoints of CNTK with a wrong bit, or cut off: an answer, or a sentence."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pytest

from tests.cntk.training.experiments import made, run
from tests.conftest import SEED

#: The number of damaged files of each kind.
TRIES = 500 if os.environ.get("FULL") == "1" else 60
LEARN = ("command=learn", "learn=[SGD=[maxEpochs=2;keepCheckPointFiles=true]]")
SCORE, TELL = ("command=score",), ("command=tell",)
CASES = [
    ("net.dnn", SCORE, r"byte"),
    ("net.dnn", TELL, r"byte"),
    ("net.dnn.1", LEARN, r"byte"),
    ("net.dnn.1.ckp", LEARN, r"byte"),
    ("net.dnn.1.ckp.safetensors", LEARN, "Remove it to continue."),
]


@pytest.mark.parametrize(("name", "command", "word"), CASES)
@pytest.mark.costly
def test_a_spoilt_file_is_an_answer_or_a_sentence(
    name: str, command: tuple[str, ...], word: str, tmp_path: Path
) -> None:
    chance = random.Random(SEED)
    folder = made(tmp_path, rows=20)
    assert run(folder, *LEARN)[0].code == 0
    out, kept = folder / "out", folder / "kept"
    if command is LEARN:
        for last in ("net.dnn", "net.dnn.ckp", "net.dnn.ckp.safetensors"):
            (out / last).unlink()
    shutil.copytree(out, kept)
    whole = (kept / name).read_bytes()
    refused = 0
    for number in range(TRIES):
        spoilt = bytearray(whole)
        place = chance.randrange(len(spoilt))
        spoilt[place] ^= 1 << chance.randrange(8)
        shutil.rmtree(out)
        shutil.copytree(kept, out)
        is_cut = number % 4 == 0
        (out / name).write_bytes(spoilt[:place] if is_cut else spoilt)
        answer, _ = run(folder, *command)
        assert answer.code in (0, 1, 2), (number, answer)
        assert (answer.code == 0) == (not answer.complaints), (number, answer)
        if is_cut:
            (sentence,) = answer.complaints
            assert (answer.code, word in sentence, sentence.count(name)) == (2, True, 1), sentence
            refused += 1
    assert refused == TRIES // 4
