"""Keys and flags of a run with absurd values: one short sentence each, in no time."""

from __future__ import annotations

from pathlib import Path

import pytest

from netsharp_engine.train.settings.keys import KEYS
from netsharp_lsp.__main__ import main
from tests.costs import within
from tests.e2e.workshop import LABELLED

FLAGS = ("0", "-1", "1e999", "nan", "9" * 5000, "x" * 10**5, "1e-400", "", "\udcff")
TOML = ("-1", "nan", "inf", "9" * 4000, "9" * 5000, "0x" + "f" * 10**4, f'"{"x" * 10**5}"', "[[]]")
OUTPUTS = ("model", "log", "plot")
LONGEST = 800


def reported(capsys: pytest.CaptureFixture[str], *more: str) -> str:
    run = ("run", "net.nn", *LABELLED, "--train", "digits.csv", "--rows", "20", "--epochs", "1")
    code = within(5, lambda: main((*run, "--model", "new.safetensors", "--quiet", *more)))
    err = capsys.readouterr().err
    assert code in (0, 1, 2)
    assert "internal error" not in err
    assert len(err) < LONGEST
    assert bool(err) == bool(code)
    return err


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.drawn
@pytest.mark.parametrize("key", [key for key in KEYS if key.name not in OUTPUTS])
def test_monstrous_values(key, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for value in FLAGS if key.kind != "truth" else ():
        if key.name != "train" or value:
            reported(capsys, f"{key.flag}={value}")
    for value in TOML:
        (here / "odd.toml").write_text(f"[{key.section}]\n{key.name} = {value}\n")
        reported(capsys, "--run-file", "odd.toml")
        reported(capsys, "--run-file", "odd.toml", "--show-settings")


def test_a_number_of_too_many_digits_is_no_toml(here: Path, capsys) -> None:
    (here / "net.toml").write_text(f"[train]\nepochs = {'9' * 5000}\n")
    assert "net.toml: is not valid TOML" in reported(capsys)
    (here / "net.toml").unlink()
    (here / "netsharp.toml").write_text(f"features = {'9' * 5000}\n")
    assert main(("check", "net.nn")) == 2
    assert "is not valid TOML" in capsys.readouterr().err
