"""Damaged tables, run files, settings and texts: flips; monsters of digits, depth and length."""

from __future__ import annotations

import random

from tests.torture import workshop
from tests.torture.campaign import Report, Row, Try
from tests.torture.process import netsharp
from tests.torture.rows.models import checked

RUN_FILE = """\
[data]
train = "digits.csv"
label = "digit"
[train]
task = "multiclass"
optimizer = "sgd"
learning_rate = 0.1
epochs = 1
batch_size = 16
seed = 3
normalizer = "minmax"
validation = 0.2
[output]
model = "made.safetensors"
"""
SETTINGS = """\
select = ["NS", "CK"]
ignore = ["NS129"]
exclude = ["old/**"]
fail-on = "error"
line-ending = "lf"
features = 64
[per-file-ignores]
"a*.nn" = ["NS0"]
[[cntk.run]]
files = ["exp.cntk"]
set = ["A=1"]
[cntk]
defines = ["DataDir"]
"""
CONFIGURATION = """\
command = Train
Dim = 3
Train = [
    action = "train"
    BrainScriptNetworkBuilder = [
        features = Input {$Dim$} ; labels = Input {2}
        W = Parameter {(2:$Dim$)} ; z = W * features
        ce = CrossEntropyWithSoftmax (labels, z)
        featureNodes = (features) ; labelNodes = (labels) ; criterionNodes = (ce)
    ]
    SGD = [ minibatchSize = 8 ; maxEpochs = 2 ; learningRatesPerMB = 0.1*2:0.05 ]
    reader = [ readerType = "CNTKTextFormatReader" ; file = "t.txt" ]
]
"""
#: What is put in the place of a word.
MONSTERS = (
    *("9" * 5_000, "-" + "9" * 400, "1e99999", "nan", "inf", "0x" + "f" * 400, "1" + "_0" * 300),
    *("[" * 5_000, "{" * 5_000, "(" * 5_000, "(" * 500 + "1" + ")" * 500, '"' * 999, "$A$" * 999),
    *(
        "a" * 300_000,
        "a." * 5_000,
        "\0",
        "\ufeff",
        "\ud800",
        "\x1b[2J",
        "\u202e",
        ",".join("1" * 5_000),
    ),
    *("2^2^2^2^2^2", "1/0", "\r", "\r\n\r", "é" * 2_000, "-0", "1:" * 5_000, "5*" * 2_000 + "1"),
)
FILES = {
    "digits.csv": (
        ("run", "net.nn", *workshop.LABELLED, "--epochs", "1", "--model", "made.safetensors"),
        ("predict", workshop.MODEL, "--data", "digits.csv", "--output", "p.csv"),
        ("evaluate", workshop.MODEL, "--data", "digits.csv", "--label", "digit"),
        ("check", "net.nn", "--data", "digits.csv", "--label", "digit"),
    ),
    "net.toml": (
        ("run", "net.nn", "--quiet"),
        ("run", "net.nn", "--show-settings"),
        ("check", "net.nn"),
    ),
    "netsharp.toml": (("check", "."), ("fmt", "--check", "."), ("describe", "net.nn")),
    "net.nn": (
        ("check", "."),
        ("fmt", "--diff", "net.nn"),
        ("describe", "net.nn"),
        ("check", "--fix", "net.nn"),
        ("run", "net.nn", *workshop.LABELLED, "--epochs", "1", "--model", "made.safetensors"),
    ),
    "exp.cntk": (
        ("check", "."),
        ("fmt", "--diff", "exp.cntk"),
        ("describe", "exp.cntk"),
        ("config", "exp.cntk"),
        ("migrate", "exp.cntk"),
        ("check", "--fix", "exp.cntk"),
    ),
}


def attempt(one: Try) -> Report:
    """Damage one file of a folder and use it."""
    workshop.furnish(one.folder)
    for name, text in (
        ("net.toml", RUN_FILE),
        ("netsharp.toml", SETTINGS),
        ("exp.cntk", CONFIGURATION),
    ):
        (one.folder / name).write_text(text, encoding="utf-8")
    name = list(FILES)[one.number % len(FILES)]
    path = one.folder / name
    path.write_bytes(damaged(path.read_bytes(), one.chance))
    done = netsharp(*one.chance.choice(FILES[name]), cwd=one.folder)
    return Report(1, checked(done, name))


def damaged(data: bytes, chance: random.Random) -> bytes:
    """A file with bytes changed, or words replaced by a monster."""
    if chance.random() < 0.4:
        return workshop.flipped(data, chance)
    text = data.decode("utf-8", "replace")
    for _ in range(chance.randint(1, 2)):
        starts = [at for at, mark in enumerate(text) if mark in " =,[({\n"]
        at = chance.choice(starts) + 1
        end = at
        while end < len(text) and (text[end].isalnum() or text[end] in "._"):
            end += 1
        text = text[:at] + chance.choice(MONSTERS) + text[end:]
    return text.encode("utf-8", "surrogatepass")


ROW = Row(
    "inputs",
    "tables, run files, settings, networks and configurations with flipped bytes and monsters of "
    "digits, depth and length: an answer or a sentence",
    attempt,
)
