"""Builds one wheel per platform by cross-compiling the C extensions with zig.

Run as `python packaging/wheels.py OUT [TARGET ...]`; needs the packages `ziglang` and `setuptools`
and no compiler of the system.
"""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

from targets import Target, chosen

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
#: Grammars with a C extension each; the same as in setup.py.
GRAMMARS = ("netsharp", "brainscript", "cntk")
#: The engine's compiled twins; the same as in setup.py.
TWINS = ROOT / "engine" / "netsharp_engine" / "twins"
ZIG = (sys.executable, "-m", "ziglang")
TAG = "cp311-abi3"
#: Python's stable ABI that is compiled against.
LIMITED = "-DPy_LIMITED_API=0x030B0000"
#: The parser is imported by our own package alone.
HIDDEN = "-DTREE_SITTER_HIDE_SYMBOLS"
FLAGS = ("-shared", "-O2", "-std=c11", "-DNDEBUG", "-fvisibility=hidden", "-s", "-Wall")
TWIN_FLAGS = ["-O3", "-ffp-contract=fast", "-fno-math-errno", "-fno-trapping-math"]
#: When files inside a wheel were made, so that the same sources give the same bytes.
EPOCH = (1980, 1, 1, 0, 0, 0)


def main() -> None:
    """Build the wheels named on the command line, all where none is."""
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        headers = python_headers(work)
        payload = plain_wheel(work)
        for target in chosen(sys.argv[2:]):
            extensions = compile_all(target, headers, work / target.name)
            print(repack(payload, target, extensions, out))


def python_headers(work: Path) -> Path:
    """Return a copy of Python's headers in which every size is asked of the compiler."""
    headers = work / "include"
    shutil.copytree(sysconfig.get_paths()["include"], headers)
    shutil.copy(HERE / "include" / "pyconfig.h", headers)
    return headers


def plain_wheel(work: Path) -> Path:
    """Return the wheel of this machine, built from what git knows of, without its libraries.

    They are compiled for each platform, so that the compiler here is one that does nothing.
    """
    copy = work / "sources"
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    packaged = ["netsharp", "netsharp_lsp", "engine", "grammar"]
    around = ["setup.py", "pyproject.toml", "MANIFEST.in", "README.md", "LICENSE"]
    names = subprocess.check_output([*listed, "--", *packaged, *around], cwd=ROOT)
    for name in names.decode().split("\0"):
        if name and (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name)
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    options = ["--no-build-isolation", "--wheel-dir", str(work / "plain"), str(copy)]
    subprocess.run([*build, *options], check=True, env=os.environ | {"CC": "true"})
    return next((work / "plain").glob("*.whl"))


def compile_all(target: Target, headers: Path, folder: Path) -> dict[str, Path]:
    """Return the C extension of each grammar and of the engine, by its name inside the wheel."""
    folder.mkdir()
    made = {}
    for grammar in GRAMMARS:
        name = f"_{grammar}{target.suffix}"
        source = ROOT / "grammar" / grammar / "src"
        files = [ROOT / "grammar" / "netsharp_grammar" / f"{grammar}.c"]
        files += [source / "parser.c", source / "scanner.c"]
        compile_one(target, files, [f"-I{source}", HIDDEN], headers, folder / name)
        made[f"netsharp_grammar/{name}"] = folder / name
    name = f"_twins{target.suffix}"
    files = sorted(TWINS.glob("*.c"))
    compile_one(target, files, TWIN_FLAGS, headers, folder / name)
    made[f"netsharp_engine/{name}"] = folder / name
    return made


def compile_one(
    target: Target, files: list[Path], flags: list[str], headers: Path, output: Path
) -> None:
    """Cross-compile one extension with its interface to Python."""
    paths = [f"-I{headers}", "-o", str(output)]
    command = [*ZIG, "cc", "-target", target.zig, *FLAGS, LIMITED, *flags, *paths]
    command += [str(file) for file in files]
    command += linking(target, output.parent)
    subprocess.run(command, check=True)


def linking(target: Target, folder: Path) -> list[str]:
    """Return the library with Python's functions: that of Windows, else the interpreter."""
    if target.name.startswith("darwin"):
        return ["-Wl,-undefined,dynamic_lookup"]
    if not target.name.startswith("win32"):
        return ["-fPIC"]
    library = folder / "python3.lib"
    machine = "i386:x86-64" if target.name.endswith("x64") else "arm64"
    command = [*ZIG, "dlltool", "-m", machine, "-d", str(HERE / "python3.def"), "-l", str(library)]
    subprocess.run(command, check=True)
    return [str(library)]


def repack(payload: Path, target: Target, extensions: dict[str, Path], out: Path) -> Path:
    """Return the payload with other extensions, tags and record; written aside and renamed."""
    name, version = payload.name.split("-")[:2]
    wheel = out / f"{name}-{version}-{TAG}-{target.wheel}.whl"
    files = {}
    with zipfile.ZipFile(payload) as archive:
        for member in archive.namelist():
            if not member.endswith((".so", ".pyd", "/RECORD")):
                files[member] = archive.read(member)
    files |= {member: file.read_bytes() for member, file in extensions.items()}
    info = f"{name}-{version}.dist-info"
    files[f"{info}/WHEEL"] = wheel_file(target)
    files[f"{info}/RECORD"] = record(files, f"{info}/RECORD")
    aside = wheel.with_suffix(".part")
    with zipfile.ZipFile(aside, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, data in files.items():
            entry = zipfile.ZipInfo(member, EPOCH)
            entry.external_attr = (0o755 if member in extensions else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    aside.replace(wheel)
    return wheel


def wheel_file(target: Target) -> bytes:
    """Return the wheel's account of itself."""
    lines = ["Wheel-Version: 1.0", "Generator: netsharp", "Root-Is-Purelib: false"]
    lines += [f"Tag: {TAG}-{platform}" for platform in target.wheel.split(".")]
    return ("\n".join(lines) + "\n").encode()


def record(files: dict[str, bytes], own: str) -> bytes:
    """Return the list of files with their digests, as installers check it."""
    lines = []
    for member, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{member},sha256={digest},{len(data)}")
    return ("\n".join([*lines, f"{own},,"]) + "\n").encode()


if __name__ == "__main__":
    main()
