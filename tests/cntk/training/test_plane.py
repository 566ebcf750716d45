"""The figures that CNTK printed for two classes in the plane, from their configuration."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from netsharp_lsp.cntk.training.reporting import number
from tests.cli.command_line import clean_environment
from tests.cntk.training.experiments import Follower, run

FOLDER = Path(__file__).parents[3] / "examples" / "cntk" / "plane"
#: The same run as it was handed to us, byte for byte, where it lies beside the project.
HANDED = Path(__file__).parents[4] / "shared" / "peer" / "simple2d-onehidden"
FIGURES = [line.split("\t") for line in (FOLDER / "figures.tsv").read_text().splitlines()[1:]]
#: Of 120 lines at least this number have all printed digits; BLAS sums in an order of its own.
LEAST_LINES = 90


@pytest.fixture(
    scope="module",
    params=[
        "example",
        pytest.param(
            "handed",
            marks=pytest.mark.skipif(not HANDED.exists(), reason="shared/peer is not beside us"),
        ),
    ],
)
def done(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Follower]:
    folder = tmp_path_factory.mktemp("plane") / "run"
    source = HANDED if request.param == "handed" else FOLDER
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("out"))
    answer, follower = run(folder)
    assert (answer.code, answer.complaints) == (0, ())
    return folder, follower


def test_every_epoch_has_the_loss_that_was_printed(done: tuple[Path, Follower]) -> None:
    _, follower = done
    printed = [row for row in FIGURES if row[1] == "epoch"]
    assert len(follower.epochs) == len(printed) == 3
    for event, (*_, loss, errors) in zip(follower.epochs, printed, strict=True):
        assert event["loss"] == pytest.approx(float(loss), rel=1e-6)
        assert event["evaluation"]["EvalClassificationError"] == pytest.approx(
            float(errors), rel=1e-6
        )
        assert event["criterion"] == "CrossEntropyWithSoftmax"


def test_the_test_has_the_figures_that_were_printed(done: tuple[Path, Follower]) -> None:
    _, follower = done
    (event,) = [one for one in follower.events if one["event"] == "end"]
    (*_, loss, errors) = next(row for row in FIGURES if row[1] == "test")
    assert (event["command"], event["action"], event["samples"]) == ("score", "test", 603)
    assert event["loss"] == pytest.approx(float(loss), rel=1e-6)
    assert event["evaluation"]["EvalClassificationError"] == pytest.approx(float(errors), rel=1e-6)
    results = next(line for line in follower.lines if line.startswith("Final Results"))
    assert results == (
        "Final Results: Minibatch[1-1]: EvalClassificationError = 0.04975124 * 603; "
        "CrossEntropyWithSoftmax = 0.10807832 * 603; perplexity = 1.11413500"
    )


def test_lines_of_minibatches_have_the_digits_that_were_printed(
    done: tuple[Path, Follower],
) -> None:
    _, follower = done
    steps = [event for event in follower.events if event["event"] == "step"]
    printed = [row for row in FIGURES if row[1] == "minibatches"]
    assert len(steps) == len(printed) == 120
    equal = 0
    for event, (_, _, epoch, _, _, loss, errors) in zip(steps, printed, strict=True):
        assert event["epoch"] == int(epoch)
        reported = (event["loss"], event["evaluation"]["EvalClassificationError"])
        equal += [number("criterion", one) for one in reported] == [loss, errors]
    print(f"{equal} of {len(steps)} lines are equal")
    assert equal >= LEAST_LINES


def test_what_is_written_is_the_class_with_the_larger_probability(
    done: tuple[Path, Follower],
) -> None:
    folder, _ = done
    decided = (folder / "out" / "decision.PosteriorProb").read_text().splitlines()
    labels = (folder / "out" / "decision.labels").read_text().splitlines()
    wanted = [row.split()[1:3] for row in (folder / "test.ctf").read_text().splitlines()]
    assert labels == [f"{0 if one == '1' else 1}\t// labels" for one, _ in wanted]
    assert all(line in ("0\t// PosteriorProb", "1\t// PosteriorProb") for line in decided)
    wrong = sum(a[0] != b[0] for a, b in zip(decided, labels, strict=True))
    assert wrong == round(0.04975124 * 603)


def test_files_stand_where_the_original_puts_them(done: tuple[Path, Follower]) -> None:
    folder, _ = done
    assert sorted(path.name for path in (folder / "out").iterdir()) == [
        *("decision.PosteriorProb", "decision.labels"),
        *("plane.dnn", "plane.dnn.0", "plane.dnn.1", "plane.dnn.2", "plane.dnn.ckp"),
        "plane.dnn.ckp.safetensors",
    ]


@pytest.mark.costly
def test_a_script_prints_the_figures_beside_each_other() -> None:
    folders = [FOLDER, *(one for one in (HANDED.parent / "image-quicke2e",) if one.exists())]
    done = subprocess.run(
        [sys.executable, "-P", FOLDER.parent / "compare.py", *folders],
        capture_output=True,
        text=True,
        env=clean_environment(),
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert sum(line.startswith("minibatches ") for line in lines) >= 120
    assert sum(line.startswith("epoch ") for line in lines) >= 3
    assert lines[-1] == "All epochs and tests are as printed."
