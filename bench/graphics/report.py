"""What was found on a graphics device, as Markdown: device, driver, versions, what is not met."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version

from graphics.checking import Checked
from graphics.racing import Raced
from netsharp_engine.wgpu_backend import Adapter


def lines(
    adapter: Adapter,
    day: str,
    peer: str,
    checks: Sequence[Checked],
    races: Sequence[Raced],
) -> Iterator[str]:
    """Yield the report; of software it has no figure."""
    yield "# A graphics device, checked and measured"
    yield ""
    if adapter.software:
        yield "**Software that plays a device: times mean nothing and are left out.**"
        yield ""
    yield f"- day: {day}"
    yield f"- adapter: {adapter.name}, {adapter.kind}"
    yield f"- driver: {adapter.driver}"
    yield f"- beside it: {peer}"
    packages = ", ".join(f"{name} {_version(name)}" for name in ("numpy", "wgpu"))
    yield f"- Python {platform.python_version()}, {packages}"
    yield ""
    yield "## Numbers"
    yield ""
    yield "Each beside numpy in float64: the largest difference, relative to the largest number"
    yield "of a tensor."
    yield ""
    yield "| compared | found | must be | |"
    yield "|---|---|---|---|"
    for each in checks:
        verdict = "met" if each.well else "NOT MET"
        yield f"| {each.what} | {each.far:.1e} | {each.bound:.0e} | {verdict} |"
    yield ""
    yield "## Figures"
    yield ""
    yield "Rows a second in training, float32; medians of rounds in turns. Ours copy their rows to"
    yield "the device in each step, those of PyTorch lie there (eager mode, without TF32)."
    yield ""
    yield "| network | rows a step | plain | variants | PyTorch | quotient | goal |"
    yield "|---|---|---|---|---|---|---|"
    for race in races:
        yield _row(race, software=adapter.software)
    yield ""
    for race in races:
        if race.variants and not adapter.software:
            yield f"- {race.workload.title}, {race.workload.rows} rows: {race.variants}"


def _row(race: Raced, *, software: bool) -> str:
    work = race.workload
    if software:
        cells = ["ran", "ran", "-", "-", "-"]
    else:
        torch = "not measured" if race.torch is None else f"{race.torch:,.0f}"
        quotient = "-" if race.quotient is None else f"{race.quotient:.2f}"
        cells = [f"{race.plain:,.0f}", f"{race.chosen:,.0f}", torch, quotient, f"{work.goal:g}"]
    return f"| {work.title} | {work.rows} | {' | '.join(cells)} |"


def unmet(checks: Sequence[Checked], races: Sequence[Raced]) -> list[str]:
    """Return a sentence for each bound and goal that is not met."""
    found = [
        f"{each.what}: {each.far:.1e}, must be {each.bound:.0e}" for each in checks if not each.well
    ]
    for race in races:
        work = race.workload
        if race.quotient is not None and race.quotient < work.goal:
            told = f"{work.title}, {work.rows} rows: {race.quotient:.2f} of PyTorch's rate"
            found.append(f"{told}, goal {work.goal:g}")
    return found


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "?"
