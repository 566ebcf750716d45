"""The JUnit report: one suite per file, one failed case per diagnostic."""

from __future__ import annotations

from netsharp_lsp.text.visible import visible_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from netsharp_lsp.diagnostics.model import Diagnostic
    from netsharp_lsp.diagnostics.reports import FileFindings, Style

#: Characters without a meaning that XML 1.0 cannot hold; those that act are escaped anyway.
_NO_XML = (0xFFFE, 0xFFFF)
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}


def render(files: Sequence[FileFindings], style: Style) -> Iterator[str]:
    """Yield one XML document; a file without diagnostics is a case that passed."""
    total = sum(max(1, len(found.diagnostics)) for found in files)
    failures = sum(len(found.diagnostics) for found in files)
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield f'<testsuites name="netsharp" tests="{total}" failures="{failures}" errors="0">\n'
    for found in files:
        yield from _suite(found)
    yield "</testsuites>\n"


def _suite(found: FileFindings) -> Iterator[str]:
    name = _escape(found.file)
    count = len(found.diagnostics)
    yield (
        f'  <testsuite name="{name}" tests="{max(1, count)}" '
        f'failures="{count}" errors="0" skipped="0">\n'
    )
    if not count:
        yield f'    <testcase name="check" classname="{name}"/>\n'
    for diagnostic in found.diagnostics:
        yield from _case(found, name, diagnostic)
    yield "  </testsuite>\n"


def _case(found: FileFindings, name: str, diagnostic: Diagnostic) -> Iterator[str]:
    line, column = found.lines.position(diagnostic.start)
    message = _escape(diagnostic.message)
    place = f"line {line}, column {column}, {diagnostic.severity}"
    code = diagnostic.code
    yield (
        f'    <testcase name="{code}" classname="{name}" line="{line}">\n'
        f'      <failure type="{code}" message="{message}">{place}: {message}</failure>\n'
        "    </testcase>\n"
    )


def _escape(text: str) -> str:
    """Return text in ASCII, with control characters and those that XML cannot contain escaped.

    Line ends and tabs stay: character references would change neither.
    """
    return "".join(map(_reference, visible_lines(text)))


def _reference(character: str) -> str:
    if character in _ENTITIES:
        return _ENTITIES[character]
    if " " <= character <= "~":
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code in _NO_XML else f"&#{code};"
