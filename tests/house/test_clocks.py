"""Tests check durations through `tests.costs` alone, which reads it again where a bound is passed:
one reading on a busy machine says nothing of the code.
"""

from __future__ import annotations

import ast
from pathlib import Path

from tests.house.trees import nodes

TESTS = Path(__file__).resolve().parents[1]
#: What is read to learn what work costs; `monotonic` ends what waits for others.
CLOCKS = {
    *("process_time", "perf_counter", "thread_time"),
    *("process_time_ns", "perf_counter_ns", "thread_time_ns"),
    *("ru_utime", "ru_stime"),
}
READINGS = {"now", "spent", "spent_by_children", "least"}
#: Where the clocks may be read, each with how it keeps from failing by one reading.
ALLOWED = {
    "costs.py": "measures again",
    "house/test_clocks.py": "names them",
    "server/test_robustness.py": "measures in turn with its peer until the medians agree",
    "bounds/forking.py": "tells what each of several sizes costs, and judges none",
    "torture/process.py": "tells what a process has used",
    "torture/campaign.py": "adds up a report",
}


def test_no_bound_rests_on_one_reading_of_a_clock() -> None:
    astray = []
    for path in sorted(TESTS.rglob("*.py")):
        name = path.relative_to(TESTS).as_posix()
        if name in ALLOWED:
            continue
        for node in nodes(path):
            read = getattr(node, "attr", getattr(node, "id", getattr(node, "name", "")))
            if read in CLOCKS or (isinstance(node, ast.Assert) and _readings(node)):
                astray.append(f"{name}:{getattr(node, 'lineno', 0)}: {ast.unparse(node)}")
    assert astray == []


def _readings(node: ast.Assert) -> bool:
    called = (each.func for each in ast.walk(node) if isinstance(each, ast.Call))
    return any(isinstance(func, ast.Name) and func.id in READINGS for func in called)


def test_each_exception_is_one() -> None:
    for name in ALLOWED:
        text = (TESTS / name).read_text(encoding="utf-8")
        assert any(clock in text for clock in CLOCKS), name
