"""Options, header and last line of a test run: its seed, what had to be left out; and what no
test may leave behind.
"""

from __future__ import annotations

import gc
import os
import shutil
import signal
from importlib.util import find_spec
from pathlib import Path

import pytest

#: Where a test draws at random without Hypothesis, it starts from here (`fuzz-compile`: elsewhere).
SEED = int(os.environ.get("NETSHARP_SEED", "20151"))
#: For a test that makes a named pipe.
PIPES = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
TORCH_NOTICE = (
    "torch is not installed: the comparisons with PyTorch were skipped (group 'peers', "
    "`pip install --group peers`)"
)

BOARDS_NOTICE = (
    "{} is not there: compiled networks were not run on all emulated boards ('make embedded' "
    "installs it)"
)
#: By which the tests of boards know that all is installed.
BOARD_PROGRAMS = (
    "arm-none-eabi-gcc",
    "riscv64-unknown-elf-gcc",
    "qemu-system-arm",
    "qemu-system-riscv32",
    "clang",
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


def pytest_configure() -> None:
    """Take signals as a person's shell gives them: what is started in the background or by `nohup`
    ignores some, and so would every process that a test starts.
    """
    for name, usual in (("SIGINT", signal.default_int_handler), ("SIGHUP", signal.SIG_DFL)):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, usual)


def pytest_collection_finish() -> None:
    """Look for cycles in what tests make, not each time through the tests themselves."""
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Fail a test that turns the collector of cycles off: all after it would pile up garbage."""
    if not gc.isenabled():
        gc.enable()
        pytest.fail(f"{item.nodeid} left the collector of cycles turned off", pytrace=False)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Say in the very last lines what is missing; workers of xdist stay silent."""
    if hasattr(config, "workerinput") or config.getoption("collectonly", False):
        return
    if find_spec("torch") is None:
        print(TORCH_NOTICE)
    lacking = [name for name in BOARD_PROGRAMS if shutil.which(name) is None]
    if lacking:
        print(BOARDS_NOTICE.format(lacking[0]))


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of Net# texts: `guide`, `valid`, `broken`."""
    return Path(__file__).parent / "corpus"


@pytest.fixture
def update(request: pytest.FixtureRequest) -> bool:
    """Whether expected files are to be rewritten."""
    return bool(request.config.getoption("--update"))


@pytest.fixture(scope="session")
def seed() -> int:
    """Where random draws of a test start."""
    return SEED
