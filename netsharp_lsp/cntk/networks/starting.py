"""Parameters with initial values from a file: the file determines open dimensions as in CNTK.
Knows no language and reads no files itself.
"""

from __future__ import annotations

from netsharp_lsp.cntk.networks.node import PARAMETER, elements, written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from netsharp_lsp.cntk.networks.node import Node

    #: The rows and columns of a file of numbers and its fault, by its path; None if they cannot be
    #: known.
    Matrix = tuple[int, int, str]
    Measure = Callable[[str], Matrix | None]

FROM_FILE, FROM_LITERAL = "fromFile", "fromLiteral"


def not_measured(path: str) -> Matrix | None:
    """Return None: the contents of any file are unknown."""
    return None


def is_open(node: Node) -> bool:
    """Return whether the size of a parameter depends on a file that cannot be read."""
    from_file = node.operation == PARAMETER and node.attributes.get("init") == FROM_FILE
    return from_file and node.shape is not None and not elements(node.shape)


def measure_start(node: Node, measure: Measure) -> None:
    """Complete the shape of a parameter from the file with its initial values."""
    path = node.text("initFromFilePath")
    matrix = measure(path) if node.shape is not None and path else None
    if matrix is not None:
        fit_start(node, path, matrix)


def fit_start(node: Node, path: str, matrix: Matrix) -> None:
    """Complete the shape of a parameter from the numbers that it starts from, by their name."""
    rows, columns, flaw = matrix
    if flaw:
        node.flaw = f"CNTK stops when it reads '{path}': {flaw}."
        return
    if node.shape is None:
        return
    shape = completed(node.shape, rows, columns)
    if shape is not None and (shape[0], elements((1, *shape[1:]))) == (rows, columns):
        node.shape = shape
    else:
        node.flaw = misfit(node.shape, path, rows, columns)


def completed(shape: tuple[int, ...], rows: int, columns: int) -> tuple[int, ...] | None:
    """Return a shape whose open dimensions come from a matrix: the first one from its rows, one of
    the others from its columns; None if they cannot.
    """
    if elements(shape):
        return shape
    known = list(shape) or [0]
    if len(known) == 1 and columns != 1:
        known.append(0)
    known[0] = known[0] or rows
    rest = elements((1, *(size for size in known[1:] if size)))
    if known[1:].count(0) > 1 or (0 in known[1:] and columns % rest):
        return None
    return tuple(size or columns // rest for size in known)


def literal_lines(text: str) -> bytes:
    """Return a matrix literal as the lines of a file: blanks may precede a line, and a line ends at
    either line end.
    """
    lines = (line.lstrip(" ") for line in text.replace("\r", "\n").split("\n"))
    return "\n".join(lines).encode()


def misfit(shape: tuple[int, ...], path: str, rows: int, columns: int) -> str:
    """Return the message on a matrix that does not fit a shape, with the numbers that had to be
    equal.
    """
    others = [size for size in shape[1:] if size]
    product = elements((1, *others))
    count = f"{' x '.join(map(str, others))} = {product}" if len(others) > 1 else f"{product}"
    if shape[1:].count(0) > 1:
        asks = "leaves more than one dimension after the first to the columns"
    elif shape and shape[0] not in (0, rows):
        asks = f"needs {shape[0]} row{'s' * (shape[0] != 1)}"
    elif 0 in shape[1:]:
        asks = f"needs columns in multiples of {count}"
    else:
        asks = f"needs {count} column{'s' * (product != 1)}"
    turned = completed(shape, columns, rows) if len(shape) == 2 else None
    hint = " It fits when transposed." if turned == (columns, rows) else ""
    return (
        f"'{path}' has {rows} line{'s' * (rows != 1)} of {columns}"
        f" number{'s' * (columns != 1)}, and the shape [{written(shape)}] {asks}.{hint}"
    )
