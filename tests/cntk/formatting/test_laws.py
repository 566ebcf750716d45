"""What holds for formatting every text of the corpus, in every line end, whatever it says."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from netsharp_lsp.cntk.formatting import format_text
from netsharp_lsp.cntk.formatting.safety import find_difference
from netsharp_lsp.cntk.languages import RULES
from netsharp_lsp.diagnostics.model import Diagnostic
from netsharp_lsp.diagnostics.page_blocks import Block
from netsharp_lsp.layout.options import FormatOptions
from netsharp_lsp.text.decode import Source, decode_legacy, encode
from netsharp_lsp.text.lines import LineIndex
from tests.cntk.collection import FILES, FOLDER, CntkFile
from tests.cntk.formatting.meaning import outcome, tree
from tests.cntk.rules.examples import Example
from tests.cntk.trees import COMMENTS, is_fault, nodes, parse, roots

#: As the reader of files has them: UTF-8, the mark at the start set aside.
TEXTS = {file.name: decode_legacy(file.data) for file in FILES if b"\0" not in file.data}
BY_NAME = {file.name: file for file in FILES}
PURE = [name for name, source in TEXTS.items() if b"\r" not in source.text]
VALID = [name for name in TEXTS if not BY_NAME[name].broken]
every_text = pytest.mark.parametrize("name", TEXTS)
every_pure_text = pytest.mark.parametrize("name", PURE)

#: Examples of files that are too large have nothing to say about a layout.
LARGE = 1 << 20
_SEPARATOR = re.compile(rb"[\[{(][ \t]*+[`~!@$%^&*_\-+|:;,?.]")
_BLANKS = re.compile(rb"\s+")


def formatted(file: CntkFile, text: bytes, **options: object) -> bytes:
    """The formatted text, whose proof at run time must have held."""
    result = format_text(text, file.id, FormatOptions(**options))  # type: ignore[arg-type]
    assert result.failure is None
    return result.text


def words_and_comments(file: CntkFile, text: bytes) -> tuple[list[bytes], list[bytes]]:
    """The leaves of the trees of a text without blanks, and its comments."""
    leaves, comments = [], []
    for _, root, _ in roots(file.language, text):
        for node in nodes(root):
            word = node.text or b""
            if node.type in COMMENTS:
                comments.append(word)
            elif not node.children and node.type not in ("\n", "brainscript"):
                leaves.append(_BLANKS.sub(b"", word))
    return leaves, comments


@every_text
def test_formatting_twice_is_formatting_once(name: str) -> None:
    file = BY_NAME[name]
    once = formatted(file, TEXTS[name].text)
    assert formatted(file, once) == once


@every_text
def test_tokens_and_comments_stay(name: str) -> None:
    file, text = BY_NAME[name], TEXTS[name].text
    after = formatted(file, text)
    assert words_and_comments(file, after) == words_and_comments(file, text)
    assert find_difference(text, after, file.id) is None


@every_text
def test_what_could_be_a_separator_keeps_its_distance(name: str) -> None:
    text = TEXTS[name].text
    after = formatted(BY_NAME[name], text)
    assert _SEPARATOR.findall(after) == _SEPARATOR.findall(text)


@every_pure_text
def test_other_line_ends_make_no_difference(name: str) -> None:
    file, text = BY_NAME[name], TEXTS[name].text
    wanted = formatted(file, text)
    if b"\n" in text:
        crlf = formatted(file, text.replace(b"\n", b"\r\n"))
        assert crlf == wanted.replace(b"\n", b"\r\n")
    assert formatted(file, text, line_ending="crlf") == wanted.replace(b"\n", b"\r\n")


@every_text
def test_mark_and_encoding_are_kept(name: str) -> None:
    file, text = BY_NAME[name], TEXTS[name].text
    wanted = formatted(file, text)
    for mark, encoding in ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le")):
        source = decode_legacy(mark + text.decode().encode(encoding))
        assert isinstance(source, Source)
        done = encode(source, formatted(file, source.text))
        assert done == mark + wanted.decode().encode(encoding)


def test_windows_1252_is_kept() -> None:
    data = b'name = "\x80 \xe9"   # \xdf\x81\r\n'
    source = decode_legacy(data)
    after = encode(source, format_text(source.text, "cntk").text)
    assert after == b'name = "\x80 \xe9"  # \xdf\x81\r\n'


@pytest.mark.parametrize("name", [name for name in TEXTS if BY_NAME[name].broken])
def test_broken_statements_stay(name: str) -> None:
    file, text = BY_NAME[name], TEXTS[name].text
    result = format_text(text, file.id)
    assert result.failure is None
    trees = [root for _, root, _ in roots(file.language, text)]
    faulty = any(is_fault(node) for root in trees for node in nodes(root))
    assert bool(result.broken) == faulty
    for offset in result.broken:
        assert re.split(rb"[\r\n]", text[offset:].strip())[0].rstrip() in result.text


@every_text
def test_a_range_changes_nothing_outside(name: str) -> None:
    file, text = BY_NAME[name], TEXTS[name].text
    lines = re.findall(rb"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+", text)
    for number in range(1, len(lines) + 1, max(1, len(lines) // 5)):
        after = formatted(file, text, ranges=[(number, number)])
        assert words_and_comments(file, after) == words_and_comments(file, text)
        first, last = touched(file, text, number)
        assert after.startswith(b"".join(lines[: first - 1]))
        assert after.endswith(b"".join(lines[last:]))


def touched(file: CntkFile, text: bytes, number: int) -> tuple[int, int]:
    """The lines of the outermost statements and comments that share a line with this one."""
    index = LineIndex(text)
    spans = [
        (
            index.line_at(node.start_byte) + 1,
            index.line_at(max(node.start_byte, node.end_byte - 1)) + 1,
        )
        for node in parse(file.language, text).children
        if node.type != "\n"
    ]
    first = last = number
    for _ in spans:
        meeting = [span for span in spans if span[0] <= last and first <= span[1]]
        first = min([first, *(span[0] for span in meeting)])
        last = max([last, *(span[1] for span in meeting)])
    return first, last


@every_pure_text
def test_a_range_of_everything_formats_everything(name: str) -> None:
    file, text = BY_NAME[name], TEXTS[name].text
    part = formatted(file, text, ranges=[(1, len(text) + 1)])
    assert formatted(file, part) == formatted(file, text)


@pytest.mark.parametrize("name", [name for name in TEXTS if BY_NAME[name].id == "cntk"])
def test_the_resolved_tree_stays_the_same(name: str) -> None:
    text = TEXTS[name].text
    assert tree(formatted(BY_NAME[name], text)) == tree(text)


@pytest.mark.parametrize("name", VALID)
def test_networks_and_codes_stay_the_same(name: str) -> None:
    file, text = BY_NAME[name], TEXTS[name].text
    after = formatted(file, text)
    path = FOLDER / name
    if after != text:
        assert outcome(path, file.id, after) == outcome(path, file.id, text)


@pytest.mark.parametrize("code", RULES.codes)
def test_what_a_rule_says_of_its_examples_stays(code: str) -> None:
    page = RULES.page(code)
    for blocks in (page.bad_blocks, page.good_blocks):
        example = Example(blocks)
        if sum(len(block.data) for block in blocks) < LARGE:
            changed = {Example.name_of(block): neat(block) for block in blocks}
            assert counted(example.found(changed)) == counted(example.found())


def neat(block: Block) -> bytes:
    if block.language == "toml":
        return block.data
    source = decode_legacy(block.data)
    result = format_text(source.text, block.language)
    assert result.failure is None
    return encode(source, result.text)


def counted(found: dict[str, list[Diagnostic]]) -> dict[str, Counter[str]]:
    return {file: Counter(one.code for one in listed) for file, listed in found.items() if listed}
