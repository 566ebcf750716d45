"""Baseline files on disk: reading one, and how it names a file; the rest of them is text."""

from __future__ import annotations

import os

from netsharp_engine.plain_files import open_plain
from netsharp_lsp.diagnostics.baseline import Baseline, BaselineError, read_baseline
from netsharp_lsp.text.visible import encodable


def load_baseline(path: str) -> Baseline | str:
    """Return the baseline in a file, or a sentence why it cannot be read."""
    try:
        with open_plain(path) as stream:
            found = read_baseline(stream.read().decode("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        return (
            f"{path}: the baseline cannot be read: {reason}. "
            "--update-baseline writes one where there is none."
        )
    if isinstance(found, BaselineError):
        return f"{path}: the baseline cannot be read: {found.message}."
    return found


def name_in_baseline(baseline: str, place: str) -> str:
    """Return the name of a file in a baseline; both are absolute paths."""
    name = os.path.relpath(place, os.path.dirname(baseline))
    return encodable(name.replace(os.sep, "/"))
