"""The first bytes of CNTK's model files, whatever their names; their contents are read
elsewhere.
"""

from __future__ import annotations

from netsharp_engine.plain_files import open_plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

#: A text in UTF-16, of a model or a checkpoint; a dictionary, of two versions, or one above 2 GB;
#: and what CNTK exported, which is told apart.
MODEL_BEGINS = (
    b"B\0C\0N\0",
    b"B\0V\0e\0r\0s\0i\0o\0n\0",
    b"B\0C\0K\0P\0",
    b"\x08\x01\x12",
    b"\x08\x02\x12",
    b"ktnc",
    *(bytes((8, version)) + b"\x12\x04CNTK" for version in range(3, 9)),
)
#: The number of bytes that determine this.
_ENOUGH = 16


def model_head(path: str) -> bytes | None:
    """Return the first bytes of a file that begins as a model does, or as a safetensors file that
    may contain one; None for any other, and where there is no file.
    """
    try:
        with open_plain(path) as stream:
            head: bytes = stream.read(_ENOUGH)
    except (OSError, ValueError):
        return None
    return head if head.startswith(MODEL_BEGINS) or head[8:9] == b"{" else None


class _Beginning:
    """A test whether the first block of a file begins as a model does; for a file of any size."""

    most_bytes = 1 << 62

    def __call__(self, blocks: Iterable[bytes]) -> bool:
        """Test a file by its first block."""
        head = next(iter(blocks), b"")
        return head.startswith(MODEL_BEGINS) or head[8:9] == b"{"


begins_as_model = _Beginning()
