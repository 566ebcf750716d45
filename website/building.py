"""Builds the site into a folder and follows every link inside it.

`python -m website.building FOLDER` starts it.  A warning of the generator fails the build, and
so does a link that leads nowhere.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sphinx.cmd.build import main as sphinx

import netsharp
from website.collecting import collect

HERE = Path(__file__).parent
#: A public name in Markdown: its heading, and its docstring by Sphinx.
_ENTRY = "## `{name}`\n\n```{{eval-rst}}\n.. auto{kind}:: netsharp.{name}\n{options}```\n"


def main(folder: Path) -> int:
    """Build the site below `folder`, which is replaced; 1 where something leads nowhere.

    Returns 2 where the folder holds something else, which is left as it is.
    """
    if not is_free(folder):
        print(f"{folder} has files that are not a site: name a new folder.", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as made:
        sources = Path(made)
        collect(sources)
        shutil.copy(HERE / "index.md", sources)
        (sources / "reference.md").write_text(reference(), encoding="utf-8")
        shutil.rmtree(folder, ignore_errors=True)
        options = ["-q", "-W", "--keep-going", "-j", "2", "-c", str(HERE)]
        failed = sphinx([*options, "-d", f"{made}/.doctrees", made, str(folder)])
    for fault in (faults := dangling(folder)):
        print(fault, file=sys.stderr)
    return 1 if failed or faults else 0


def is_free(folder: Path) -> bool:
    """Return whether a folder is not there, is empty, or holds a site."""
    return not folder.exists() or not any(folder.iterdir()) or (folder / "objects.inv").exists()


def reference() -> str:
    """Return the page of the Python reference: every public name with its docstring."""
    parts = [
        "# Python reference\n\n`import netsharp` gives access to the whole interface. [netsharp "
        "from Python](docs/python.md) has an example of every name.\n"
    ]
    for name in dir(netsharp):
        if name.startswith("_"):
            continue
        value = getattr(netsharp, name)
        kind = "class" if isinstance(value, type) else "function"
        plain = kind == "function" or issubclass(value, Exception)
        options = "" if plain else "   :members:\n"
        parts.append(_ENTRY.format(name=name, kind=kind, options=options))
    return "\n".join(parts)


def dangling(folder: Path) -> list[str]:
    """Return a sentence for each link inside the site that leads nowhere."""
    pages = {path: _read(path) for path in sorted(folder.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            other = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            place = path.relative_to(folder)
            if not other.exists():
                found.append(f"{place}: there is no '{link}'.")
            elif parts.fragment and other in pages and parts.fragment not in pages[other].anchors:
                found.append(f"{place}: '{link}' names a place that its page does not have.")
    return found


class _Links(HTMLParser):
    """Gathers where a page leads and what in it can be led to."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = {""}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take the addresses and names of one tag."""
        for name, value in attrs:
            if value is None:
                continue
            if name in ("href", "src") and tag in ("a", "img", "link", "script"):
                self.links.append(value)
            elif name in ("id", "name"):
                self.anchors.add(value)


def _read(path: Path) -> _Links:
    links = _Links()
    links.feed(path.read_text(encoding="utf-8"))
    return links


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
