"""Bombs of Net#: layers, constants, values, conditions."""

from __future__ import annotations

from collections.abc import Callable

from tests.bounds.bombs import Bomb, of_text, repeated


def _netsharp() -> list[Bomb]:
    def of(name: str, unit: str, before: str = "", after: str = "", most: int = 0) -> list[Bomb]:
        return repeated("netsharp", name, unit, before, after, most)

    head, all_from = "input A [2];\n", "output B [2] from A all;\n"
    return [
        *of("a long number in a bundle", "9", "]\nfrom norm InputShape=", "[true tr"),
        *of("layers in a chain", "hidden H{m} [2] from H{n} all;\n", "input H0 [2];\n"),
        *of("layers in a chain, upside down", "hidden H{n} [2] from H{m} all;\n"),
        *of("layers of one name", "hidden H [2] from A all;\n", head),
        *of("unknown sources", "hidden H{n} [2] from A{n}x all;\n", head),
        *of("unknown kinds", "hidden H{n} [2] from A convolv{n};\n", head),
        *of("unknown activations", "hidden H{n} [2] sigmod{n} from A all;\n", head),
        *of(
            "unknown attributes", "hidden H{n} [2] from A convolve { KernlShape{n} = [1]; }\n", head
        ),
        *of("constants in a chain", "const { c{m} = c{n} + 1; }\n", "const { c0 = 1; }\n"),
        *of("constants that double", "const { c{m} = c{n} * c{n}; }\n", "const { c0 = 3; }\n"),
        *of("tuples that double", "const { t{m} = (t{n}, t{n}); }\n", "const { t0 = (1, 1); }\n"),
        *of("constants that turn back", "const { a{n} = b{n}; b{n} = a{n} + a{m}; }\n"),
        *of("constants that wait", "const { c{n} = c{m}; }\n"),
        *of_text("netsharp", "circles of constants within circles", _nested_circles, 2**16),
        *of("missing brackets on a line", "const { a{n} = (1; } "),
        *of("declarations without a mark", "input A [2]\n"),
        *of("values", "0.5, ", f"{head}output B [2] from A all {{ Weights = (", "1); }"),
        *of("values and sums", "1+", f"{head}output B [1", "+1] from A all;"),
        *of("brackets around a value", "(", f"{head}output B [", "2] from A all;"),
        *of("dimensions", "1,", "input A [", "1];\n"),
        *of(
            "dimensions of a kernel",
            "1,",
            "input A [2]; output B [2] from A convolve { KernelShape = [",
            "1]; }",
        ),
        *of(
            "terms of a condition",
            "s[0] == d[0] && ",
            f"{head}output B [2] from A where (s, d) => ",
            "true;",
        ),
        *of(
            "alternatives of a condition",
            "s[0] == d[0] || ",
            f"{head}output B [2] from A where (s, d) => ",
            "true;",
        ),
        *of("shares", "share { A => H{n}, A => H{m} }\n", head),
        *of("members of a share", "A => H{n}, ", f"{head}share {{ ", "A => B }"),
        *of(
            "members of a share that are",
            "A => H, ",
            f"{head}hidden H [2] from A all; share {{ ",
            "A => H }",
        ),
        *of("bundles", "from A all; ", f"{head}output B [2] {{ ", "}"),
        *of(
            "bundles that repeat a kind", "from A all; from A all; ", f"{head}output B [2] {{ ", "}"
        ),
        *of("attributes", "Biases = 1; ", f"{head}output B [2] from A all {{ ", "}"),
        *of("layers in a group", "A{n} [2] from X all; ", "hidden { ", "}"),
        *of("inputs", "input A{n} [2];\n", "", all_from),
        *of("inputs of one name", "input A [2];\n", "", all_from),
        *of("a long name", "x", "input ", " [2];"),
        *of("a long name that nobody knows", "x", "input A [2]; output B [2] from ", " all;"),
        *of("a long kind", "x", "input A [2]; output B [2] from A ", ";"),
        *of("a long activation", "x", "input A [2]; output B [2] ", " from A all;"),
        *of("a long attribute", "x", "input A [2]; output B [2] from A convolve { ", " = 1; }"),
        *of("a long constant", "x", "input A [", "];"),
        *of("a long word alone", "x"),
        *of("a long comment", "x", "/* ", " */ input A [2];"),
        *of("comments within a layer", "/* x */ ", "input A ", "[2];"),
        *of("line comments within a layer", "// x\n", "input A ", "[2];"),
        *of("block comments", "/* x */ "),
        *of("block comments on lines", "/* x */\n"),
        *of("long names that nobody knows", f"hidden H{{n}} [2] from {'ab' * 48}{{n}} all;\n"),
        *of("comments behind a line", "input A{n} [2]; // x\n"),
        *of("wrong quotes", "“", "input A ["),
        *of("keywords", "input hidden output const share from where "),
        *of("where", "where (s, d) => ", "output B [2] from A "),
        *of("true", "true ", "const { a = "),
        *of("calls in calls", "Square(", "const { a = ", "1"),
        *of("indices of indices", "[1]", "const { a = b", "; }"),
        *of("signs", "-", "const { a = ", "1; }"),
        *of("powers", "2^", "const { a = ", "2; }"),
        *of(
            "convolutions in a chain",
            "hidden H{m} [1, 9, 9] from H{n} convolve {"
            " InputShape = [1, 9, 9]; KernelShape = [1, 3, 3]; Padding = true; }\n",
            "input H0 [1, 9, 9];\n",
        ),
        *_conditions(),
    ]


def _nested_circles(n: int) -> bytes:
    """Constants in a row, of which each in the second half leads back to one in the first."""
    into = (f"const {{ c{i} = c{i + 1}; }}" for i in range(n))
    out = (f"const {{ c{n + i} = c{n + i + 1} + c{n - 1 - i}; }}" for i in range(n))
    return "\n".join((*into, *out)).encode()


def _conditions() -> list[Bomb]:
    """Filters between two layers of one size."""
    conditions = {
        "a product": "s[0] * d[0] % 7 == 3",
        "a sum": "s[0] + d[0] == 9",
        "an equality": "s[0] == d[0]",
        "a difference": "s[0] - d[0] < 3 && d[0] - s[0] < 3",
        "everything": "s[0] >= 0 || d[0] >= 0",
        "a fault far away": "1 / (s[0] + d[0] - 59999) > 0",
    }

    def text(condition: str) -> Callable[[int], bytes]:
        return lambda n: (
            f"input A [{n}]; output B [{n}] from A where (s, d) => {condition};".encode()
        )

    def sharing(n: int) -> bytes:
        layers = " ".join(
            f"input A{i} [{n}]; hidden H{i} [{n}] from A{i} where (s, d) => s[0] * d[0] % 7 == 3;"
            for i in range(2)
        )
        both = "share { A0 => H0, A1 => H1 }"
        return f"{layers} output O [1] {{ from H0 all; from H1 all; }} {both}".encode()

    return [
        *(
            bomb
            for name, condition in conditions.items()
            for bomb in of_text("netsharp", f"a condition over {name}", text(condition), 60_000, 64)
        ),
        *of_text("netsharp", "two conditions that share", sharing, 60_000, 64),
    ]


BOMBS: tuple[Bomb, ...] = (*_netsharp(),)
