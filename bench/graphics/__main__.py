"""Check and measure a graphics device, and write a report.

    python -m graphics [--device NAME] [--software] [--report FILE] [--rounds 5] [--seconds 1]

Exit code 0: all is met; 1: a bound or a goal is not; 2: there is no device to measure.
"""

from __future__ import annotations

import argparse
import datetime
import sys
from pathlib import Path

from graphics.checking import Checked, checked
from graphics.networks import WORKLOADS, Workload
from graphics.racing import LOOK, Raced, Rounds, raced
from graphics.report import lines, unmet
from netsharp_engine.graph import GraphError
from netsharp_engine.wgpu_backend import Adapter
from netsharp_engine.wgpu_backend.running import chosen

DONE, UNMET, FAILED = 0, 1, 2
BESIDE = Path(__file__).resolve().parents[1]
#: Steps of a course, and rows that software is given at most.
STEPS, FEW_STEPS, FEW_ROWS = 50, 3, 2


def main() -> int:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(prog="graphics", description=__doc__.split("\n", 1)[0])
    add = parser.add_argument
    add("--device", metavar="NAME", help="letters of the adapter's name (the best if absent)")
    add("--software", action="store_true", help="take a driver that plays a device: no figures")
    add("--report", metavar="FILE", help="where the report goes (bench/graphics.md if absent)")
    add("--rounds", type=int, default=5, help="rounds, of which the median counts")
    add("--seconds", type=float, default=1.0, help="seconds of each side in a round")
    options = parser.parse_args()
    try:
        adapter, _ = chosen(options.device or ("cpu" if options.software else None))
    except GraphError as error:
        return _failed(f"{error} Nothing was measured, and no report is written.")
    if adapter.software != options.software:
        hint = "--software takes it" if adapter.software else "leave --software out"
        return _failed(f"{adapter} is {adapter.kind}: {hint}. Nothing was measured.")
    if adapter.software and options.report is None:
        return _failed("A report of software is kept nowhere unless --report says where.")
    return _reported(adapter, options)


def _reported(adapter: Adapter, options: argparse.Namespace) -> int:
    peer, cuda = _peer()
    checks, races = _measured(adapter, options, cuda)
    path = Path(options.report or BESIDE / "graphics.md")
    day = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d")
    path.write_text("\n".join(lines(adapter, day, peer, checks, races)) + "\n", encoding="utf-8")
    missing = unmet(checks, [] if adapter.software else races)
    for sentence in missing:
        print(f"not met: {sentence}")
    print(f"report: {path}")
    return UNMET if missing else DONE


def _measured(
    adapter: Adapter, options: argparse.Namespace, cuda: bool
) -> tuple[list[Checked], list[Raced]]:
    checks: list[Checked] = []
    races: list[Raced] = []
    few, steps = adapter.software, FEW_STEPS if adapter.software else STEPS
    for workload in dict.fromkeys(_fewer(each) if few else each for each in WORKLOADS):
        for each in checked(adapter.name, workload, steps):
            print(f"{each.what}: {each.far:.1e} {'met' if each.well else 'NOT MET'}", flush=True)
            checks.append(each)
        told = Rounds(options.rounds, options.seconds, 1 if few else LOOK)
        races.append(raced(adapter.name, workload, told, cuda and not few))
        print(f"{workload.title}, {workload.rows} rows: measured", flush=True)
    return checks, races


def _fewer(workload: Workload) -> Workload:
    """As many rows as software is given."""
    return workload._replace(rows=min(workload.rows, FEW_ROWS))


def _peer() -> tuple[str, bool]:
    """What there is of PyTorch, and whether it has CUDA."""
    try:
        import torch
    except ImportError:
        return "no PyTorch, so nothing is compared with it", False
    if not torch.cuda.is_available():
        return f"PyTorch {torch.__version__} without CUDA, so nothing is compared with it", False
    return f"PyTorch {torch.__version__}, CUDA on {torch.cuda.get_device_name()}", True


def _failed(sentence: str) -> int:
    print(f"graphics: {sentence}", file=sys.stderr)
    return FAILED


if __name__ == "__main__":
    sys.exit(main())
