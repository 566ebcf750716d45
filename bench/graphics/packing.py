"""A folder that measures a graphics device on a machine without network: `make gpu-folder`.

In it are the engine, the measurement, wgpu with what it imports for several versions of Python, and
the loader of Vulkan; numpy and, to compare with, PyTorch are those of the machine.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: Versions of Python that the folder serves, and the platforms that wheels are for.
PYTHONS = ("3.11", "3.12", "3.13")
PLATFORMS = ("manylinux_2_28_x86_64", "manylinux2014_x86_64", "manylinux_2_17_x86_64")
#: wgpu's own requirement beside these is for windows, which nothing here opens.
SAME, COMPILED = ("wgpu>=0.32,<0.33", "pycparser"), ("cffi",)
LOADER, LIBRARY = "libvulkan1", "libvulkan.so.1"
#: Bytes of the folder at most.
MOST = 32 << 20
SCRIPTS = ("peer_torch.py", "graphics")


def packed(folder: Path) -> int:
    """Make the folder; return its bytes."""
    shutil.rmtree(folder, ignore_errors=True)
    leave = shutil.ignore_patterns("__pycache__", "*.so", "*.pyd", "*.c", "*.h")
    shutil.copytree(ROOT / "engine" / "netsharp_engine", folder / "netsharp_engine", ignore=leave)
    for name in SCRIPTS:
        source = ROOT / "bench" / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, folder / name, **({"ignore": leave} if source.is_dir() else {}))
    _unpacked(SAME, PYTHONS[0], folder / "packages")
    for version in PYTHONS:
        _unpacked(COMPILED, version, folder / f"packages-{version}")
    _loader(folder / "lib")
    shutil.copy(Path(__file__).parent / "gpu.sh", folder / "gpu.sh")
    total = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    if total > MOST:
        raise SystemExit(f"{folder} has {total:,} bytes, more than {MOST:,}")
    return total


def _unpacked(wanted: tuple[str, ...], python: str, folder: Path) -> None:
    """The wheels of packages for a version of Python, without what they require."""
    platforms = [word for name in PLATFORMS for word in ("--platform", name)]
    with tempfile.TemporaryDirectory() as wheels:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "-d", wheels]
        choice = ["--only-binary=:all:", "--python-version", python, *platforms]
        subprocess.run([*command, *choice, *wanted], check=True)
        for wheel in Path(wheels).glob("*.whl"):
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(folder)


def _loader(folder: Path) -> None:
    """The loader of Vulkan from Debian's package."""
    folder.mkdir()
    with tempfile.TemporaryDirectory() as place:
        subprocess.run(["apt-get", "download", "-qq", LOADER], check=True, cwd=place)
        (package,) = Path(place).glob("*.deb")
        subprocess.run(["dpkg-deb", "-x", str(package), "all"], check=True, cwd=place)
        (library,) = Path(place).rglob(LIBRARY)
        shutil.copy(library.resolve(), folder / LIBRARY)


def main() -> None:
    """Make the folder that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    print(f"{folder}: {packed(folder):,} bytes; on the machine: bash gpu.sh")


if __name__ == "__main__":
    main()
