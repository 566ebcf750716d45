"""The names of devices: a family, and after a colon one of its devices, in plain text.

Settings and command lines parse names with it; it knows no back end and queries no device.
"""

from __future__ import annotations

from typing import NamedTuple

#: The default family, and the word for automatic choice.
CPU, AUTO = "cpu", "auto"
#: What may follow the colon of each family: one of these, or any name where none is listed.
KINDS: dict[str, tuple[str, ...] | None] = {
    CPU: (),
    "torch": ("cuda", "mps", "xpu", "cpu"),
    "wgpu": None,
}
#: How names are written, for people.
WORDS = "auto, cpu, torch[:cuda|mps|xpu|cpu] or wgpu[:NAME]"
#: The types of numbers in which steps may be computed; the last is that of products alone.
PRECISIONS = ("float32", "float64", "bf16")
BF16 = PRECISIONS[-1]


class DeviceName(NamedTuple):
    """A name that was read; ``kind`` is empty where the family is to choose."""

    family: str
    kind: str = ""

    def __str__(self) -> str:
        return f"{self.family}:{self.kind}" if self.kind else self.family


def parsed(text: str) -> DeviceName | None:
    """Return the device that a text names, None where it names none."""
    family, colon, kind = text.strip().partition(":")
    family, kind = family.strip().casefold(), kind.strip()
    if family == AUTO and not colon:
        return DeviceName(AUTO)
    if family not in KINDS or bool(colon) != bool(kind):
        return None
    kinds = KINDS[family]
    if kinds is None:
        return DeviceName(family, kind)
    kind = kind.casefold()
    return DeviceName(family, kind) if not kind or kind in kinds else None
