"""Makes one archive of many wheels: files shared by all Pythons are in it once, beside those of
each.  Knows no platform and no editor; `vscode-extension/bundled/unpack.py` reads the result.
"""

from __future__ import annotations

import io
import subprocess
import tarfile
import zipfile
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMPRESS = ROOT / "vscode-extension" / "scripts" / "compress.mjs"
#: The folder in an archive of what fits every Python; the others are called by their tags.
SHARED = "any"
#: Files that are not needed at run time: tests, and what compilers and type checkers read.
NOT_RUN = (
    *("*/tests/*", "*.pyi", "*.h", "*.a", "*.lib", "*.pxd", "*.pyx", "*.dist-info/RECORD"),
    *("numpy/_core/_*_tests.*", "numpy/_core/_simd.*", "numpy/_core/lib/*"),
    *("numpy/_pyinstaller/*", "numpy/distutils/*", "numpy/f2py/*", "numpy/random/_examples/*"),
)


def make(wheels: list[Path], target: Path) -> int:
    """Write the files of some wheels as a compressed archive; the answer is its size unpacked."""
    archive = tar(members(wheels))
    raw = target.with_suffix("")
    raw.write_bytes(archive)
    subprocess.run(["node", str(COMPRESS), str(raw), str(target)], check=True)
    raw.unlink()
    return len(archive)


def tag_of(wheel: Path) -> str:
    """Name the Python that a wheel is for: `cp312`, or `SHARED` where it serves them all."""
    _, abi, _ = wheel.name.removesuffix(".whl").split("-")[-3:]
    return SHARED if abi in ("none", "abi3") else abi


def members(wheels: list[Path]) -> dict[tuple[str, str], bytes]:
    """Read the contents of all files that are run, by path and tag."""
    own: dict[tuple[str, str], bytes] = {}
    shared: dict[str, set[str]] = {}
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if not name.endswith("/") and not any(fnmatch(name, each) for each in NOT_RUN):
                    own[name, tag_of(wheel)] = archive.read(name)
                    shared.setdefault(name, set()).add(tag_of(wheel))
    tags = {tag for _, tag in own} - {SHARED}
    for name, found in shared.items():
        if tags and found == tags and len({own[name, tag] for tag in tags}) == 1:
            content = own[name, min(tags)]
            for tag in tags:
                del own[name, tag]
            own[name, SHARED] = content
    return own


def tar(contents: dict[tuple[str, str], bytes]) -> bytes:
    """Put files into an archive, those of one path beside each other: they compress as one."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for (name, tag), content in sorted(contents.items(), key=lambda item: item[0]):
            entry = tarfile.TarInfo(f"{tag}/{name}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return made.getvalue()
