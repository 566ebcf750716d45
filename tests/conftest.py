"""Options, header and last line of a test run: its seed, what had to be left out."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

#: Where a test draws at random without Hypothesis, it starts from here.
SEED = 20151
TORCH_NOTICE = (
    "torch is not installed: the comparisons with PyTorch were skipped (group 'peers', "
    "`pip install --group peers`)"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update",
        action="store_true",
        help="write expected files anew instead of comparing with them",
    )


def pytest_report_header(config: pytest.Config) -> str:
    drawn = "drawn anew" if config.getoption("--update") else "compared"
    return f"netsharp: random seed {SEED}; expected files are {drawn}"


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Say in the very last line that torch is missing; workers of xdist stay silent."""
    if hasattr(config, "workerinput") or config.getoption("collectonly", False):
        return
    if find_spec("torch") is None:
        print(TORCH_NOTICE)


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of Net# texts: `guide`, `valid`, `broken`."""
    return Path(__file__).parent / "corpus"


@pytest.fixture
def update(request: pytest.FixtureRequest) -> bool:
    """Whether expected files are to be written anew."""
    return bool(request.config.getoption("--update"))


@pytest.fixture(scope="session")
def seed() -> int:
    """Where random draws of a test start."""
    return SEED
