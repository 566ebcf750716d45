"""`predict --spreadsheet` writes nothing that a spreadsheet executes; the default is exact."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest

from netsharp_lsp.cli.outputs.spreadsheet import disarmed
from tests.cli.command_line import netsharp

FORMULAS = ("=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(1)", "＝1", "＋1", "－1", "＠x")
FORMULAS += (
    " =1+1",
    "\u3000=1",
    '"=1',
    "''=1",
    "'=1",
    "\tx",
    "\rx",
    "\nx",
    "-",
    "--1",
    "-1e",
    "-inf",
)
NUMBERS = ("-5", "+3.2e-4", "-.5", "0", "1.", "-0.0")
TEXTS = ("yes", "a=b", "a-b", "", " ", "'", "'quoted'", "x@y", "１", "e-5")
NETWORK = "input D [2];\nhidden H [4] tanh from D all;\noutput O [2] softmax from H all;\n"


@pytest.mark.parametrize("text", FORMULAS)
def test_what_would_be_executed_is_text(text: str) -> None:
    assert disarmed({text: [text]}) == {f"'{text}": [f"'{text}"]}


@pytest.mark.parametrize("value", [*NUMBERS, *TEXTS, -5, -2.5, float("-inf"), None])
def test_all_else_stays(value: object) -> None:
    assert disarmed({"a": [value]}) == {"a": [value]}


def read(answer: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(answer, newline="")))


def test_predictions_read_back(tmp_path: Path) -> None:
    classes = ("=HYPERLINK(1)", "-a")
    rows = [f'0.{n},{n % 2}.5,"{classes[n % 2]}",-{n}.5,=x{n}' for n in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,y,@n,=k", *rows]) + "\n")
    (tmp_path / "net.nn").write_text(NETWORK)
    training = ("--label", "y", "--exclude", "@n", "=k", "--epochs", "2", "--quiet")
    trained = netsharp("run", "net.nn", "--train", "t.csv", *training, cwd=tmp_path)
    assert trained.code == 0, trained.err
    asked = ("predict", "net.safetensors", "--data", "t.csv", "--keep", "@n,=k")
    exact, safe = (netsharp(*asked, *flag, cwd=tmp_path) for flag in ((), ("--spreadsheet",)))
    assert (exact.code, safe.code) == (0, 0), exact.err + safe.err
    plain, marked = read(exact.out), read(safe.out)
    assert plain[0][:3] == ["@n", "=k", "predicted"]
    assert plain[1][:2] == ["-0.5", "=x0"]
    assert {row[2] for row in plain[1:]} <= set(classes)
    for before, after in zip(plain, marked, strict=True):
        for one, other in zip(before, after, strict=True):
            formula = one[:1] in "=-@" and not re.fullmatch(r"-[\d.]+", one)
            assert other == (f"'{one}" if formula else one)
    filed = netsharp(*asked, "--spreadsheet", "--output", "p.csv", cwd=tmp_path)
    assert filed.code == 0
    assert (tmp_path / "p.csv").read_text() == safe.out
    refused = netsharp(*asked, "--spreadsheet", "--output", "p.jsonl", cwd=tmp_path)
    assert refused.code == 2
    assert "--spreadsheet is for CSV" in refused.err
