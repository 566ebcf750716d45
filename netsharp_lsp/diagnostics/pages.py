"""Rule pages: the Markdown that `explain` prints and the tests obey; knows no language.

A page is `# CODE: title`, the lines `severity:` and `fix:`, and the sections What, Why, Bad,
Good and Guide. Bad and Good hold one fenced block each; in Bad the markers ⟦ and ⟧ enclose the
text that the rule must point at. Words `name=value` after the fence's language give context.
"""

from __future__ import annotations

import os

from netsharp_lsp.context import HOSTS, TASKS, Context
from netsharp_lsp.diagnostics.model import SEVERITIES

SECTIONS = ("What", "Why", "Bad", "Good", "Guide")
FIXES = ("safe", "unsafe", "none")
OPENING, CLOSING = "⟦", "⟧"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from netsharp_lsp.diagnostics.model import Severity

    Word = TypeVar("Word", bound=str)


class Page:
    """One rule's page. `bad` and `good` are UTF-8 texts, `bad_start` and `bad_end` bytes in `bad`.

    `fix` is one of `FIXES`; `what`, `why` and `guide` are Markdown; `language` is the fences'
    language id; `context` holds for `bad`, `good_context` for `good`.
    """

    __slots__ = (
        "bad",
        "bad_end",
        "bad_start",
        "code",
        "context",
        "fix",
        "good",
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
    bad_start: int
    bad_end: int
    context: Context
    good: bytes
    good_context: Context
    guide: str
    language: str


class PageError(Exception):
    """A page that does not follow the form: on which line (from 1), and what is wrong there."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}")
        self.line = line
        self.message = message


class RuleBook:
    """The pages of one language: files CODE.md in one folder of the package."""

    __slots__ = ("_codes", "directory")

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self._codes: tuple[str, ...] | None = None

    @property
    def codes(self) -> tuple[str, ...]:
        """Every code that has a page, in order."""
        if self._codes is None:
            names = os.listdir(self.directory)
            self._codes = tuple(sorted(n[:-3] for n in names if n.endswith(".md")))
        return self._codes

    def text(self, code: str) -> str:
        """Return the Markdown of a page; KeyError where the code has none."""
        if code not in self.codes:
            raise KeyError(code)
        with open(os.path.join(self.directory, f"{code}.md"), encoding="utf-8") as file:
            return file.read()

    def page(self, code: str) -> Page:
        """Return a page read; KeyError where there is none, PageError where it is malformed."""
        return parse_page(self.text(code))

    def title(self, code: str) -> str:
        """Return a rule's title, or the code itself where it has no page."""
        if code not in self.codes:
            return code
        return self.text(code).partition("\n")[0].partition(":")[2].strip()


def parse_page(text: str) -> Page:
    """Read a page; PageError names the line that departs from the form."""
    lines = text.splitlines()
    page = Page()
    _read_head(page, lines)
    sections = _split_sections(lines)
    page.what = _prose(lines, sections["What"])
    page.why = _prose(lines, sections["Why"])
    page.guide = _prose(lines, sections["Guide"])
    marked, page.language, page.context = _fence(lines, sections["Bad"])
    page.bad, page.bad_start, page.bad_end = _unmark(marked, sections["Bad"][0])
    good, _, context = _fence(lines, sections["Good"])
    page.good = good.encode("utf-8")
    page.good_context = context if context.known() else page.context
    return page


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
    """For each section its lines, as half-open numbers from 0; headings in fences do not count."""
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


def _fence(lines: list[str], section: tuple[int, int]) -> tuple[str, str, Context]:
    """The text, language and context of a section's one fenced block."""
    start, end = section
    fences = [n for n in range(start, end) if lines[n].startswith("```")]
    if len(fences) != 2:
        raise PageError(start, "the section must hold exactly one fenced block")
    opening, closing = fences
    words = lines[opening].removeprefix("```").split()
    if not words:
        raise PageError(opening + 1, "the fence must name its language")
    text = "".join(line + "\n" for line in lines[opening + 1 : closing])
    return text, words[0], _read_context(words[1:], opening + 1)


def _read_context(words: list[str], line: int) -> Context:
    context = Context()
    for word in words:
        key, _, value = word.partition("=")
        field = key.replace("-", "_")
        if field in ("features", "hidden_nodes", "outputs") and value.isdecimal():
            setattr(context, field, int(value))
        elif (field == "task" and value in TASKS) or (field == "host" and value in HOSTS):
            setattr(context, field, value)
        else:
            raise PageError(line, f"'{word}' is no context; write for example features=4")
        context.origin[field] = "the example"
    return context


def _unmark(marked: str, line: int) -> tuple[bytes, int, int]:
    """Take the markers out and return the text with the bytes that stood between them."""
    before, opening, rest = marked.partition(OPENING)
    inside, closing, after = rest.partition(CLOSING)
    if not opening or not closing or OPENING in rest or CLOSING in after:
        raise PageError(line, f"the block must mark one span with {OPENING} and {CLOSING}")
    start = len(before.encode("utf-8"))
    end = start + len(inside.encode("utf-8"))
    return (before + inside + after).encode("utf-8"), start, end
