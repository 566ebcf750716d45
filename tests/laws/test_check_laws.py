"""What holds for the checker on every text that the project has, in every kind of line end."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from itertools import pairwise

import pytest

from netsharp_lsp.context import Context
from netsharp_lsp.diagnostics.model import SEVERITIES, Diagnostic
from netsharp_lsp.diagnostics.pages import Page, RuleBook
from netsharp_lsp.diagnostics.selection import Selection
from netsharp_lsp.examining import examine
from netsharp_lsp.language import language_by_id
from netsharp_lsp.netsharp.reading.parser import parse
from netsharp_lsp.netsharp.reading.syntax import ConstantItem, LayerItem
from netsharp_lsp.netsharp.rules import FOLDER
from netsharp_lsp.text.decode import Source, decode
from netsharp_lsp.text.lines import LineIndex
from tests.collection import FRAGMENTS, SAMPLES, Sample

NETSHARP = language_by_id("netsharp")
BOOK = RuleBook(FOLDER)
SEVERE = ("error", "warning")
LINE_ENDS: dict[str, Callable[[bytes], bytes]] = {
    "lf": lambda text: text.replace(b"\r\n", b"\n"),
    "crlf": lambda text: re.sub(rb"\r\n|\n", b"\r\n", text),
    "cr": lambda text: re.sub(rb"\r\n|\n", b"\r", text),
}
every_sample = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
every_line_end = pytest.mark.parametrize("line_end", LINE_ENDS)


def found(text: bytes, context: Context) -> list[Diagnostic]:
    return examine(NETSHARP, LineIndex(text), context, Selection())


def placed(text: bytes, context: Context) -> list[tuple[object, ...]]:
    """The findings of a text and on which line and column, so that line ends do not matter."""
    lines = LineIndex(text)
    return [
        (d.code, d.severity, lines.position(d.start), lines.position(d.end))
        for d in found(text, context)
    ]


@every_sample
@every_line_end
def test_what_is_reported_is_well_formed_and_repeated(sample: Sample, line_end: str) -> None:
    text = LINE_ENDS[line_end](sample.text)
    diagnostics = found(text, sample.context)
    assert diagnostics == found(text, sample.context)
    for diagnostic in diagnostics:
        assert diagnostic.code in BOOK.codes
        assert diagnostic.severity in SEVERITIES
        assert diagnostic.message.strip()
        for place in (diagnostic, *diagnostic.related):
            assert 0 <= place.start <= place.end <= len(text)
            text[: place.start].decode()
            text[place.start : place.end].decode()


@every_sample
def test_line_ends_change_nothing(sample: Sample) -> None:
    if re.search(rb"\r(?!\n)", sample.text):
        return  # A lone CR beside other line ends makes other lines.
    as_lf = placed(LINE_ENDS["lf"](sample.text), sample.context)
    assert placed(LINE_ENDS["crlf"](sample.text), sample.context) == as_lf
    assert placed(LINE_ENDS["cr"](sample.text), sample.context) == as_lf


@every_sample
def test_a_mark_and_other_encodings_change_nothing(sample: Sample) -> None:
    marked = sample.text.removeprefix(b"\xef\xbb\xbf")
    wide = b"\xff\xfe" + marked.decode().encode("utf-16-le")
    for data in (b"\xef\xbb\xbf" + marked, wide):
        source = decode(data)
        assert isinstance(source, Source)
        assert source.text == marked


@every_sample
def test_complete_networks_are_clean(sample: Sample) -> None:
    severe = [(d.code, d.message) for d in found(sample.text, Context()) if d.severity in SEVERE]
    if sample.complete:
        assert severe == []
    elif sample.group == "guide":
        assert {code for code, _ in severe} == FRAGMENTS[sample.name.partition("/")[2]]


def test_the_collection_is_as_large_as_promised() -> None:
    """That no two files are alike is a law of the grammar's."""
    texts = {sample.text for sample in SAMPLES}
    by_group = {
        group: len({sample.text for sample in SAMPLES if sample.group == group})
        for group in ("guide", "valid", "broken", "bad", "good")
    }
    assert len(texts) >= 300
    assert by_group["guide"] >= 17
    assert by_group["valid"] >= 60
    assert by_group["broken"] >= 60
    assert by_group["bad"] == len(BOOK.codes)


def declared_names(text: bytes) -> set[str]:
    """Every name that a text declares."""
    return {
        item.name.text
        for _declaration, item in parse(text).items()
        if isinstance(item, LayerItem | ConstantItem) and item.name is not None
    }


# Several independent faults.

#: Faults of a network as a whole: another network in the file fixes or hides them, an unused name
#: is not reported while other text is unparsed, and of a merge conflict either side may stay.
ABOUT_THE_WHOLE = frozenset(
    (
        *("NS003", "NS028", "NS051", "NS052", "NS053", "NS054", "NS058", "NS059", "NS084"),
        "NS131",
    )
)


def renamed(text: bytes, ending: str) -> bytes:
    """The text with another ending on every name that it declares."""
    names = sorted(declared_names(text))
    if not names:
        return text
    pattern = rf"(?<![\w.])({'|'.join(map(re.escape, names))})(?!\w)"
    return re.sub(pattern, rf"\g<1>{ending}", text.decode()).encode()


def severe_codes(text: bytes) -> set[str]:
    return {d.code for d in found(text, Context()) if d.severity in SEVERE}


def separable() -> list[Page]:
    """Pages whose examples stand alone: without context, and the same under other names."""
    pages = []
    for code in BOOK.codes:
        page = BOOK.page(code)
        alone = not page.context.known() and not page.good_context.known()
        if alone and page.severity in SEVERE and code not in ABOUT_THE_WHOLE:
            same = severe_codes(renamed(page.bad, "_p")) == {code}
            if same and not severe_codes(renamed(page.good, "_p")):
                pages.append(page)
    return pages


@pytest.mark.costly
def test_independent_faults_are_all_reported_and_set_off_no_other(seed: int) -> None:
    pages = separable()
    chance = random.Random(seed)
    tried = 0
    for _round in range(12):
        chance.shuffle(pages)
        for first, second in pairwise(pages):
            bad = renamed(first.bad, "_p") + b"\n" + renamed(second.bad, "_q")
            good = renamed(first.good, "_p") + b"\n" + renamed(second.good, "_q")
            wanted = severe_codes(good) | {first.code, second.code}
            assert severe_codes(bad) == wanted, (first.code, second.code, bad.decode())
            tried += 1
    assert len(pages) >= 80
    assert tried >= 900
