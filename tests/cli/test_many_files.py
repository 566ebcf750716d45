"""Many files: several processes share the work, end with the one that started them, and keep
nothing of files of which there is nothing to say.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from netsharp_lsp.cli.inputs import workers
from tests.cli.command_line import netsharp

CLEAN = "input A [3];\noutput B [2] sigmoid from A all;\n"


def write(folder: Path, count: int) -> None:
    for number in range(count):
        (folder / f"net{number:04}.nn").write_text(CLEAN)


def test_outcomes_come_in_order_however_many_there_are() -> None:
    for count in (0, 1, workers.MANY_FILES, 3 * workers.MOST_IN_PARCEL + 7):
        jobs = list(range(-count, 0))
        assert workers.do_all(abs, jobs) == list(range(count, 0, -1))


def test_what_processes_need_stays_in_no_environment() -> None:
    before = dict(os.environ)
    assert len(workers.do_all(abs, list(range(3 * workers.MANY_FILES)))) == 3 * workers.MANY_FILES
    assert dict(os.environ) == before


@pytest.mark.skipif(os.name != "posix", reason="sends signals of POSIX")
@pytest.mark.parametrize("command", [("check", "."), ("fmt", ".")])
def test_no_process_outlives_a_killed_one(command: tuple[str, ...], tmp_path: Path) -> None:
    from tests.torture.process import start

    if workers._processors() < 2:
        pytest.skip("one processor: no other process is started")
    write(tmp_path, 4_000)
    child = start(*command, cwd=tmp_path)
    others = Path(f"/proc/{child.process.pid}/task/{child.process.pid}/children")
    assert child.reached(lambda: len(others.read_text().split()) >= 2)
    time.sleep(0.1)
    child.signal(signal.SIGKILL)
    child.end()
    assert not child.survivors(10)


def test_findings_of_many_files_come_in_the_order_of_their_names(tmp_path: Path) -> None:
    write(tmp_path, 3 * workers.MANY_FILES)
    for number in (1, 50, 110):
        (tmp_path / f"net{number:04}.nn").write_text(CLEAN.replace("2]", "2"))
    answer = netsharp("check", ".", "--format", "concise", cwd=tmp_path)
    assert answer.code == 1
    found = [line.partition(":")[0] for line in answer.out.splitlines() if "NS0" in line]
    assert list(dict.fromkeys(found)) == ["net0001.nn", "net0050.nn", "net0110.nn"]
    report = netsharp("check", ".", "--format", "junit", cwd=tmp_path)
    assert report.out.count("<testsuite ") == 3 * workers.MANY_FILES
