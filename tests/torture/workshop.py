"""What tries start from: a trained model, texts that are formatted or fixed, and a folder of
old experiments.  Everything is made once and copied.
"""

from __future__ import annotations

import atexit
import random
import shutil
import tempfile
from functools import cache
from pathlib import Path

from tests.e2e import workshop as digits
from tests.torture.process import Ended, contents, netsharp

EXPERIMENTS = Path(__file__).parents[1] / "corpus" / "experiments"
MODEL = "digits.safetensors"
LABELLED = ("--train", "digits.csv", "--label", "digit", "--task", "multiclass")
#: Enough texts that several processes share the work.
TEXTS = 60
#: Not in order, and with a repair that is safe.
UGLY = """\
// A text that somebody left as it was; {number}.
const  N={nodes} ;
input   Image [8,8]
hidden Full[N]   tanh from Image all;;
hidden Spare [ 3 ] from Image all {{ Activation = tanh }};
output Digit [10] softmax from Full   all ;
"""


@cache
def shelf() -> Path:
    """A folder that is there as long as this process."""
    folder = tempfile.mkdtemp(prefix="torture-shelf-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


@cache
def trained() -> Path:
    folder = shelf() / "trained"
    folder.mkdir()
    digits.furnish(folder)
    done = netsharp(
        *("run", "net.nn", *LABELLED, "--epochs", "2", "--seed", "3", "--batch-size", "8"),
        *("--momentum", "0.8", "--validation", "0.2", "--quiet", "--model", MODEL),
        cwd=folder,
    )
    assert done.code == 0, done
    return folder


def furnish(folder: Path) -> None:
    """Put a network, a table of digits and a trained model into a folder."""
    shutil.copytree(trained(), folder, dirs_exist_ok=True)


def write_ugly(folder: Path, count: int = TEXTS) -> None:
    """Put texts into a folder that `fmt` and `check --fix` change."""
    for number in range(count):
        text = UGLY.format(number=number, nodes=number + 2)
        (folder / f"net{number:03}.nn").write_text(text, encoding="utf-8")


def write_experiments(folder: Path) -> None:
    """Put old experiments into a folder, which `migrate --write` changes."""
    shutil.copytree(EXPERIMENTS, folder, dirs_exist_ok=True)


#: Commands that rewrite files, each with what furnishes a folder for it.
REWRITING = {
    ("fmt", "."): write_ugly,
    ("check", "--fix", "--isolated", "."): write_ugly,
    ("fmt", "networks", "01_one_hidden.cntk", "06_base.cntk"): write_experiments,
    ("migrate", "--write", "."): write_experiments,
}


@cache
def rewritten(command: tuple[str, ...]) -> tuple[Ended, dict[str, bytes], dict[str, bytes]]:
    """What a command of REWRITING does undisturbed: its end, files before and after."""
    folder = shelf() / f"rewritten-{list(REWRITING).index(command)}"
    folder.mkdir()
    REWRITING[command](folder)
    before = contents(folder)
    done = netsharp(*command, cwd=folder)
    return done, before, contents(folder)


def flipped(data: bytes, chance: random.Random, most: int = 8) -> bytes:
    """Bytes with some changed, cut off, cut out, doubled or put in."""
    how = chance.randrange(8)
    at = chance.randrange(len(data) + 1)
    if how == 0:
        return data[:at]
    if how == 1:
        return data[:at] + data[at + chance.randint(1, 200) :]
    if how == 2:
        return data[:at] + data[at : at + chance.randint(1, 200)] + data[at:]
    if how == 3:
        return data[:at] + chance.randbytes(chance.randint(1, 40)) + data[at:]
    changed = bytearray(data)
    for _ in range(chance.randint(1, most)):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)
