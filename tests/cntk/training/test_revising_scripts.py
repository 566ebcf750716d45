"""Scripts of edits that give parameters the numbers of files, or of other parameters that the
script makes at random: what is written has these, to the bit.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from netsharp_lsp.cntk.training.networks.models import LearntNetwork
from tests.cntk.training.edit_scripts import change, model_in, refused, trained_to_change

BEGIN = 'm = LoadModel("out/net.dnn", format="cntk")\nSetDefaultModel(m)\n'
SAVE = 'SaveModel(m, "out/edited.dnn")\n'
#: Of 8 rows and 2 columns, as W0 is.
ROWS = [[row + 0.5, -row / 3] for row in range(8)]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = trained_to_change(tmp_path_factory.mktemp("trained") / "run")
    (folder / "w.txt").write_text(text_of(ROWS))
    (folder / "more.txt").write_text(text_of([[7, *row[1:]] for row in ROWS]))
    (folder / "turned.txt").write_text(text_of(np.transpose(ROWS).tolist()))
    (folder / "ragged.txt").write_text("1 2\n3\n")
    (folder.parent / "beside.txt").write_text(text_of(ROWS))
    return folder


def text_of(rows: list[list[float]]) -> str:
    return "".join(" ".join(map(str, row)) + "\n" for row in rows)


def model_of(folder: Path, name: str = "edited.dnn") -> LearntNetwork:
    return model_in(folder / "out" / name)


def as_stored(rows: list[list[float]]) -> bytes:
    return np.asarray(rows, np.float32).T.tobytes()


@pytest.mark.parametrize("written", ["w.txt", '"w.txt"', '"./w.txt"'])
def test_a_parameter_takes_the_numbers_of_a_file_and_all_others_stay(
    written: str, trained: Path
) -> None:
    change(trained, f"{BEGIN}ReviseParameter(W0, {written})\n{SAVE}")
    before, after = model_of(trained, "net.dnn").values, model_of(trained).values
    assert after["W0"].tobytes() == as_stored(ROWS)
    assert before.keys() == after.keys()
    for name in before.keys() - {"W0"}:
        assert after[name].tobytes() == before[name].tobytes(), name


def test_what_is_written_has_the_numbers_of_where_it_is(trained: Path) -> None:
    script = (
        f'{BEGIN}SaveModel(m, "out/zero.dnn")\nReviseParameter(m.w0, "w.txt")\n'
        'SaveModel(m, "out/one.dnn")\nCopyNode(W0, Twin)\nReviseParameter(W0, "more.txt")\n'
        f'DumpNode(W0, "shown.txt", includeData=true)\nRename(W0, First)\n{SAVE}'
    )
    change(trained, script)
    untouched = model_of(trained, "net.dnn").values["W0"]
    assert model_of(trained, "zero.dnn").values["W0"].tobytes() == untouched.tobytes()
    assert model_of(trained, "one.dnn").values["W0"].tobytes() == as_stored(ROWS)
    last = model_of(trained).values
    assert last["Twin"].tobytes() == as_stored(ROWS)
    assert last["First"].tobytes() == as_stored([[7, *row[1:]] for row in ROWS])
    assert "\n 7 -0.333333343 \n" in (trained / "shown.txt").read_text()


def test_parameters_that_a_script_makes_are_revised_too(trained: Path) -> None:
    script = (
        f'{BEGIN}Extra = Parameter(8, 2, init="uniform")\nReviseParameter(Extra, "w.txt")\n'
        f'E = Times(Extra, features)\nSetProperty(E, "output", "true")\n{SAVE}'
    )
    change(trained, script)
    assert model_of(trained).values["Extra"].tobytes() == as_stored(ROWS)


def test_of_a_pattern_what_is_no_parameter_is_skipped(trained: Path) -> None:
    change(trained, f'{BEGIN}ReviseParameter(W0*, "w.txt")\n{SAVE}')
    before, after = model_of(trained, "net.dnn"), model_of(trained)
    assert sum(name.startswith("W0") for name in before.network.nodes) > 1
    assert after.values["W0"].tobytes() == as_stored(ROWS)
    assert after.network.nodes.keys() == before.network.nodes.keys()


REFUSED = {
    "missing": ('ReviseParameter(W0, "none.txt")', "none.txt"),
    "folder": ('ReviseParameter(W0, "out")', "out"),
    "outside": ('ReviseParameter(W0, "../beside.txt")', "outside"),
    "shape": ('ReviseParameter(W0, "turned.txt")', "It fits when transposed"),
    "ragged": ('ReviseParameter(W0, "ragged.txt")', "ragged.txt"),
    "no numbers": ('ReviseParameter(W0, "data.ctf")', "data.ctf"),
    "no parameter": ('ReviseParameter(HLast, "w.txt")', "'HLast' is"),
    "unknown node": ('ReviseParameter(W7, "w.txt")', "W7"),
    "variable": ('ReviseParameter(W0, "$Where$/w.txt")', "variable"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_cannot_be_revised_is_reported_first_with_its_line(kind: str, trained: Path) -> None:
    call, word = REFUSED[kind]
    (trained / "out" / "edited.dnn").unlink(missing_ok=True)
    done = refused(trained, f"{BEGIN}{SAVE}{call}\n{SAVE}")
    output = done.out + done.err
    assert word in output, output
    assert re.search(r"change\.mel(:4:|, line 4:)", output), output
    assert not (trained / "out" / "edited.dnn").exists()


def test_a_copy_has_the_numbers_that_were_drawn_for_what_it_is_copied_from(trained: Path) -> None:
    script = (
        f'{BEGIN}Extra = Parameter(3, 4, init="uniform")\nOther = Parameter(3, 4, init="uniform")\n'
        f"CopyNode(Extra, Twin)\nCopyNode(Other, Twin2)\n{SAVE}RemoveNode(Extra)\n"
        'SaveModel(m, "out/later.dnn")\nn = LoadModel("out/net.dnn")\nCopyNode(m.Twin, n.Third)\n'
        'SaveModel(n, "out/another.dnn")\nk = LoadModel("out/edited.dnn")\n'
        'SaveModel(k, "out/again.dnn")\n'
    )
    change(trained, script)
    values = model_of(trained).values
    extra = values["Extra"].tobytes()
    assert len(set(values["Extra"].tolist())) == 12
    assert values["Other"].tobytes() != extra
    assert values["Twin"].tobytes() == extra
    assert values["Twin2"].tobytes() == values["Other"].tobytes()
    assert model_of(trained, "later.dnn").values["Twin"].tobytes() == extra
    assert model_of(trained, "another.dnn").values["Third"].tobytes() == extra
    assert model_of(trained, "again.dnn").values["Extra"].tobytes() == extra
