"""Small experiments as files, for tests of the command line."""

from __future__ import annotations

import json
import pathlib
from typing import Any

from tests.cli.command_line import Answer, netsharp

#: A network of its own; `Foo` is nowhere defined.
FAULTY_NETWORK = "f = Input {3}\nz = Foo (f)\noutputNodes = (z)\n"
NETWORK = """\
features = Input {4}
labels = Input {3}
z = LinearLayer {3} (features)
ce = CrossEntropyWithSoftmax (labels, z)
featureNodes = (features) ; labelNodes = (labels) ; criterionNodes = (ce) ; outputNodes = (z)
"""
#: Trains what `net.bs` says.
TRAINS = """\
command = Train
Train = {
    action = "train"
    modelPath = "$OutDir$/net.dnn"
    BrainScriptNetworkBuilder = {
        include "net.bs"
    }
    SGD = { maxEpochs = 1 ; learningRatesPerSample = 0.1 }
    reader = {
        readerType = "CNTKTextFormatReader" ; file = "data.txt"
        input = {
            features = { dim = 4 ; format = "dense" }
            labels = { dim = 3 ; format = "dense" }
        }
    }
}
"""


def write(folder: pathlib.Path, **files: str) -> None:
    """Write files by their names with `_dot_` for the point and `_in_` for folders."""
    for name, text in files.items():
        *folders, base = name.replace("_dot_", ".").split("_in_")[::-1]
        path = folder.joinpath(*folders, base)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def checked(
    folder: pathlib.Path, *arguments: str, stdin: bytes = b""
) -> tuple[Answer, list[dict[str, Any]]]:
    """Check, and return the answer and its diagnostics."""
    answer = netsharp("check", "--format", "json", *arguments, cwd=folder, stdin=stdin)
    return answer, json.loads(answer.out)["diagnostics"] if answer.out else []


def places(found: list[dict[str, Any]], code: str) -> list[tuple[str, int, str]]:
    """File, line and severity of each diagnostic with a code."""
    return [
        (one["file"], one["start"]["line"], one["severity"]) for one in found if one["code"] == code
    ]
