"""One table of the hosts' arguments: the page, run files, flags and Python's keywords answer by it.

`pytest tests/importing --update` regenerates the page's tables.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from netsharp_engine.host_arguments import (
    ARGUMENTS,
    LOSSES,
    NORMALIZERS,
    OPTIMIZER_CALLS,
    OPTIMIZERS,
    TASKS,
    HostArgument,
)
from netsharp_engine.train.settings import TrainingSettings, read_settings
from netsharp_engine.train.settings.keys import BY_NAME
from netsharp_lsp.__main__ import main
from tests.public.page import replaced

PAGE = Path(__file__).parents[2] / "docs" / "importing.md"
HEAD = "| R | Python | Studio | run file | what `import` does |\n|---|---|---|---|---|\n"
TABLES = {"arguments": ARGUMENTS, "optimisers": OPTIMIZERS}
NAMES = sorted(
    {
        name: row
        for row in (*ARGUMENTS, *OPTIMIZERS)
        for name in (row.r, row.python)
        if name and name not in BY_NAME
    }.items()
)


def shown(row: HostArgument) -> str:
    names = [f"`{one}`" if one else "-" for one in (row.r, row.python)]
    key = f"`{row.key}`" if row.key else "-"
    return f"| {' | '.join((*names, row.studio or '-', key, row.becomes))} |"


def test_the_page_has_every_argument(update: bool) -> None:
    text = page = PAGE.read_text(encoding="utf-8")
    for name, rows in TABLES.items():
        page = replaced(page, name, HEAD + "\n".join(map(shown, rows)))
    if update:
        PAGE.write_text(page, encoding="utf-8")
    else:
        assert page == text, "run pytest tests/importing --update"


def test_every_argument_is_a_key_or_says_why_not() -> None:
    for row in (*ARGUMENTS, *OPTIMIZERS):
        assert row.key in BY_NAME or (not row.key and row.becomes.partition(": ")[2]), row


@pytest.mark.parametrize(("name", "row"), NAMES, ids=[name for name, _ in NAMES])
def test_an_argument_of_the_hosts_is_answered_with_ours(
    name: str, row: HostArgument, capsys: pytest.CaptureFixture[str]
) -> None:
    found = read_settings({"train": {name: 1}}, file_name="a.toml")
    assert isinstance(found, list)
    flag = f"--{name.replace('_', '-')}"
    assert main(["run", "a.nn", flag, "1"]) == 2
    output = capsys.readouterr().err
    keyword = read_settings({}, {name: 1})
    assert isinstance(keyword, list)
    if row.key:
        where = "" if BY_NAME[row.key].section == "train" else " in [data]"
        assert found == [f"a.toml, [train]: unknown key '{name}': this is '{row.key}'{where} here."]
        assert f"'{flag}' is not an option: this is '--{row.key.replace('_', '-')}' here." in output
        assert keyword == [f"There is no setting '{name}': this is '{row.key}' here."]
    else:
        why = row.becomes.partition(": ")[2]
        for sentence in (found[0], output, keyword[0]):
            assert f"{why}." in sentence


@pytest.mark.parametrize("studio", [row.studio for row in ARGUMENTS if row.studio])
def test_studios_words_as_keys(studio: str) -> None:
    name = re.sub(r"\W+", "_", studio.partition(",")[0]).lower()
    if name in BY_NAME:
        return
    found = read_settings({"train": {name: 1}})
    assert isinstance(found, list)
    assert " here" in found[0]


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("normalizer", NORMALIZERS),
        ("task", TASKS),
        ("optimizer", OPTIMIZER_CALLS),
        ("loss", LOSSES),
    ],
)
def test_words_of_the_hosts_stand_for_ours(key: str, words: dict[str, str]) -> None:
    for word, ours in words.items():
        for written in (word, word.upper()):
            for given in ({"train": {key: written}}, {}):
                flags = {} if given else {key: written}
                found = read_settings(given, flags)
                assert isinstance(found, TrainingSettings), found
                assert getattr(found, key) == ours


def test_other_commands_and_other_names_are_answered_as_before(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["fmt", "a.nn", "--num-iterations", "3"]) == 2
    assert "epochs" not in capsys.readouterr().err
    assert main(["run", "a.nn", "--epoch-count", "3"]) == 2
    assert "this is" not in capsys.readouterr().err
