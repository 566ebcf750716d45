"""Which cases of tests marked `drawn` or `costly`, or that have very many, a run takes: a share by
the printed seed, all with `FULL=1`, and with `FULL=rest` those that the share has left out.

A plugin of the test run; knows no test.
"""

from __future__ import annotations

import os
import zlib
from collections import Counter
from collections.abc import Generator

import pytest

from tests.conftest import SEED

FULL = os.environ.get("FULL") in ("1", "rest")
REST = os.environ.get("FULL") == "rest"
#: One of this number of cases is taken, of a test that has more cases than `FEW`.
ONE_OF = 8
FEW = 10
#: A test of more cases is drawn without being marked, except for those of the house, which are
#: short and read each file once.
MANY = 40
WHOLE = "tests/house/"


def pytest_report_header() -> str:
    """Return a line that says which cases are taken."""
    share = f"one case of {ONE_OF}, by seed {SEED}; all with FULL=1"
    if FULL:
        share = f"all cases but those that seed {SEED} chooses" if REST else "all cases"
    return f"laws, what else is drawn, and what takes seconds: {share}"


@pytest.hookimpl(hookwrapper=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Generator[None]:
    """Mark tests of very many cases, which `-m` is to find, and draw once others have chosen."""
    cases = Counter(map(_test, items))
    for item in () if _names_files(config) else items:
        if cases[_test(item)] > MANY and not item.nodeid.startswith(WHOLE):
            item.add_marker(pytest.mark.drawn)
    yield
    _draw(config, items)
    # A fixture of minutes, begun last, would be waited for by all other workers.
    items.sort(key=lambda item: not _is_of_costly_file(item))


def _draw(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what the seed does not choose.

    A `drawn` test with few cases stays whole; in files that are named `costly` ones do, and those
    that are drawn for nothing but their number.
    """
    if FULL and not REST:
        return
    drawn = [item for item in items if item.get_closest_marker("drawn") is not None]
    cases = Counter(map(_test, drawn))
    left_out = [item for item in drawn if cases[_test(item)] > FEW and not _is_chosen(item)]
    if not _names_files(config):
        left_out += [item for item in items if _is_costly(item) and not _is_chosen(item)]
    gone = set(left_out)
    if REST:
        # What asks for FULL itself does more with it.
        gone = {item for item in items if item not in gone and not _asks_for_full(item)}
    if gone:
        config.hook.pytest_deselected(items=[item for item in items if item in gone])
        items[:] = [item for item in items if item not in gone]


def _test(item: pytest.Item) -> str:
    return item.nodeid.partition("[")[0]


def _names_files(config: pytest.Config) -> bool:
    """Whether the run is of named files or tests, not of folders."""
    return any(one.partition("::")[0].endswith(".py") for one in config.args)


def _asks_for_full(item: pytest.Item) -> bool:
    return hasattr(getattr(item, "module", None), "FULL")


def _is_costly(item: pytest.Item) -> bool:
    return item.get_closest_marker("costly") is not None


def _is_of_costly_file(item: pytest.Item) -> bool:
    costly = item.get_closest_marker("costly")
    return costly is not None and bool(costly.kwargs.get("by_file", False))


def _is_chosen(item: pytest.Item) -> bool:
    """Whether the seed chooses a case; what one costly fixture serves is chosen together."""
    name = item.nodeid.partition("::")[0] if _is_of_costly_file(item) else item.nodeid
    return zlib.crc32(f"{SEED} {name}".encode()) % ONE_OF == 0
