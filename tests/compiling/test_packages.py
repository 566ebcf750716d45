"""Packages for build systems: CMake's is built, the others are what is documented of them, and all
that they name is there and compiles.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import netsharp
from netsharp_compile.compiled import CompiledNetwork
from netsharp_compile.writing.packages import PACKAGES
from tests.compiling.builds import COMPILERS, STRICT
from tests.compiling.networks import ONE, trained

pytestmark = pytest.mark.filterwarnings("ignore:On training rows")
CMAKE = shutil.which("cmake")
needs_cmake = pytest.mark.skipif(
    CMAKE is None, reason="the build of packages is left out: no cmake ('make embedded')"
)
#: What Arduino's specification of libraries has of categories.
CATEGORIES = (
    "Display, Communication, Signal Input/Output, Sensors, Device Control, Timing, Data Storage, "
    "Data Processing, Other"
)
#: What stands for Arduino's own, on this machine.
ARDUINO = """\
#include <stdio.h>
#include <stdint.h>
struct { void begin(long) {} void print(const char *t) { fputs(t, stdout); }
         void print(long n) { printf("%ld", n); } void println(const char *t) { puts(t); } } Serial;
static unsigned long micros() { return 1; }
static void delay(int) {}
"""
#: What Zephyr's build gives a module.
ZEPHYR = """\
cmake_minimum_required(VERSION 3.13)
project(board LANGUAGES C)
set(CONFIG_SMALL_NET y)
set(CONFIG_SMALL_NET_WITH_FLOAT y)
macro(zephyr_include_directories)
  include_directories(${ARGN})
endmacro()
macro(zephyr_compile_definitions)
  add_definitions(-D${ARGN})
endmacro()
macro(zephyr_library_named name)
  set(current ${name})
  add_library(${name} STATIC)
endmacro()
macro(zephyr_library_sources)
  target_sources(${current} PRIVATE ${ARGN})
endmacro()
add_subdirectory(net/zephyr)
add_executable(app net/samples/run/src/main.c)
target_include_directories(app PRIVATE net/include)
target_link_libraries(app small_net)
"""


@pytest.fixture(scope="module")
def network() -> CompiledNetwork:
    model, x = trained(ONE.format("tanh", "softmax"))
    return netsharp.compile(model, x)


@pytest.fixture
def folder(network: CompiledNetwork, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """The package whose name the test begins with."""
    package: Any = request.node.name.split("_")[1]
    network.write(tmp_path / "net", "small_net", package=package, answers="softmax")
    return tmp_path / "net"


def files_below(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def built(folder: Path, headers: str, main: Path, compiler: str = COMPILERS[0]) -> str:
    """What an example prints, built strictly from all code of a package."""
    made = folder.parent / "made"
    made.mkdir()
    flags = [*STRICT, f"-I{folder / headers}"]
    for source in (folder / "src").glob("*.c"):
        command = [COMPILERS[0], *flags, "-c", source, "-o", made / f"{source.stem}.o"]
        subprocess.run(command, check=True)
    program = made / "program"
    subprocess.run(
        [compiler, f"-I{folder / headers}", main, *made.glob("*.o"), "-o", program], check=True
    )
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout


def cmake(*arguments: Any, cwd: Path) -> str:
    done = subprocess.run(
        [str(CMAKE), *map(str, arguments)], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@needs_cmake
@pytest.mark.costly
def test_cmake_builds_the_target_its_test_and_the_example(folder: Path) -> None:
    cmake("-S", folder, "-B", "build", "-DSMALL_NET_WITH_FLOAT=ON", cwd=folder.parent)
    cmake("--build", "build", cwd=folder.parent)
    tested = subprocess.run(["ctest"], cwd=folder.parent / "build", capture_output=True, text=True)
    assert "100% tests passed, 0 tests failed out of 1" in tested.stdout
    output = subprocess.check_output(folder.parent / "build/examples/run/small_net_run", text=True)
    assert re.fullmatch(r"(\d: -?\d+\n){3}largest: [012]\n", output)
    library = subprocess.check_output(["nm", folder.parent / "build" / "libsmall_net.a"], text=True)
    assert {"T small_net_quantize", "T small_net_softmax"} <= set(re.findall("T .*", library))
    # As a part of another project, which has neither test nor example of it.
    cmake("-S", folder / "examples" / "run", "-B", "alone", cwd=folder.parent)
    cmake("--build", "alone", cwd=folder.parent)
    assert subprocess.check_output(folder.parent / "alone" / "small_net_run", text=True) == output
    assert not list((folder.parent / "alone").rglob("small_net_test"))


def test_arduino_has_a_library_as_specified(folder: Path) -> None:
    lines = (folder / "library.properties").read_text().splitlines()
    fields = dict(line.split("=", 1) for line in lines if not line.startswith("#"))
    required = "name version author maintainer sentence paragraph category url architectures"
    assert set(required.split()) <= set(fields)
    assert all(fields.values())
    assert re.fullmatch(r"[A-Za-z0-9][\w .-]{0,62}", fields["name"])
    assert re.fullmatch(r"\d+\.\d+\.\d+", fields["version"])
    assert fields["category"] in CATEGORIES.split(", ")
    assert "avr" not in fields["architectures"]
    assert (folder / "src" / fields["includes"]).exists()
    beside = {path.name for path in folder.iterdir() if path.stem != "report"}
    assert beside == {"examples", "extras", "library.properties", "src"}
    # All that lies there is built: what has a main, or another ending, must not.
    assert {path.suffix for path in (folder / "src").iterdir()} == {".c", ".h"}
    assert not any("main(" in path.read_text() for path in (folder / "src").iterdir())
    (sketch,) = (folder / "examples").rglob("*.ino")
    assert sketch.stem == sketch.parent.name
    assert {"small_net.json", "small_net.tables.bin", "small_net_test.c"} == {
        path.name for path in (folder / "extras").iterdir()
    }
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no compiler of C++ is there")
    text = f"{ARDUINO}{sketch.read_text()}\nint main() {{ setup(); loop(); return 0; }}\n"
    (folder.parent / "sketch.cpp").write_text(text)
    reported = built(folder, "src", folder.parent / "sketch.cpp", compiler)
    assert re.fullmatch(r"answer [012] after 0 microseconds\n", reported)


def test_platformio_has_a_library_as_documented(folder: Path) -> None:
    found = json.loads((folder / "library.json").read_text())
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", found["name"])
    assert len(found["name"]) <= 50
    assert re.fullmatch(r"\d+\.\d+\.\d+", found["version"])
    assert (folder / found["build"]["includeDir"] / found["headers"]).exists()
    assert len(list((folder / found["build"]["srcDir"]).glob("*.c"))) == 6
    (example,) = found["examples"]
    assert all((folder / example["base"] / name).exists() for name in example["files"])
    settings = (folder / example["base"] / "platformio.ini").read_text()
    assert "lib_deps = symlink://../..\n" in settings
    reported = built(folder, "include", folder / example["base"] / "src" / "main.c")
    assert reported.endswith(("largest: 0\n", "largest: 1\n", "largest: 2\n"))


@needs_cmake
@pytest.mark.costly
def test_zephyr_has_a_module_as_documented(folder: Path) -> None:
    module = (folder / "zephyr" / "module.yml").read_text()
    assert module.splitlines()[0] == "name: small_net"
    for line in ("  cmake: zephyr", "  kconfig: zephyr/Kconfig", "  - samples"):
        assert line in module.splitlines()
    options = re.findall(r"^config (\w+)$", (folder / "zephyr" / "Kconfig").read_text(), re.M)
    assert options == ["SMALL_NET", "SMALL_NET_WITH_FLOAT"]
    assert (folder / "samples" / "run" / "prj.conf").read_text() == "CONFIG_SMALL_NET=y\n"
    sample = (folder / "samples" / "run" / "CMakeLists.txt").read_text()
    first, second = sample.index("ZEPHYR_EXTRA_MODULES"), sample.index("find_package(Zephyr")
    assert first < second < sample.index("project(")
    (folder.parent / "CMakeLists.txt").write_text(ZEPHYR)
    cmake("-S", ".", "-B", "build", cwd=folder.parent)
    cmake("--build", "build", cwd=folder.parent)
    assert "largest: " in subprocess.check_output(folder.parent / "build" / "app", text=True)


@pytest.mark.parametrize("package", PACKAGES)
def test_nothing_is_left_to_fill_in_and_a_package_is_replaced_as_a_whole(
    package: Any, network: CompiledNetwork, tmp_path: Path
) -> None:
    names = network.write(tmp_path / "net", package=package)
    assert files_below(tmp_path / "net") == set(names)
    for name in names:
        if not name.endswith(".bin"):
            assert not re.search(r"@\w+@", (tmp_path / "net" / name).read_text()), name
    assert network.write(tmp_path / "net", package=package) == names
    mine = tmp_path / "net" / names[-1].rpartition("/")[0] / "mine.txt"
    mine.write_text("kept")
    with pytest.raises(netsharp.CompileError, match=r"mine\.txt, which is not a file of this"):
        network.write(tmp_path / "net", package=package)
    mine.unlink()
    (tmp_path / "net" / "empty").mkdir()
    with pytest.raises(netsharp.CompileError, match="holds empty, which is not a file of this"):
        network.write(tmp_path / "net", package=package)
    assert files_below(tmp_path / "net") == set(names)


def test_a_package_that_is_none_is_a_sentence(network: CompiledNetwork, tmp_path: Path) -> None:
    unknown: Any = "make"
    with pytest.raises(netsharp.CompileError, match="arduino, platformio, cmake, zephyr; 'make'"):
        network.write(tmp_path / "net", package=unknown)
    assert not list(tmp_path.iterdir())
