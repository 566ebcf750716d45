"""Every option of `simulate` that --help lists does what it says: a row for each."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from netsharp_lsp.cli import simulate as simulate_command
from tests.cli.command_line import netsharp as command
from tests.compiling.options import CONFIGURATION, Asked, options_of
from tests.compiling.options import asked as asked
from tests.compiling.options import folder as folder

pytestmark = pytest.mark.filterwarnings("ignore:On training rows")


def compare(asked: Asked) -> bool:
    made = asked.simulate("--compare", "net.safetensors")
    return made.code == 0 and made.out.startswith("on 200 rows: ")


def max_apart(asked: Asked) -> bool:
    assert asked.compile("--activations", "uint4", output="simulated").code == 0
    words = ("--compare", "net.safetensors", "--max-apart")
    return [asked.simulate(*words, one).code for one in ("1", "100")] == [1, 0]


def to_file(asked: Asked) -> bool:
    place = asked.folder.with_name("answers.csv")
    made = asked.simulate("--output", str(place))
    return made.out == "" and place.read_text() == asked.simulate().out


def keep(asked: Asked) -> bool:
    rows = list(csv.DictReader(asked.simulate("--keep", "b,d", "--keep", "label").out.splitlines()))
    with (asked.folder / "rows.csv").open() as stream:
        known = list(csv.DictReader(stream))
    return all(rows[n][key] == known[n][key] for n in range(200) for key in ("b", "d", "label"))


def lines(asked: Asked) -> bool:
    found = [json.loads(one) for one in asked.simulate("--format", "json").out.splitlines()]
    rows = list(csv.DictReader(asked.simulate("--format", "text").out.splitlines()))
    return [one["predicted"] for one in found] == [one["predicted"] for one in rows]


def data(asked: Asked) -> bool:
    return len(asked.simulate(data="few.csv").out.splitlines()) == 21


def answers_of(asked: Asked, text: str, *words: str) -> bool:
    """Whether rows in another form have the answers of the first."""
    place = asked.folder.with_name("other.csv")
    place.write_bytes(text.encode("utf-16" if "utf-16" in words else "utf-8"))
    made = asked.simulate(*words, data=str(place))
    return made.code == 0 and made.out == asked.simulate().out


def text_of(asked: Asked) -> str:
    return (asked.folder / "rows.csv").read_text()


def rows(asked: Asked) -> bool:
    return asked.simulate("--rows", "7").out.splitlines() == asked.simulate().out.splitlines()[:8]


def missing(asked: Asked) -> bool:
    """A gap is refused as in the training, or 0, or its row has no answer; for others there is no
    mean.
    """
    head, first, *others = text_of(asked).splitlines()
    rest = first.partition(",")[2]
    places = [asked.folder.with_name(f"{name}.csv") for name in ("gap", "zero")]
    for place, cell in zip(places, ("", "0"), strict=True):
        place.write_text("\n".join([head, f"{cell},{rest}", *others]) + "\n")
    words = ("error", "mean", "indicator", "zero", "drop")
    found = [asked.simulate("--missing", one, data=str(places[0])) for one in words]
    assert [one.code for one in found] == [2, 2, 2, 0, 0]
    assert "so it has no mean for them" in found[1].err
    assert found[3].out == asked.simulate(data=str(places[1])).out
    dropped = found[4].out.splitlines()
    assert dropped[1] == ",nan,nan,nan"
    return dropped[2:] == found[3].out.splitlines()[2:]


def renamed_label(asked: Asked) -> bool:
    return answers_of(asked, text_of(asked).replace(",label", ",kind"), "--label", "kind")


SIMULATED: dict[str, Callable[[Asked], bool]] = {
    "--compare": compare,
    "--max-apart": max_apart,
    "--output": to_file,
    "--keep": keep,
    "--format": lines,
    "--data": data,
    "--label": renamed_label,
    "--labels": lambda asked: asked.simulate("--labels", "few.csv").code == 2,
    "--header": lambda asked: answers_of(asked, text_of(asked), "--header"),
    "--no-header": lambda asked: answers_of(
        asked, text_of(asked).partition("\n")[2], "--no-header", "--label", "5"
    ),
    "--delimiter": lambda asked: answers_of(
        asked, text_of(asked).replace(",", "|"), "--delimiter", "|"
    ),
    "--decimal": lambda asked: answers_of(
        asked,
        text_of(asked).replace(",", ";").replace(".", ","),
        *("--decimal", "comma", "--delimiter", ";"),
    ),
    "--encoding": lambda asked: answers_of(asked, text_of(asked), "--encoding", "utf-16"),
    "--missing": missing,
    "--rows": rows,
    "--stream": lambda asked: "have names of streams" in asked.simulate("--stream", "a=b").err,
    "--reader": lambda asked: (
        "no command here has a reader" in asked.simulate("--reader", str(CONFIGURATION)).err
    ),
}


@pytest.mark.costly
@pytest.mark.parametrize("option", SIMULATED)
def test_every_option_of_simulate_does_what_it_says(option: str, asked: Asked) -> None:
    assert SIMULATED[option](asked)


@pytest.mark.costly
def test_predict_and_evaluate_take_missing_numbers_as_they_are_asked_to(folder: Path) -> None:
    """A flag that the reader of rows for a model once ignored."""
    head, _, *others = (folder / "rows.csv").read_text().splitlines()
    gap, zero = folder / "gap.csv", folder / "zero.csv"
    gap.write_text("\n".join([head, ",1.5,1,1,no", *others]) + "\n")
    zero.write_text("\n".join([head, "0,1.5,1,1,no", *others]) + "\n")
    for name, words in (("predict", ()), ("evaluate", ("--format", "json"))):
        given = (name, "net.safetensors", *words, "--data")
        assert command(*given, "gap.csv", cwd=folder).code == 2
        filled = command(*given, "gap.csv", "--missing", "zero", cwd=folder)
        assert (filled.code, filled.err) == (0, "")
        assert filled.out == command(*given, "zero.csv", cwd=folder).out
        assert command(*given, "gap.csv", "--missing", "mean", cwd=folder).code == 2
        dropped = command(*given, "gap.csv", "--missing", "drop", cwd=folder)
        assert dropped.code == 0, dropped.err
        if name == "predict":
            assert dropped.out.splitlines()[1].startswith(",")
        else:
            rows = [json.loads(one.out)["rows"] for one in (filled, dropped)]
            assert rows == [200, 199]


def test_every_option_has_a_row() -> None:
    assert set(options_of(simulate_command)) == set(SIMULATED)
