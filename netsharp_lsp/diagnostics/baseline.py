"""A baseline: diagnostics known and accepted, by file, code and text of their line, with counts.

Lines are identified by their text, not their number, so that edits above do not shift it. Knows no
disk: the caller reads and writes the file's text.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from netsharp_lsp.diagnostics.model import Diagnostic
    from netsharp_lsp.text.lines import LineIndex

    Key = tuple[str, str]

VERSION = 1


class BaselineError:
    """A baseline that cannot be used, as a sentence."""

    __slots__ = ("message",)

    def __init__(self, message: str) -> None:
        self.message = message


class Baseline:
    """For each file, named relative to the baseline, how often each (code, line text) is known."""

    __slots__ = ("files",)

    def __init__(self, files: dict[str, dict[Key, int]] | None = None) -> None:
        self.files: dict[str, dict[Key, int]] = files if files is not None else {}

    def new(
        self, file: str, lines: LineIndex, diagnostics: Sequence[Diagnostic]
    ) -> list[Diagnostic]:
        """Return the diagnostics of a file that are not known, in their order."""
        left = dict(self.files.get(file, {}))
        fresh = []
        for diagnostic, key in zip(diagnostics, keys_of(lines, diagnostics), strict=True):
            if left.get(key, 0) > 0:
                left[key] -= 1
            else:
                fresh.append(diagnostic)
        return fresh

    def record(self, file: str, lines: LineIndex, diagnostics: Sequence[Diagnostic]) -> None:
        """Replace the recorded diagnostics of a file by these."""
        counts: dict[Key, int] = {}
        for key in keys_of(lines, diagnostics):
            counts[key] = counts.get(key, 0) + 1
        if counts:
            self.files[file] = counts
        else:
            self.files.pop(file, None)


def keys_of(lines: LineIndex, diagnostics: Sequence[Diagnostic]) -> Iterator[Key]:
    """Yield the key of each diagnostic: its code, and its line without outer blanks.

    Diagnostics on one line share its text, which may be long.
    """
    known, text = -1, ""
    for diagnostic in diagnostics:
        line = lines.line_at(diagnostic.start)
        if line != known:
            known, text = line, lines.line_text(line).strip()
        yield diagnostic.code, text


def read_baseline(text: str) -> Baseline | BaselineError:
    """Read the text of a baseline file."""
    import json

    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        return BaselineError(f"it is not JSON: {error}")
    if not isinstance(data, dict) or data.get("version") != VERSION:
        return BaselineError(f"it is not a baseline of version {VERSION}")
    files: dict[str, dict[Key, int]] = {}
    entries = data.get("diagnostics")
    if not isinstance(entries, list) or not all(map(_is_entry, entries)):
        return BaselineError("its entries must have file, code, line and count")
    for entry in entries:
        files.setdefault(entry["file"], {})[entry["code"], entry["line"]] = entry["count"]
    return Baseline(files)


def write_baseline(baseline: Baseline) -> str:
    """Return the text of a baseline file, in an order that keeps differences small."""
    import json

    entries = [
        {"file": file, "code": code, "line": line, "count": count}
        for file, counts in sorted(baseline.files.items())
        for (code, line), count in sorted(counts.items())
    ]
    rows = ",\n    ".join(json.dumps(entry, ensure_ascii=False) for entry in entries)
    body = f"[\n    {rows}\n  ]" if rows else "[]"
    return f'{{\n  "version": {VERSION},\n  "diagnostics": {body}\n}}\n'


def _is_entry(entry: object) -> bool:
    if not isinstance(entry, dict):
        return False
    texts = all(isinstance(entry.get(key), str) for key in ("file", "code", "line"))
    count = entry.get("count")
    return texts and isinstance(count, int) and count > 0
