"""The files of a network laid out as build systems want them, with their build files, and an
example.

Knows names of files, and nothing of their contents.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from netsharp_compile.refusal import CompileError
from netsharp_compile.writing import package_texts as texts

if TYPE_CHECKING:
    from collections.abc import Mapping

Package = Literal["arduino", "platformio", "cmake", "zephyr"]
PACKAGES: tuple[str, ...] = get_args(Package)
#: Of all that is written; the manifest has a version of its own.
VERSION = "1.0.0"


#: Of Arduino, those of 32 bits: on the others an int is too short, and constants take up memory.
_ARCHITECTURES = (
    *("esp32", "esp8266", "mbed", "mbed_edge", "mbed_giga", "mbed_nano", "mbed_nicla"),
    *("mbed_opta", "mbed_portenta", "mbed_rp2040", "nrf52", "renesas_portenta"),
    *("renesas_uno", "rp2040", "sam", "samd", "stm32", "zephyr"),
)


class _Layout(NamedTuple):
    """Folders of headers, of code, of the test, and of the manifest with the file of tables; and
    what is written besides, by name.  In all of these stand what `_words` gives.
    """

    headers: str
    code: str
    test: str
    rest: str
    more: Mapping[str, str]


_LAYOUTS = {
    # All below `src` is built, so that the test, which has a main, lies elsewhere.
    "arduino": _Layout(
        "src",
        "src",
        "extras",
        "extras",
        {
            "library.properties": texts.ARDUINO_PROPERTIES,
            "examples/Run/Run.ino": texts.ARDUINO_EXAMPLE,
        },
    ),
    "platformio": _Layout(
        "include",
        "src",
        "extras",
        "extras",
        {
            "examples/run/platformio.ini": texts.PLATFORMIO_EXAMPLE,
            "examples/run/src/main.c": texts.HOSTED_EXAMPLE,
        },
    ),
    "cmake": _Layout(
        "include",
        "src",
        "tests",
        "share",
        {
            "CMakeLists.txt": texts.CMAKE_LISTS,
            "examples/run/CMakeLists.txt": texts.CMAKE_EXAMPLE,
            "examples/run/main.c": texts.HOSTED_EXAMPLE,
        },
    ),
    "zephyr": _Layout(
        "include",
        "src",
        "tests",
        "share",
        {
            "zephyr/module.yml": texts.ZEPHYR_MODULE,
            "zephyr/CMakeLists.txt": texts.ZEPHYR_LISTS,
            "zephyr/Kconfig": texts.ZEPHYR_KCONFIG,
            "samples/run/CMakeLists.txt": texts.ZEPHYR_EXAMPLE,
            "samples/run/prj.conf": texts.ZEPHYR_SETTINGS,
            "samples/run/src/main.c": texts.HOSTED_EXAMPLE,
        },
    ),
}


def require_package(package: str | None) -> None:
    """Raise CompileError for a package that is none."""
    if package is not None and package not in PACKAGES:
        raise CompileError(f"package is one of {', '.join(PACKAGES)}; {package!r} is none.")


def packed(files: Mapping[str, bytes], prefix: str, package: str | None) -> dict[str, bytes]:
    """Return files [name: bytes] where a package has them, with all that belongs to it; as they are
    without one. Raises CompileError for an unknown package.
    """
    require_package(package)
    if package is None:
        return dict(files)
    layout = _LAYOUTS[package]
    found = {f"{_folder(name, prefix, layout)}/{name}": data for name, data in files.items()}
    words = _words(files, prefix)
    more = dict(layout.more)
    if package == "platformio":
        more["library.json"] = _library_json(prefix)
    for name, text in more.items():
        for word, value in words.items():
            text = text.replace(f"@{word}@", value)
        found[name] = text.encode("utf-8")
    return found


def _folder(name: str, prefix: str, layout: _Layout) -> str:
    if name == f"{prefix}_test.c":
        return layout.test
    if name.endswith(".h"):
        return layout.headers
    return layout.code if name.endswith(".c") else layout.rest


def _words(files: Mapping[str, bytes], prefix: str) -> dict[str, str]:
    """Return the replacements for names between two @ in the texts."""
    code = sorted(name for name in files if name.endswith(".c") and name != f"{prefix}_test.c")
    return {
        "prefix": prefix,
        "PREFIX": prefix.upper(),
        "version": VERSION,
        "architectures": ",".join(_ARCHITECTURES),
        "sources": "\n".join(f"  src/{name}" for name in code),
        "zephyr_sources": "\n".join(f"    ../src/{name}" for name in code),
    }


def _library_json(prefix: str) -> str:
    found = {
        "name": prefix.replace("_", "-").strip("-").lower(),
        "version": VERSION,
        "description": "A neural network in integers, written by netsharp compile.",
        "keywords": ["neural network", "integers", "inference"],
        "headers": f"{prefix}.h",
        "frameworks": "*",
        "platforms": "*",
        "build": {"includeDir": "include", "srcDir": "src"},
        "examples": [
            {
                "name": "run",
                "base": "examples/run",
                "files": ["platformio.ini", "src/main.c"],
            }
        ],
    }
    return json.dumps(found, indent=2) + "\n"
