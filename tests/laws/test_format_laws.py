"""What holds for the formatter on every text of the corpus, in every line end, whatever it says."""

from __future__ import annotations

import pathlib
import random
from bisect import bisect_right

import pytest

from netsharp_engine.activations import NAMES
from netsharp_lsp.context import Context
from netsharp_lsp.diagnostics.selection import Selection
from netsharp_lsp.examining import examine
from netsharp_lsp.layout.options import FormatOptions
from netsharp_lsp.layout.render import render
from netsharp_lsp.netsharp import LANGUAGE
from netsharp_lsp.netsharp.check import check
from netsharp_lsp.netsharp.describe import describe_network
from netsharp_lsp.netsharp.formatting import format_text
from netsharp_lsp.netsharp.formatting.declarations import WIDTH, line_end_counter
from netsharp_lsp.netsharp.formatting.documents import line_document
from netsharp_lsp.netsharp.formatting.lines import flat_text, split_lines
from netsharp_lsp.netsharp.formatting.tokens import declaration_tokens
from netsharp_lsp.text.conflicts import conflicts_in
from netsharp_lsp.text.decode import Source, decode, encode
from netsharp_lsp.text.lines import LineIndex
from tests.laws.scrambling import COMMENTS, is_faulty, leaves, parse, scramble, with_comments

CORPUS = pathlib.Path(__file__).parent.parent / "corpus"
KEYWORDS = frozenset(
    (
        *("const", "input", "hidden", "output", "share", "from", "auto", "all", "where"),
        *("convolve", "max", "mean", "pool", "response", "norm", "true", "false"),
    )
)


def texts() -> dict[str, Source]:
    """Every text of the corpus and of the rules' pages that is text at all, by its name."""
    found = {str(path.relative_to(CORPUS)): path.read_bytes() for path in CORPUS.rglob("*.nn")}
    for code in LANGUAGE.rules.codes:
        page = LANGUAGE.rules.page(code)
        found |= {f"{code}-bad": page.bad, f"{code}-good": page.good}
    sources = {name: decode(found[name]) for name in sorted(found)}
    return {name: source for name, source in sources.items() if isinstance(source, Source)}


TEXTS = texts()
#: What has merge conflicts stays as it is, to the byte.
PURE = {
    name: source.text
    for name, source in TEXTS.items()
    if b"\r" not in source.text and not conflicts_in(source.text)
}
every_text = pytest.mark.parametrize("name", TEXTS)
every_pure_text = pytest.mark.parametrize("name", PURE)


def formatted(text: bytes, **options: object) -> bytes:
    """The formatted text, whose proof at run time must have held."""
    result = format_text(text, FormatOptions(**options))  # type: ignore[arg-type]
    assert result.failure is None
    return result.text


def words_and_comments(text: bytes) -> tuple[list[str], list[str]]:
    """The tokens and the comments of a text, keywords and activations in lower case."""
    tokens, comments = [], []
    for leaf in leaves(parse(text)):
        word = (leaf.text or b"").decode()
        if leaf.type in COMMENTS:
            comments.append(word)
        elif leaf.type in KEYWORDS or word.lower() in NAMES:
            tokens.append(word.lower())
        else:
            tokens.append(word)
    return tokens, comments


@every_text
def test_formatting_twice_is_formatting_once(name: str) -> None:
    once = formatted(TEXTS[name].text)
    assert formatted(once) == once


@every_text
def test_tokens_and_comments_stay(name: str) -> None:
    text = TEXTS[name].text
    assert words_and_comments(formatted(text)) == words_and_comments(text)


@every_pure_text
def test_other_line_ends_make_no_difference(name: str) -> None:
    text = PURE[name]
    wanted = formatted(text)
    for line_end in (b"\r\n", b"\r"):
        if b"\n" in text:
            other = text.replace(b"\n", line_end)
            assert formatted(other) == wanted.replace(b"\n", line_end)
    assert formatted(text, line_ending="crlf") == wanted.replace(b"\n", b"\r\n")
    assert formatted(text.replace(b"\n", b"\r\n"), line_ending="lf") == wanted


@every_text
def test_mark_and_encoding_are_kept(name: str) -> None:
    text = TEXTS[name].text
    wanted = formatted(text)
    for mark, encoding in ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le")):
        data = mark + text.decode().encode(encoding)
        source = decode(data)
        assert isinstance(source, Source)
        assert encode(source, formatted(source.text)) == mark + wanted.decode().encode(encoding)


@every_text
def test_broken_declarations_stay_byte_for_byte(name: str) -> None:
    text = TEXTS[name].text
    after = formatted(text)
    place = 0
    for node in parse(text).children:
        if is_faulty(node):
            place = after.index(text[node.start_byte : node.end_byte], place)
            place += node.end_byte - node.start_byte


@every_text
def test_a_range_changes_nothing_outside(name: str) -> None:
    text = TEXTS[name].text
    count = line_end_counter(text)
    nodes = parse(text).children
    for node in nodes[:: max(1, len(nodes) // 7)]:
        first = count(0, node.start_byte) + 1
        last = count(0, node.end_byte) + 1
        after = formatted(text, ranges=[(first, last)])
        touched = [
            other
            for other in nodes
            if count(0, other.start_byte) < last and count(0, other.end_byte) + 1 >= first
        ]
        head = _line_start(text, touched[0].start_byte)
        tail = len(text) - touched[-1].end_byte
        assert after[:head] == text[:head]
        assert after[len(after) - tail :] == text[len(text) - tail :]
        assert words_and_comments(after) == words_and_comments(text)


def _line_start(text: bytes, offset: int) -> int:
    while offset and text[offset - 1] in b" \t":
        offset -= 1
    return offset


@every_text
def test_a_range_of_everything_formats_every_declaration(name: str) -> None:
    text = TEXTS[name].text
    whole = formatted(text)
    part = formatted(text, ranges=[(1, len(text) + 1)])
    assert part.strip() == whole.strip()


@every_pure_text
@pytest.mark.parametrize("seed", range(3))
def test_the_look_before_makes_no_difference(name: str, seed: int) -> None:
    # Comments that act on lines hold the lines they act on.
    text = PURE[name].replace(b"netsharp:", b"net:").replace(b"fmt:", b"form:")
    assert formatted(scramble(text, seed)) == formatted(text)


@every_pure_text
@pytest.mark.parametrize("seed", range(4))
def test_comments_anywhere_are_kept(name: str, seed: int) -> None:
    text = with_comments(PURE[name], seed)
    once = formatted(text)
    assert words_and_comments(once) == words_and_comments(text)
    assert formatted(once) == once


@every_text
def test_what_fits_on_a_line_is_what_the_layout_prints(name: str) -> None:
    text = TEXTS[name].text
    count = line_end_counter(text)
    for node in parse(text).children:
        for line in split_lines(declaration_tokens(node, text) or [], count):
            flat = flat_text(line.tokens)
            if flat is not None and len(flat) <= WIDTH and not line.is_comment:
                assert render(line_document(line.tokens, count), WIDTH) == flat


@every_text
def test_diagnostics_stay_with_their_declarations(name: str) -> None:
    text = TEXTS[name].text
    assert codes_by_declaration(formatted(text)) == codes_by_declaration(text)


@every_text
def test_the_network_stays_the_same(name: str) -> None:
    text = TEXTS[name].text
    assert described(formatted(text)) == described(text)


@pytest.mark.parametrize("name", [name for name in PURE if name.startswith("valid/")])
def test_suppressions_go_on_suppressing(name: str) -> None:
    text = PURE[name].replace(b"netsharp:", b"net:")
    text = with_suppressions(with_comments(scramble(text, 1), 1), seed=1)
    once = formatted(text)
    assert formatted(once) == once
    assert codes_by_declaration(once) == codes_by_declaration(text)


def with_suppressions(text: bytes, seed: int) -> bytes:
    """The text with a suppression on or above the line of some diagnostics, and an idle one."""
    chance = random.Random(seed)
    index = LineIndex(text)
    lines = text.split(b"\n")
    found = check(text, Context())[1]
    places = {index.line_at(one.start): one.code for one in chance.sample(found, len(found) // 2)}
    places.setdefault(chance.randrange(len(lines)), "NS077")
    for line in sorted(places, reverse=True):
        comment = b" // netsharp: ignore[%b]" % places[line].encode()
        if b"//" in lines[line] or chance.random() < 0.5:
            lines.insert(line, comment)
        else:
            lines[line] += comment
    return b"\n".join(lines)


def codes_by_declaration(text: bytes) -> list[tuple[int, str]]:
    """Which declaration, by its number, has which code after suppression.

    Keywords in capitals (NS014) are what formatting changes.
    """
    starts = [node.start_byte for node in parse(text).children if node.type not in COMMENTS]
    found = examine(LANGUAGE, LineIndex(text), Context(), Selection((), ("NS014",)))
    return sorted((bisect_right(starts, one.start), one.code) for one in found)


def described(text: bytes) -> object:
    """What `describe` says of a text, None where it has errors."""
    network, diagnostics = check(text, Context())
    if any(one.severity == "error" for one in diagnostics):
        return None
    return describe_network(network)
