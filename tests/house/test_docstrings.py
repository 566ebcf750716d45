"""Docstrings: the verb agrees with what a function does, and those of the engine's public functions
give the shape of a returned array and the errors raised.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from tests.house.trees import nodes, tree

ROOT = Path(__file__).parents[2]
ENGINE = ROOT / "engine" / "netsharp_engine"
PACKAGES = ("netsharp", "netsharp_lsp", "engine/netsharp_engine", "engine/netsharp_compile")
#: What the annotation of a function contains that returns items one by one.
ITEMS = re.compile(r"Iterator|Iterable")
#: Types of returned arrays; a mapping or a list has an array for each name or node, of its shape.
ARRAYS = frozenset(("Array", "IntArray", "Indices", "Matrix", "Outputs", "Rows", "Vector"))
#: What gives a shape: axes in brackets, the word itself, or that there is one axis.
SHAPES = re.compile(r"\[[^\]]+\]|\bshape\b|\bflat\b")
#: Places that need none, each with its reason.
EXCEPTIONS: dict[str, str] = {}


class Public(NamedTuple):
    """A public function or method, under the name of its module and class, and its docstring."""

    name: str
    function: ast.FunctionDef
    text: str


def public(below: ast.AST, name: str) -> Iterator[Public]:
    """Yield functions without a leading underscore, also those of public classes."""
    for one in ast.iter_child_nodes(below):
        inner = f"{name}.{one.name}" if isinstance(one, ast.FunctionDef | ast.ClassDef) else ""
        if isinstance(one, ast.ClassDef) and not one.name.startswith("_"):
            yield from public(one, inner)
        elif isinstance(one, ast.FunctionDef) and not one.name.startswith("_"):
            yield Public(inner, one, ast.get_docstring(one) or "")


def engine() -> Iterator[Public]:
    for path in sorted(ENGINE.rglob("*.py")):
        module = ".".join(path.relative_to(ENGINE).with_suffix("").parts)
        yield from public(tree(path), module)


def is_array(annotation: ast.expr | None) -> bool:
    """Return whether an annotation is an array, or a tuple of arrays, or None besides."""
    if isinstance(annotation, ast.BinOp):
        return is_array(annotation.left)
    if isinstance(annotation, ast.Subscript):
        of = ast.unparse(annotation.value).rpartition(".")[2]
        parts = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else ()
        return of == "NDArray" or (of == "tuple" and bool(parts) and all(map(is_array, parts)))
    return isinstance(annotation, ast.Name) and annotation.id in ARRAYS


def raised(below: ast.AST) -> Iterator[str]:
    """Yield the errors that a function raises itself, not those of functions in it."""
    for one in ast.iter_child_nodes(below):
        if isinstance(one, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            continue
        call = one.exc if isinstance(one, ast.Raise) else None
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
            yield call.func.id
        yield from raised(one)


def without_shape(found: Iterator[Public]) -> list[str]:
    return [
        one.name for one in found if is_array(one.function.returns) and not SHAPES.search(one.text)
    ]


def without_error(found: Iterator[Public]) -> list[str]:
    return [
        f"{one.name}: {error}"
        for one in found
        for error in sorted(set(raised(one.function)))
        if error[:1].isupper() and error not in one.text
    ]


def yields(below: ast.AST) -> bool:
    """Return whether a function is a generator itself, not by functions in it."""
    return any(
        isinstance(one, ast.Yield | ast.YieldFrom)
        or (not isinstance(one, ast.FunctionDef | ast.Lambda | ast.ClassDef) and yields(one))
        for one in ast.iter_child_nodes(below)
    )


def wrong_verbs(found: Iterable[ast.AST]) -> Iterator[str]:
    """Yield functions whose docstring begins with a verb that is not what they do."""
    for one in found:
        if not isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        verb = (ast.get_docstring(one) or "-").split()[0]
        returned = "" if one.returns is None else ast.unparse(one.returns)
        if (
            (verb == "Return" and (yields(one) or returned in ("None", "NoReturn")))
            or (verb == "Yield" and not (yields(one) or ITEMS.search(returned)))
            or (verb == "Yield" and returned == "Iterator[None]")
        ):
            yield f"{one.name}: {verb}"


def test_the_verb_is_what_a_function_does() -> None:
    files = [path for name in PACKAGES for path in sorted((ROOT / name).rglob("*.py"))]
    found = [
        f"{path.relative_to(ROOT)}: {one}" for path in files for one in wrong_verbs(nodes(path))
    ]
    assert len(files) > 1000
    assert found == []


def test_a_wrong_verb_is_found() -> None:
    source = '''
def rows() -> Iterator[int]:
    """Return the rows."""
    yield 1
def names() -> list[str]:
    """Yield the names."""
    return [*(yield_ for yield_ in ())]
def warn() -> None:
    """Return that there is nothing."""
@contextmanager
def block() -> Iterator[None]:
    """Yield a block."""
    yield
def parts() -> Iterator[int]:
    """Yield the parts."""
    return map(int, ())
def maker() -> Callable[[], Iterator[int]]:
    """Return a generator."""
    def inner() -> Iterator[int]:
        yield 1
    return inner
'''
    found = list(wrong_verbs(ast.walk(ast.parse(source))))
    assert found == ["rows: Return", "names: Yield", "warn: Return", "block: Yield"]


def test_a_returned_array_has_a_shape() -> None:
    assert [name for name in without_shape(engine()) if name not in EXCEPTIONS] == []


def test_an_error_is_named() -> None:
    assert [name for name in without_error(engine()) if name not in EXCEPTIONS] == []


def test_an_exception_is_needed() -> None:
    assert {*without_shape(engine()), *without_error(engine())} >= EXCEPTIONS.keys()


def test_what_is_missing_is_found() -> None:
    source = '''
def sums(rows: Matrix) -> tuple[Array, npt.NDArray[Any]] | None:
    """Return the sums of rows."""
    if not rows:
        raise DataError("There are no rows.")
    def inner():
        raise ValueError
class Sums:
    def all(self) -> Array:
        """Return the sums [rows]."""
    def names(self) -> dict[str, Array]:
        """Return the sums by name."""
class _Hidden:
    def found(self) -> Array:
        """Return it."""
'''
    parsed = ast.parse(source)
    assert without_shape(public(parsed, "m")) == ["m.sums"]
    assert without_error(public(parsed, "m")) == ["m.sums: DataError"]
