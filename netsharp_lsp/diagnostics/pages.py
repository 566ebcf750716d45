"""Rule pages: the Markdown that `explain` prints and that tests check; knows no language.

A page is `# CODE: title`, the lines `severity:` and `fix:`, and the sections What, Why, Bad, Good
and Guide. Bad and Good contain fenced blocks (`page_blocks`); in Bad the markers ⟦ and ⟧ enclose
the text that the rule must point at.
"""

from __future__ import annotations

import os

from netsharp_lsp.diagnostics.model import SEVERITIES
from netsharp_lsp.diagnostics.page_blocks import PageError, read_blocks
from netsharp_lsp.diagnostics.registry import subjects_in

__all__ = ["FIXES", "SECTIONS", "Page", "PageError", "RuleBook", "parse_page"]

SECTIONS = ("What", "Why", "Bad", "Good", "Guide")
FIXES = ("safe", "unsafe", "none", "migrate")

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from netsharp_lsp.context import Context
    from netsharp_lsp.diagnostics.model import Severity
    from netsharp_lsp.diagnostics.page_blocks import Block

    Word = TypeVar("Word", bound=str)


class Page:
    """One rule's page. `bad` and `good` are UTF-8 texts, `bad_start` and `bad_end` bytes in `bad`.

    `fix` is one of `FIXES`; `what`, `why` and `guide` are Markdown; `language` is the fences'
    language id; `context` applies to `bad`, `good_context` to `good`. Of several blocks `bad` is
    the marked one and `good` the one of the same title; `bad_blocks` and `good_blocks` are all.
    """

    __slots__ = (
        "bad",
        "bad_blocks",
        "bad_end",
        "bad_start",
        "code",
        "context",
        "fix",
        "good",
        "good_blocks",
        "good_context",
        "guide",
        "language",
        "severity",
        "title",
        "what",
        "why",
    )

    code: str
    title: str
    severity: Severity
    fix: str
    what: str
    why: str
    bad: bytes
    bad_blocks: tuple[Block, ...]
    bad_start: int
    bad_end: int
    context: Context
    good: bytes
    good_blocks: tuple[Block, ...]
    good_context: Context
    guide: str
    language: str


class RuleBook:
    """The pages of one language: files CODE.md in folders of the package and in those below."""

    __slots__ = ("_folders", "_paths")

    def __init__(self, *folders: str) -> None:
        self._folders = folders
        self._paths: dict[str, str] | None = None

    @property
    def codes(self) -> tuple[str, ...]:
        """Return every code that has a page, in order."""
        return tuple(self._found())

    def path(self, code: str) -> str:
        """Return the file of a page; KeyError where the code has none."""
        return self._found()[code]

    def text(self, code: str) -> str:
        """Return the Markdown of a page; KeyError where the code has none."""
        with open(self.path(code), encoding="utf-8") as file:
            return file.read()

    def page(self, code: str) -> Page:
        """Return a parsed page; KeyError where there is none, PageError where it is malformed."""
        return parse_page(self.text(code))

    def title(self, code: str) -> str:
        """Return a rule's title, or the code itself where it has no page."""
        if code not in self._found():
            return code
        return self.text(code).partition("\n")[0].partition(":")[2].strip()

    def _found(self) -> dict[str, str]:
        """Return the files of pages by their codes, in order."""
        if self._paths is None:
            within = [
                os.path.join(folder, subject)
                for folder in self._folders
                for subject in subjects_in(folder)
            ]
            self._paths = {
                name[:-3]: os.path.join(folder, name)
                for name, folder in sorted(
                    (name, folder)
                    for folder in (*self._folders, *within)
                    for name in os.listdir(folder)
                    if name.endswith(".md")
                )
            }
        return self._paths


def parse_page(text: str) -> Page:
    """Parse a page; PageError names the line that departs from the form."""
    lines = text.splitlines()
    page = Page()
    _read_head(page, lines)
    sections = _split_sections(lines)
    page.what = _prose(lines, sections["What"])
    page.why = _prose(lines, sections["Why"])
    page.guide = _prose(lines, sections["Guide"])
    page.bad_blocks = read_blocks(lines, sections["Bad"], marked=True)
    page.good_blocks = read_blocks(lines, sections["Good"], marked=False)
    _choose_blocks(page)
    return page


def _choose_blocks(page: Page) -> None:
    """Choose the blocks of the common case: the marked block, and its corrected counterpart."""
    bad = next(block for block in page.bad_blocks if block.span is not None)
    assert bad.span is not None
    page.bad, page.language, page.context = bad.text, bad.language, bad.context
    page.bad_start, page.bad_end = bad.span
    good = next((b for b in page.good_blocks if b.title == bad.title), page.good_blocks[0])
    page.good = good.text
    # Observations of the bad example apply to that example alone.
    own = good.context.known() or page.context.seen
    page.good_context = good.context if own else page.context


def _read_head(page: Page, lines: list[str]) -> None:
    code, colon, title = (lines[0] if lines else "").removeprefix("# ").partition(":")
    if not colon or not lines[0].startswith("# ") or not code.isalnum():
        raise PageError(1, "the first line must be '# CODE: title'")
    page.code, page.title = code, title.strip()
    values: dict[str, str] = {}
    for line in lines[1:]:
        if line.startswith("## "):
            break
        key, colon, value = line.partition(":")
        if colon:
            values[key.strip()] = value.strip()
    page.severity = _one_of(values, "severity", SEVERITIES)
    page.fix = _one_of(values, "fix", FIXES)


def _one_of(values: dict[str, str], key: str, allowed: tuple[Word, ...]) -> Word:
    for word in allowed:
        if word == values.get(key):
            return word
    found = values.get(key)
    raise PageError(2, f"'{key}:' must be one of {', '.join(allowed)}, found {found!r}")


def _split_sections(lines: list[str]) -> dict[str, tuple[int, int]]:
    """Return the lines of each section, half-open from 0; headings in fences do not count."""
    starts: list[tuple[str, int]] = []
    fenced = False
    for number, line in enumerate(lines):
        if line.startswith("```"):
            fenced = not fenced
        elif line.startswith("## ") and not fenced:
            starts.append((line[3:].strip(), number + 1))
    names = tuple(name for name, _ in starts)
    if names != SECTIONS:
        raise PageError(1, f"the sections must be {', '.join(SECTIONS)}; found {', '.join(names)}")
    ends = [start - 1 for _, start in starts[1:]] + [len(lines)]
    return {name: (start, end) for (name, start), end in zip(starts, ends, strict=True)}


def _prose(lines: list[str], section: tuple[int, int]) -> str:
    text = "\n".join(lines[section[0] : section[1]]).strip()
    if not text:
        raise PageError(section[0], "the section is empty")
    return text
