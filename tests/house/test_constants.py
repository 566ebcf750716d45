"""Numbers in the engine that a reader cannot derive have their reason in a comment beside them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.house.trees import tree

ROOT = Path(__file__).parents[2]
#: Factors and bounds that need no reason: halves, units (milli to giga), small whole numbers.
FRACTIONS = frozenset((0.25, 0.5, 1.5, 1e-3, 100.0, 1e3, 1e6, 1e9))
SMALL = 64
WHOLE = frozenset((80, 90, 96, 100, 120, 127, 128, 180, 200, 255, 256, 360, 400, 500, 512))
WHOLE |= {1000, 1024, 4096, 65535, 65536, 0o700}
#: The lines above a number among which its comment is, up to a blank one.
ABOVE = 5
_TORCH = "engine/netsharp_engine/torch_backend"
#: Files whose numbers have their reason elsewhere, each with where.
EXCEPTIONS = {
    "engine/netsharp_engine/devices/footprint.py": "a fitted table, with a comment above it",
    "engine/netsharp_engine/host_arguments.py": "defaults that the hosts document",
    "engine/netsharp_compile/operators.py": "bounds of slopes, with a comment above their table",
    "engine/netsharp_compile/evaluating/pages.py": "places in a picture",
    f"{_TORCH}/kernels/windows.py": "as numpy_backend/kernels/normalization",
    f"{_TORCH}/masks.py": "as dropping/philox",
    f"{_TORCH}/tensors/kernels/elements.py": "as tensor_backend/kernels",
}


def is_usual(value: object) -> bool:
    if isinstance(value, float):
        return value in FRACTIONS or (value == int(value) and abs(value) <= SMALL)
    return not isinstance(value, int) or abs(value) <= SMALL or value in WHOLE


def without_reason(parsed: ast.AST, lines: list[str]) -> Iterator[str]:
    """Yield the unusual numbers without a comment in their line or in those above it."""
    for one in ast.walk(parsed):
        if not isinstance(one, ast.Constant) or isinstance(one.value, bool):
            continue
        if is_usual(one.value) or "#" in lines[one.lineno - 1]:
            continue
        above = []
        for line in reversed(lines[max(0, one.lineno - 1 - ABOVE) : one.lineno - 1]):
            if not line.strip():
                break
            above.append(line.strip())
        if not any(line.startswith("#") for line in above):
            yield f"{one.lineno}: {lines[one.lineno - 1].strip()}"


def test_unusual_numbers_have_their_reason() -> None:
    found = []
    for path in sorted((ROOT / "engine").rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if name not in EXCEPTIONS:
            lines = path.read_text(encoding="utf-8").splitlines()
            found += [f"{name}:{one}" for one in without_reason(tree(path), lines)]
    assert found == []


def test_a_number_without_a_reason_is_found() -> None:
    source = "A = 0.03\nB = 1e30  # so\n\n#: Why.\nC = 1e-10\nD = 0.5\n\nE = 31 * 777\n"
    found = list(without_reason(ast.parse(source), source.splitlines()))
    assert found == ["1: A = 0.03", "8: E = 31 * 777"]


def test_an_exception_is_needed() -> None:
    for name in EXCEPTIONS:
        lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
        assert any(without_reason(tree(ROOT / name), lines)), name
