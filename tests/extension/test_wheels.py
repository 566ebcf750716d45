"""Six wheels from one machine: each holds the right libraries, and the one for here runs here."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from tests.extension.binaries import Library, read
from tests.extension.conftest import PACKAGING, ROOT

sys.path.insert(0, str(PACKAGING))
from targets import TARGETS, Target

#: A compiler for six platforms takes minutes.
pytestmark = pytest.mark.costly(by_file=True)
NAMES = [target.name for target in TARGETS]
#: The compiled libraries of a wheel, by their modules: the parsers, and twins of the engine's.
LIBRARIES = (
    "netsharp_engine/_twins",
    "netsharp_grammar/_brainscript",
    "netsharp_grammar/_cntk",
    "netsharp_grammar/_netsharp",
)
FORMATS = {"linux": "ELF", "darwin": "Mach-O", "win32": "PE"}
#: What a library may need beside Python itself.
SYSTEM = {
    "linux": re.compile(r"libc\.so\.6|libm\.so\.6|ld-linux.*"),
    "darwin": re.compile(r"/usr/lib/libSystem\.B\.dylib"),
    "win32": re.compile(r"python3\.dll|kernel32\.dll|ntdll\.dll|api-ms-win-crt-.*\.dll"),
}


def wheel_of(wheels: Path, target: Target) -> Path:
    (found,) = wheels.glob(f"*-{target.wheel}.whl")
    return found


def library_of(wheels: Path, target: Target, module: str) -> tuple[Library, bytes]:
    with zipfile.ZipFile(wheel_of(wheels, target)) as archive:
        data = archive.read(f"{module}{target.suffix}")
    return read(data), data


every_library = pytest.mark.parametrize("module", LIBRARIES)


@pytest.fixture(params=TARGETS, ids=NAMES)
def target(request: pytest.FixtureRequest) -> Target:
    return request.param


@every_library
def test_the_library_is_for_its_machine(wheels: Path, target: Target, module: str) -> None:
    library, _ = library_of(wheels, target, module)
    system, _, machine = target.name.partition("-")
    assert (library.format, library.machine) == (FORMATS[system], machine)


@every_library
def test_it_exports_what_python_looks_for_and_nothing_else(
    wheels: Path, target: Target, module: str
) -> None:
    library, _ = library_of(wheels, target, module)
    exports = {name for name in library.exports if not name.startswith("_")}
    assert exports == {f"PyInit_{module.rpartition('/')[2]}"}


@every_library
def test_it_needs_nothing_but_the_system_and_python(
    wheels: Path, target: Target, module: str
) -> None:
    library, _ = library_of(wheels, target, module)
    allowed = SYSTEM[target.name.partition("-")[0]]
    assert [name for name in library.needs if not allowed.fullmatch(name)] == []
    if target.name.startswith("win32"):
        assert "python3.dll" in library.needs


@every_library
def test_the_tag_promises_no_more_than_the_library_keeps(
    wheels: Path, target: Target, module: str
) -> None:
    library, data = library_of(wheels, target, module)
    if target.name.startswith("linux"):
        asked = [(int(a), int(b)) for a, b in re.findall(rb"GLIBC_(\d+)\.(\d+)", data)]
        assert all(version <= (2, 17) for version in asked)
        assert target.wheel.startswith("manylinux_2_17_")
    if target.name.startswith("darwin"):
        assert library.system == (11, 0)
        assert target.wheel.startswith("macosx_11_0_")
        assert library.signed or target.name == "darwin-x64"


def test_the_wheels_differ_in_nothing_but_the_library(wheels: Path) -> None:
    contents = []
    for target in TARGETS:
        with zipfile.ZipFile(wheel_of(wheels, target)) as archive:
            assert archive.testzip() is None
            contents.append(
                {
                    name: archive.getinfo(name).CRC
                    for name in archive.namelist()
                    if not re.search(r"/_\w+\.(abi3\.so|pyd)$|/WHEEL$|/RECORD$", name)
                }
            )
            record = archive.read(next(n for n in archive.namelist() if n.endswith("/RECORD")))
        libraries = re.findall(r"(\w+/_\w+(?:\.abi3\.so|\.pyd)),", record.decode())
        assert sorted(libraries) == [f"{module}{target.suffix}" for module in LIBRARIES]
    assert all(content == contents[0] for content in contents)
    assert "netsharp_lsp/server/turns/launch.py" in contents[0]
    assert "netsharp_lsp/netsharp/rules/text/NS001.md" in contents[0]


@pytest.mark.skipif(
    (sys.platform, platform.machine()) != ("linux", "x86_64"), reason="no Linux x64 here"
)
def test_the_wheel_for_here_runs_where_there_is_no_compiler(wheels: Path, tmp_path: Path) -> None:
    home = tmp_path / "venv"
    venv.create(home, with_pip=False, symlinks=True)
    wheel = wheel_of(wheels, TARGETS[0])
    python = home / "bin" / "python"
    environment = {"PATH": str(home / "bin"), "HOME": str(tmp_path)}
    assert not any((home / "bin" / name).exists() for name in ("cc", "gcc", "zig"))
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    # What the wheel depends on comes from where this environment has it: no index is asked.
    subprocess.run([*pip, "--no-index", "--no-deps", str(wheel)], check=True)
    (site,) = (home / "lib").glob("python3*/site-packages")
    (site / "others.pth").write_text(
        os.path.dirname(pytest.importorskip("tree_sitter").__path__[0])
    )
    example = ROOT / "examples" / "digits" / "digits.nn"
    broken = tmp_path / "broken.nn"
    broken.write_text("input A [3]\n")
    command = [str(python), "-P", "-m", "netsharp_lsp", "check"]
    done = subprocess.run(
        [*command, str(example)], env=environment, cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    done = subprocess.run(
        [*command, str(broken)], env=environment, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "NS011" in done.stdout
    where = "import netsharp_grammar._netsharp as m; print(m.__file__)"
    found = subprocess.check_output([str(python), "-P", "-c", where], env=environment, text=True)
    assert found.strip() == str(site / "netsharp_grammar" / "_netsharp.abi3.so")
