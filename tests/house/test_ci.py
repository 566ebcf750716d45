"""The script of continuous integration says what each target took, and holds the sum to a bound."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

RUN = Path(__file__).parents[2] / ".ci" / "run"


def ci(tmp_path: Path, make: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the script with a `make` of our own."""
    program = tmp_path / "make"
    program.write_text(f"#!/usr/bin/env bash\n{make}\n")
    program.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, **environment}
    return subprocess.run(
        ["bash", str(RUN)], env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.skipif(shutil.which("timeout") is None, reason="the script needs coreutils")
def test_the_minutes_of_every_target_are_reported_and_bounded(tmp_path: Path) -> None:
    done = ci(tmp_path, "true")
    assert done.returncode == 0, done.stderr
    *targets, total = done.stdout.splitlines()
    assert total == "  0.0 minutes  in all"
    assert "  0.0 minutes  make torture SECONDS=180 SEED=1" in targets
    assert len(targets) >= 12
    late = ci(tmp_path, "true", MOST_MINUTES="-1")
    assert late.returncode == 1
    assert late.stdout.splitlines()[0] == "That took more than -1 minutes."


@pytest.mark.skipif(shutil.which("timeout") is None, reason="the script needs coreutils")
def test_a_target_that_fails_ends_it(tmp_path: Path) -> None:
    done = ci(tmp_path, '[ "$1" != lint ]')
    assert done.returncode == 1
    assert "make peers" in done.stdout
    assert "make grammar" not in done.stdout


@pytest.mark.skipif(shutil.which("timeout") is None, reason="the script needs coreutils")
def test_one_of_several_at_a_time_that_fails_ends_it_with_what_all_said(tmp_path: Path) -> None:
    done = ci(tmp_path, 'echo "said by $1"; [ "$1" != soak ]')
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    targets = ("lint", "laws", "torture", "soak", "r", "sanitize")
    ends = [lines.index(f"said by {one}") for one in targets]
    assert ends == sorted(ends)
    assert [one for one in lines if one.endswith("minutes  make soak")]
    assert [one for one in lines if one.endswith("minutes  make r")]
    assert [one for one in lines if one.endswith("minutes  make sanitize")]
    assert "said by editors" not in lines
