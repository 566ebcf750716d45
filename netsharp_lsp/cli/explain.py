"""`netsharp explain CODE`: a rule's page, for people, as Markdown or as JSON."""

from __future__ import annotations

import sys

from netsharp_lsp.cli.console.terminal import complain, give, uses_color
from netsharp_lsp.diagnostics.nearest import suggestion
from netsharp_lsp.language import known_codes, rules_with, title_of
from netsharp_lsp.text.json_text import to_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from netsharp_lsp.diagnostics.page_blocks import Block
    from netsharp_lsp.diagnostics.pages import Page

_BOLD, _DIM, _RED, _GREEN, _CYAN = "1", "2", "31", "32", "36"
#: Columns of prose, and the beginnings of lines that may not be joined to others.
_WIDTH = 88
_KEEPS_LINES = frozenset("-*|> #0123456789")
_SEVERITY_COLORS = {"error": "1;31", "warning": "1;33", "info": "1;36", "hint": "1;35"}
_FIXES = {
    "safe": "--fix repairs it.",
    "unsafe": "--unsafe-fixes repairs it, and may change the network.",
    "none": "It has no automatic fix.",
    "migrate": "netsharp migrate does it, and proves that the network stays the same.",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `netsharp explain` understands."""
    parser.add_argument("code", nargs="*", metavar="CODE", help="codes as in a report: NS074")
    parser.add_argument("--all", action="store_true", help="list every code with its title")
    parser.add_argument("--format", choices=("text", "json", "markdown"), default="text")


def run(args: argparse.Namespace) -> int:
    """Print the pages of the codes given, or the list of all; 2 for a code that does not exist."""
    known = known_codes()
    spelt = {code.upper(): code for code in known}
    codes = [spelt.get(code.upper(), code.upper()) for code in args.code]
    if args.all:
        return _list(known, args.format)
    if not codes:
        complain("explain needs a code, as in 'netsharp explain NS074'; --all lists them.")
        return 2
    for code in codes:
        if code not in known:
            complain(f"'{code}' is not a code.{suggestion(code, known)} --all lists them.")
            return 2
    if args.format == "json":
        pages = [_data(rules_with(code).page(code)) for code in codes]
        _print_json(pages[0] if len(pages) == 1 else pages)
    elif args.format == "markdown":
        give("\n".join(rules_with(code).text(code) for code in codes))
    else:
        color = uses_color(sys.stdout)
        give("\n".join(_shown_page(rules_with(code).page(code), color) for code in codes))
    return 0


def _list(codes: tuple[str, ...], format_name: str) -> int:
    if format_name == "json":
        _print_json([_data(rules_with(code).page(code)) for code in codes])
        return 0
    row = "- [{0}]({0}.md): {1}\n" if format_name == "markdown" else "{0}  {1}\n"
    give(row.format(code, title_of(code)) for code in codes)
    return 0


def _print_json(data: object) -> None:
    give(f"{to_json(data, indent=2)}\n")


def _data(page: Page) -> dict[str, Any]:
    data: dict[str, Any] = {
        "code": page.code,
        "title": page.title,
        "severity": page.severity,
        "fix": page.fix,
        "what": page.what,
        "why": page.why,
        "bad": page.bad.decode("utf-8"),
        "good": page.good.decode("utf-8"),
        "context": page.context.known(),
        "guide": page.guide,
    }
    if page.bad_blocks[0].title:
        data["files"] = {"bad": _files(page.bad_blocks), "good": _files(page.good_blocks)}
    return data


def _files(blocks: tuple[Block, ...]) -> dict[str, str]:
    return {block.title: block.text.decode("utf-8") for block in blocks}


def _shown_page(page: Page, color: bool) -> str:
    """Return a page as a terminal shows it: no Markdown, the fault marked with carets."""
    severity = _paint(page.severity, _SEVERITY_COLORS[page.severity], color)
    parts = [
        f"{_paint(page.code, _BOLD, color)} ({severity}): {_paint(page.title, _BOLD, color)}",
        _plain(page.what, color),
        _plain(page.why, color),
        f"{_paint('For example:', _BOLD, color)}\n\n{_example(page.bad_blocks, color)}",
        f"{_paint('Instead:', _BOLD, color)}\n\n{_example(page.good_blocks, color)}",
        _FIXES[page.fix],
        f"{_paint('Guide:', _BOLD, color)} {_plain(page.guide, color)}",
    ]
    known = page.context.known()
    if known:
        words = ", ".join(f"{name.replace('_', '-')} = {value}" for name, value in known.items())
        parts.insert(4, f"(checked with {words})")
    return "\n\n".join(part.rstrip() for part in parts) + "\n"


def _example(blocks: tuple[Block, ...], color: bool) -> str:
    """Return the files of an example, each below its name where it has one."""
    parts = []
    for block in blocks:
        if block.span is None:
            text = _indent(block.text.decode("utf-8"))
        else:
            text = _marked(block.text, block.span, color)
        runs = f" (run with {' '.join(block.runs)})" if block.runs else ""
        parts.append(f"{_paint(block.title, _DIM, color)}{runs}:\n{text}" if block.title else text)
    return "\n\n".join(parts)


def _marked(example: bytes, span: tuple[int, int], color: bool) -> str:
    """Return an example with carets under what is wrong on the first line of its span."""
    from netsharp_lsp.text.lines import LineIndex
    from netsharp_lsp.text.width import shown

    lines = LineIndex(example)
    start, end = span
    first = lines.line_at(start)
    rows = []
    for number in range(lines.count):
        text = lines.line_text(number)
        visible, columns = shown(text)
        rows.append(visible)
        if number == first:
            left = columns[lines.position(start)[1] - 1]
            same_line = lines.line_at(end) == first
            right = columns[lines.position(end)[1] - 1] if same_line else columns[-1]
            rows.append(" " * left + _paint("^" * max(1, right - left), _RED, color))
    return _indent("\n".join(rows))


def _indent(text: str) -> str:
    return "\n".join(f"    {line}" if line else "" for line in text.rstrip().split("\n"))


def _plain(markdown: str, color: bool) -> str:
    """Markdown prose in lines of a terminal, without its backquotes; what they held is coloured."""
    paragraphs = "\n\n".join(map(_filled, markdown.split("\n\n")))
    pieces = paragraphs.split("`")
    if len(pieces) % 2 == 0:
        return paragraphs
    quoted = (
        (_paint(piece, _CYAN, color) if color else f"'{piece}'") if index % 2 else piece
        for index, piece in enumerate(pieces)
    )
    return "".join(quoted)


def _filled(paragraph: str) -> str:
    """Return a paragraph wrapped; lists, tables and code keep their lines."""
    from textwrap import fill

    lines = paragraph.split("\n")
    if any(line[:1] in _KEEPS_LINES for line in lines):
        return paragraph
    return fill(" ".join(lines), _WIDTH, break_long_words=False, break_on_hyphens=False)


def _paint(text: str, style: str, color: bool) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if color else text
