"""The platforms that wheels and extension packages are built for; a table and nothing else."""

from __future__ import annotations

from typing import NamedTuple


class Target(NamedTuple):
    """One platform, under the names that each tool has for it."""

    #: As `vsce` and the marketplace call it.
    name: str
    #: As `zig cc -target` does.
    zig: str
    #: The platform part of our wheel's tag.
    wheel: str
    #: As an interpreter calls it: see `platform` in src/search/interpreters.ts.
    interpreter: str
    #: The suffix of the C extension's file name.
    suffix: str
    #: Platform tags of other people's wheels that run there, as `pip download` takes them.
    platforms: tuple[str, ...]


#: Of glibc, what 2.28 (Debian 10, RHEL 8) runs; the newest numpy asks for no less.
def _manylinux(machine: str) -> tuple[str, ...]:
    versions = ("2_28", "2_27", "2_26", "2_24", "2_17", "2_12", "2_5")
    return (*(f"manylinux_{each}_{machine}" for each in versions), f"manylinux2014_{machine}")


def _macos(machine: str) -> tuple[str, ...]:
    return (f"macosx_12_0_{machine}",)


TARGETS = (
    Target(
        "linux-x64",
        "x86_64-linux-gnu.2.17",
        "manylinux_2_17_x86_64.manylinux2014_x86_64",
        "linux-x86_64",
        ".abi3.so",
        _manylinux("x86_64"),
    ),
    Target(
        "linux-arm64",
        "aarch64-linux-gnu.2.17",
        "manylinux_2_17_aarch64.manylinux2014_aarch64",
        "linux-aarch64",
        ".abi3.so",
        _manylinux("aarch64"),
    ),
    Target(
        "darwin-x64",
        "x86_64-macos.11.0",
        "macosx_11_0_x86_64",
        "macos-x86_64",
        ".abi3.so",
        _macos("x86_64"),
    ),
    Target(
        "darwin-arm64",
        "aarch64-macos.11.0",
        "macosx_11_0_arm64",
        "macos-arm64",
        ".abi3.so",
        _macos("arm64"),
    ),
    Target("win32-x64", "x86_64-windows-gnu", "win_amd64", "win-amd64", ".pyd", ("win_amd64",)),
    Target("win32-arm64", "aarch64-windows-gnu", "win_arm64", "win-arm64", ".pyd", ("win_arm64",)),
)
#: The Pythons whose compiled wheels an extension package carries.
PYTHONS = ("3.11", "3.12", "3.13", "3.14")


def chosen(names: list[str]) -> list[Target]:
    """Return the targets of these names, all for none; raises SystemExit for an unknown one."""
    known = {target.name: target for target in TARGETS}
    for name in names:
        if name not in known:
            raise SystemExit(f"There is no target {name!r}; there are {', '.join(known)}.")
    return [known[name] for name in names] or list(TARGETS)
