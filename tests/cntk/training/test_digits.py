"""The figures that CNTK printed for small images of digits, from a configuration in BrainScript."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cntk.training.experiments import Follower, run

#: The run as it was handed to us, where it lies beside the project.
HANDED = Path(__file__).parents[4] / "shared" / "peer" / "image-quicke2e"
pytestmark = pytest.mark.skipif(not HANDED.exists(), reason="shared/peer is not beside us")


def printed(which: str, what: str) -> list[tuple[float, float]]:
    """Loss and share of errors that were printed in a run."""
    rows = [line.split("\t") for line in (HANDED / "figures.tsv").read_text().splitlines()[1:]]
    return [(float(row[5]), float(row[6])) for row in rows if row[:2] == [which, what]]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Follower]:
    folder = tmp_path_factory.mktemp("digits") / "run"
    shutil.copytree(HANDED, folder, ignore=shutil.ignore_patterns("out"))
    answer, follower = run(folder)
    assert (answer.code, answer.complaints) == (0, ())
    return folder, follower


def compare(follower: Follower, which: str) -> None:
    ends = [event for event in follower.events if event["event"] == "end"]
    shown = [event for event in follower.events if event["event"] == "step"]
    for events, what in ((follower.epochs, "epoch"), (shown, "minibatches"), (ends, "test")):
        expected = printed(which, what)
        assert len(events) == len(expected) > 0, what
        for event, (loss, errors) in zip(events, expected, strict=True):
            assert event["loss"] == pytest.approx(loss, rel=1e-6)
            assert event["evaluation"]["err"] == pytest.approx(errors, rel=1e-6)
            print(f"{what}: {event['loss']:.8f}, printed {loss:.8f}")


def test_every_figure_is_the_one_that_was_printed(done: tuple[Path, Follower]) -> None:
    compare(done[1], "1")


def test_begun_again_the_last_epoch_repeats_itself(
    done: tuple[Path, Follower], tmp_path: Path
) -> None:
    folder = tmp_path / "again"
    shutil.copytree(done[0], folder)
    model = (folder / "out" / "digits.dnn").read_bytes()
    (folder / "out" / "digits.dnn").unlink()
    _, follower = run(folder)
    compare(follower, "2")
    assert [event["loss"] for event in follower.epochs] == [done[1].epochs[-1]["loss"]]
    assert (folder / "out" / "digits.dnn").read_bytes() == model
