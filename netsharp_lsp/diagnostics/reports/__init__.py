"""Reports: findings written for a person or a program; one file per format.

A format is a module with `render(files, style)` that yields pieces of text. It knows no language
and no disk, and is imported at its first use.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from netsharp_lsp.diagnostics.model import Diagnostic, Related
    from netsharp_lsp.text.lines import LineIndex

#: Every format; its module has the same name.
FORMATS = ("text", "concise", "json", "sarif", "github", "gitlab", "junit")


class FileFindings:
    """One file: its name for people, its lines and its findings.

    `others` has the lines of the other files that related places are in, `releases` those of CNTK
    that the file was checked for; `named`: whether the user named the file, so that fixes apply to
    it.
    """

    __slots__ = ("diagnostics", "file", "lines", "named", "others", "releases")

    def __init__(
        self,
        file: str,
        lines: LineIndex,
        diagnostics: Sequence[Diagnostic],
        others: Mapping[str, LineIndex] | None = None,
        releases: Sequence[Mapping[str, str]] = (),
        named: bool = True,
    ) -> None:
        self.file = file
        self.lines = lines
        self.diagnostics = diagnostics
        self.others: Mapping[str, LineIndex] = others if others is not None else {}
        self.releases = releases
        self.named = named

    def place_of(self, related: Related) -> tuple[str, LineIndex]:
        """Return the file of a related place and that file's lines."""
        if related.file is None:
            return self.file, self.lines
        return related.file, self.others.get(related.file, self.lines)


class Style:
    """The style of a report: `color` or not, `width` columns of source, our `version`.

    `title_of` returns a rule's title by its code.
    """

    __slots__ = ("color", "title_of", "version", "width")

    def __init__(
        self,
        color: bool = False,
        width: int = 120,
        version: str = "",
        title_of: Callable[[str], str] = str,
    ) -> None:
        self.color = color
        self.width = width
        self.version = version
        self.title_of = title_of


def render(format_name: str, files: Sequence[FileFindings], style: Style) -> Iterator[str]:
    """Yield the report of the files in one of `FORMATS`; ValueError for any other name."""
    if format_name not in FORMATS:
        raise ValueError(f"no report is called {format_name!r}")
    module = __import__(f"{__name__}.{format_name}", fromlist=["render"])
    pieces: Iterator[str] = module.render(files, style)
    return pieces


def render_statistics(files: Sequence[FileFindings], style: Style) -> Iterator[str]:
    """Yield one line per code: how often, the code, its severity and title; most often first."""
    counts: dict[tuple[str, str], int] = {}
    for found in files:
        for diagnostic in found.diagnostics:
            key = (diagnostic.code, diagnostic.severity)
            counts[key] = counts.get(key, 0) + 1
    width = max((len(str(count)) for count in counts.values()), default=0)
    for (code, severity), count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        yield f"{count:>{width}}  {code}  {severity:<7}  {style.title_of(code)}\n"
