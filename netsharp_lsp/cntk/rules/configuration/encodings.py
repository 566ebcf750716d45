"""Files whose bytes CNTK does not expect in a text: byte-order marks, other encodings,
binary data.
"""

from __future__ import annotations

from netsharp_lsp.cntk.configuration.sources import read_text
from netsharp_lsp.cntk.rules import EXPERIMENT, emitted, rule
from netsharp_lsp.cntk.rules.findings import Finding, Place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.run.experiment import Experiment

_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
#: A file up to this many bytes cannot be over the limit of size.
_SURELY_READ = 1 << 20


@rule("CK016", "info", on=EXPERIMENT)
def encodings(subject: Experiment, experiment: Experiment) -> Iterator[Finding]:
    """Report the encoding of each file that the run reads as text."""
    experiment.configuration.values()
    assert experiment.networks is not None
    for name, data in list(experiment.files.texts.items()):
        if data is not None:
            yield from _of(name, data)


for _code in ("CK015", "CK017", "CK018"):
    emitted(_code, "error")
emitted("CK014", "hint")


def _of(name: str, data: bytes) -> Iterator[Finding]:
    start = Place(name, 0, 0)
    if data.startswith(_UTF16_MARKS):
        message = "The file is UTF-16; CNTK reads each byte as a character. Save it as UTF-8."
        yield Finding("CK015", start, message)
        return
    if data.startswith(_UTF8_MARK):
        message = (
            "The file begins with a byte-order mark, which CNTK drops, but other programs may not. "
            "Save it as UTF-8 without one."
        )
        yield Finding("CK014", start, message)
    if not data.isascii() or b"\0" in data or len(data) > _SURELY_READ:
        yield from _of_decoded(name, data)


def _of_decoded(name: str, data: bytes) -> Iterator[Finding]:
    """Report bytes that are not UTF-8, not text, or too many."""
    start = Place(name, 0, 0)
    source = read_text(name, data)
    if isinstance(source, str):
        yield Finding("CK017" if "binary" in source else "CK018", start, source)
    elif source.warning is not None:
        first = next(at for at, byte in enumerate(source.text) if byte > 0x7F)
        end = first + len(source.text[first:].decode("utf-8")[:1].encode())
        byte = next(byte for byte in data if byte > 0x7F)
        message = (
            f"The file is not UTF-8 (byte 0x{byte:02X} here) and is read and written as "
            "Windows-1252. Save it as UTF-8 if its letters are shown wrongly."
        )
        yield Finding("CK016", Place(name, first, end), message)
