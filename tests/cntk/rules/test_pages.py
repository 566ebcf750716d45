"""Every rule page holds: its bad example gives exactly its code and span, its good one nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from netsharp_lsp.cntk.rules import FOLDER, RULES
from netsharp_lsp.diagnostics.model import Diagnostic
from netsharp_lsp.diagnostics.page_blocks import Block
from netsharp_lsp.diagnostics.pages import Page, RuleBook
from netsharp_lsp.text.lines import LineIndex
from tests.cli.command_line import netsharp
from tests.cntk.rules.examples import SEVERE, Example, shown

BOOK = RuleBook(FOLDER)
#: Codes that are given where suppressions are matched with findings, not by an experiment.
MATCHED = ("CK001", "CK002")
#: Codes that are given where data are read, on files of a disk.
READ = ("CK124", "CK125")
#: Codes that are given where the file of a model is there.
HELD = ("CK126",)
#: Migrations are shown by what they change; see the tests of the migration.
CODES = tuple(code for code in BOOK.codes if not code.startswith("MG"))
CODE = re.compile(r"(CK|BS|ND|ME)\d{3}\Z")


@pytest.fixture(params=[code for code in CODES if code not in (*MATCHED, *READ, *HELD)])
def page(request: pytest.FixtureRequest) -> Page:
    RULES.load()
    return BOOK.page(request.param)


def own(found: dict[str, list[Diagnostic]], code: str) -> list[tuple[str, Diagnostic]]:
    return [(file, one) for file, listed in found.items() for one in listed if one.code == code]


def severe(found: dict[str, list[Diagnostic]], but: str = "") -> list[str]:
    return shown(
        {
            file: [one for one in listed if one.severity in SEVERE and one.code != but]
            for file, listed in found.items()
        }
    )


def test_every_rule_has_its_page_and_every_page_its_rule() -> None:
    RULES.load()
    registered = {code for code in RULES.severities if not code.startswith("MG")}
    assert registered | set(MATCHED) == set(CODES)
    assert [code for code in CODES if CODE.match(code) is None] == []


def test_no_two_pages_have_one_code() -> None:
    names = [path.name for path in Path(FOLDER).rglob("*.md")]
    assert sorted(name for name in set(names) if names.count(name) > 1) == []


def test_page_names_itself_and_its_severity(page: Page) -> None:
    assert (page.code, page.severity) == (page.code, RULES.severities[page.code])
    assert BOOK.text(page.code).startswith(f"# {page.code}: ")


def reported_of_data(blocks: tuple[Block, ...], folder: Path) -> list[tuple[object, ...]]:
    for block in blocks:
        (folder / block.title).write_bytes(block.data)
    if any(block.title == "old.cntk" for block in blocks):
        # What trained the model that is then there.
        (folder / "model").unlink(missing_ok=True)
        assert netsharp("run", "old.cntk", cwd=folder).code == 0
    answer = netsharp("check", "--read-data", "--format=json", "run.cntk", cwd=folder)
    return [
        (one["file"], one["code"], one["severity"], *one["start"].values(), *one["end"].values())
        for one in json.loads(answer.out)["diagnostics"]
        if one["code"] in (*READ, *HELD)
    ]


@pytest.mark.costly
@pytest.mark.parametrize("code", [*READ, *HELD])
def test_examples_of_data_are_true(code: str, tmp_path: Path) -> None:
    page = BOOK.page(code)
    assert page.severity == RULES.severities[code]
    (marked,) = (block for block in page.bad_blocks if block.span is not None)
    lines = LineIndex(marked.text)
    start, end = (lines.position(offset) for offset in (page.bad_start, page.bad_end))
    expected = [(marked.title, code, page.severity, *start, *end)]
    assert reported_of_data(page.bad_blocks, tmp_path) == expected
    assert reported_of_data(page.good_blocks, tmp_path) == []


def test_bad_example_gives_exactly_its_code_and_span(page: Page) -> None:
    example = Example(page.bad_blocks)
    found = example.found()
    name = example.name_of(example.marked)
    places = [(file, one.start, one.end) for file, one in own(found, page.code)]
    assert places == [(name, page.bad_start, page.bad_end)], shown(found)
    assert severe(found, but=page.code) == []


def test_bad_example_is_severe_enough(page: Page) -> None:
    ((_, one),) = own(Example(page.bad_blocks).found(), page.code)
    expected = {page.severity, "error"} if page.bad_blocks[0].runs else {page.severity}
    assert one.severity in expected


def test_good_example_is_clean(page: Page) -> None:
    found = Example(page.good_blocks).found()
    assert own(found, page.code) == [], shown(found)
    assert severe(found) == []


def test_fix_is_as_promised(page: Page) -> None:
    ((_, one),) = own(Example(page.bad_blocks).found(), page.code)
    promised = None if page.fix == "none" else page.fix == "safe"
    assert (None if one.fix is None else one.fix.safe) == promised


def test_fix_removes_its_fault_and_adds_none(page: Page) -> None:
    if page.fix == "none":
        return
    example = Example(page.bad_blocks)
    before = example.found()
    name = example.name_of(example.marked)
    after = example.found({name: example.repaired(page.code)})
    assert own(after, page.code) == [], shown(after)
    errors = [line for line in severe(after) if " error: " in line]
    assert errors == [line for line in severe(before, but=page.code) if " error: " in line]


def test_a_safe_fix_keeps_what_a_sound_text_means(page: Page) -> None:
    """A broken text has no meaning to keep: there its repair is safe."""
    if page.fix != "safe" or page.severity == "error":
        return
    example = Example(page.bad_blocks)
    changed = {example.name_of(example.marked): example.repaired(page.code)}
    before, after = (_meaning(example, files) for files in (None, changed))
    assert before == after


def _meaning(example: Example, changed: dict[str, bytes] | None) -> object:
    experiment = example.experiment(changed)
    values = {
        value.path.lower(): value.value
        for value in experiment.configuration.values()
        if value.kind not in ("block",)
    }
    networks = [
        [
            (node.name, node.operation, [one.name for one in node.inputs], node.attributes)
            for node in built.network.nodes.values()
        ]
        for built in experiment.networks
        if built.network is not None
    ]
    return values, networks
