"""Gathers the sources of the site: documents as they stand, and a page for each rule and function.

Files keep their place in the repository, so that links between them hold.  It knows no generator.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from netsharp_lsp.cntk.library.documentation import GROUPS, NODES, documented
from netsharp_lsp.diagnostics.page_blocks import Block
from netsharp_lsp.diagnostics.pages import Page
from netsharp_lsp.language import known_codes, rules_with

ROOT = Path(__file__).parents[1]
#: Documents beside those in docs/.
DOCUMENTS = (
    *("README.md", "CHANGELOG.md", "SECURITY.md", "CONTRIBUTING.md", "ARCHITECTURE.md"),
    *("engine/ARCHITECTURE.md", "netsharp_lsp/cntk/ARCHITECTURE.md", "DECISIONS.md"),
    *("editors/README.md", "bench/README.md", "examples/README.md"),
)
PICTURES = ("*.png", "*.svg")
#: A link or a picture of Markdown that leads to a file, with its anchor.
LINK = re.compile(r"(?P<text>!?\[[^\]\n]*\])\((?P<path>[^)#:\s]+)(?P<anchor>#[^)\s]*)?\)")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
#: Families of codes by their first letters.
FAMILIES = {
    "NS": "Net#",
    "CK": "Configurations and experiments of CNTK",
    "BS": "BrainScript",
    "ND": "NDL",
    "ME": "MEL",
    "MG": "Migration from NDL to BrainScript",
}
#: A menu that names every rule would be repeated on every page.
_ALONE = "---\norphan: true\n---"
FIXES = {
    "safe": "`--fix` repairs it.",
    "unsafe": "`--unsafe-fixes` repairs it, and may change the network.",
    "none": "It has no automatic fix.",
    "migrate": "`netsharp migrate` does it, and proves that the network stays the same.",
}


def collect(target: Path) -> None:
    """Write all sources of the site below an empty folder."""
    documents = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs").glob("*.md"))]
    taken = [*documents, *DOCUMENTS]
    for name in taken:
        text = (ROOT / name).read_text(encoding="utf-8")
        _write(target / name, linked(text, PurePosixPath(name), frozenset(taken)))
    for pattern in PICTURES:
        for picture in (ROOT / "docs").glob(pattern):
            shutil.copy(picture, target / "docs" / picture.name)
    for name, text in (*rule_pages(), *library_pages()):
        _write(target / name, text)


def linked(text: str, place: PurePosixPath, taken: frozenset[str]) -> str:
    """Turn links to files of the repository that the site does not have into their names."""
    fences = [match.span() for match in FENCE.finditer(text)]

    def replaced(match: re.Match[str]) -> str:
        if any(start <= match.start() < end for start, end in fences):
            return match[0]
        path = _joined(place.parent, match["path"])
        if match["text"].startswith("!") or path in taken:
            return match[0]
        return f"{match['text'][1:-1]} (`{path}`)" if (ROOT / path).exists() else match[0]

    return LINK.sub(replaced, text)


def rule_pages() -> Iterator[tuple[str, str]]:
    """Give a page for each code and the list of all, with the places of their files."""
    rows: dict[str, list[str]] = {family: [] for family in FAMILIES}
    for code in known_codes():
        page = rules_with(code).page(code)
        rows[code[:2]].append(f"| [{code}]({code}.md) | {_cell(page.title)} | {page.severity} |")
        yield f"rules/{code}.md", rule_page(page)
    parts = [
        "# Rules\n\nEvery finding has a code, and every code a page: `netsharp explain NS074`"
        " prints the same in a terminal.\n"
    ]
    for family, title in FAMILIES.items():
        if rows[family]:
            head = "| code | finding | severity |\n|---|---|---|"
            parts.append("\n".join([f"## {title}\n", head, *rows[family], ""]))
    yield "rules/index.md", "\n".join(parts)


def rule_page(page: Page) -> str:
    """Return a rule's page in Markdown; lines that are at fault are marked."""
    known = page.context.known()
    words = ", ".join(f"{name.replace('_', '-')} = {value}" for name, value in known.items())
    return "\n\n".join(
        part
        for part in (
            _ALONE,
            f"# {page.code}: {page.title}",
            f"**{page.severity}** · {FIXES[page.fix]}",
            page.what,
            page.why,
            "## For example",
            *map(_example, page.bad_blocks),
            f"(checked with {words})" if words else "",
            "## Instead",
            *map(_example, page.good_blocks),
            "## Guide",
            page.guide,
        )
        if part
    )


def library_pages() -> Iterator[tuple[str, str]]:
    """Give a page for each group of functions of BrainScript's library, and their list."""
    names = []
    for group in (*GROUPS, NODES):
        title = f"# {group.replace('_', ' ').capitalize()}"
        texts = [
            f"## `{name}`\n\n{entry.markdown}" for name, entry in sorted(documented(group).items())
        ]
        names.append(group)
        yield f"library/{group}.md", "\n\n".join([title, *texts, ""])
    listed = "\n".join(names)
    yield (
        "library/index.md",
        "# Functions of BrainScript's library\n\nWhat `CNTK.core.bs` offers, with the shape that"
        f" comes out of each function.\n\n```{{toctree}}\n:maxdepth: 2\n\n{listed}\n```\n",
    )


def _example(block: Block) -> str:
    text = block.text.decode("utf-8").rstrip("\n")
    caption = f":caption: {block.title}\n" if block.title else ""
    fence = _fence(text)
    options = f"{caption}{_marked(block)}"
    return f"{fence}{{code-block}} {block.language}\n{options}\n{text}\n{fence}"


def _marked(block: Block) -> str:
    """Return the option that marks the lines at fault."""
    if block.span is None:
        return ""
    start, end = block.span
    first = block.text.count(b"\n", 0, start) + 1
    last = block.text.count(b"\n", 0, max(start, end - 1)) + 1
    return f":emphasize-lines: {first}-{last}\n"


def _fence(text: str) -> str:
    """Return a fence that no line of the text can close."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    return "`" * max(3, longest + 1)


def _joined(folder: PurePosixPath, path: str) -> str:
    parts: list[str] = []
    for part in (folder / path).parts:
        if part == "..":
            parts = parts[:-1]
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
