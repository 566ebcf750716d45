"""The files that a run names in its texts; evaluates no network and reads no disk itself."""

from __future__ import annotations

import re

from netsharp_lsp.text.decode import decode_legacy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.run.experiment import Experiment

INCLUDE = re.compile(r"""\binclude\s+["']([^"'\n]+)["']""")
#: Files of networks, as they stand somewhere in a value or in MEL.  Looked for where a word begins
#: and nowhere else: a word of megabytes is read once.
NETWORK_FILE = re.compile(
    r"""(?<![^\s"'+:;,()\[\]{}=])[^\s"'+:;,()\[\]{}=]+\.(?:ndl|bs|mel)\b""", re.IGNORECASE
)


def named_in(text: str) -> Iterator[str]:
    """Yield the files of networks that a text names."""
    yield from NETWORK_FILE.findall(text)
    yield from INCLUDE.findall(text)


def files_of(experiment: Experiment) -> frozenset[str]:
    """Return the canonical paths of the configurations of a run, and of all files that these
    name.
    """
    configuration = experiment.configuration
    files = experiment.files
    found = {files.locate(source.name) for source in configuration.layers.sources}
    waiting = [
        path
        for value in configuration.values()
        if value.kind != "flag" and value.inside is None
        for path in named_in(value.found.text.text.decode("utf-8", "replace"))
    ]
    while waiting:
        path = waiting.pop()
        located = files.locate(path)
        data = files.read(path) if located not in found else None
        if data is not None:
            found.add(located)
            waiting += named_in(decode_legacy(data).text.decode())
    return frozenset(found)
