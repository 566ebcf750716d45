"""Bombs of networks that are trained, described and compared."""

from __future__ import annotations

import math
from collections.abc import Callable

from tests.bounds.bombs import Bomb, Files, of_files
from tests.bounds.table.trained import HEADER, ROWS, TRAIN, chained


def _networks() -> list[Bomb]:
    trained = f"{TRAIN} t.csv"
    commands = (
        trained,
        "describe a.nn",
        "check a.nn",
        "fmt --check a.nn",
        "describe --format json a.nn",
        "diff a.nn a.nn",
    )

    def of(
        name: str,
        text: Callable[[int], bytes],
        most: int,
        least: int = 64,
        commands: tuple[str, ...] = commands,
    ) -> list[Bomb]:
        def files(n: int) -> Files:
            return {"a.nn": text(n), "t.csv": HEADER + ROWS}

        return [
            bomb
            for command in commands
            for bomb in of_files("network", name, command, files, most, least)
        ]

    def values(n: int) -> bytes:
        numbers = ", ".join(["0.125"] * (2 * n))
        given = f"from A all {{ Weights = [{numbers}]; }}"
        return f"input A [2];\nhidden H [{n}] {given}\noutput B [2] from H all;\n".encode()

    def biases(n: int) -> bytes:
        numbers = ", ".join(["0.125"] * n)
        given = f"from A all {{ Biases = [{numbers}]; }}"
        return f"input A [2];\nhidden H [{n}] {given}\noutput B [2] from H all;\n".encode()

    def shared(n: int) -> bytes:
        layers = "".join(f"hidden H{i} [2] from A all;\n" for i in range(n))
        into = " ".join(f"from H{i} all;" for i in range(n))
        shares = "".join(f"share {{ A => H{i}, A => H{i + 1} }}\n" for i in range(0, n - 1, 2))
        return f"input A [2];\n{layers}output B [2] {{ {into} }}\n{shares}".encode()

    def side_by_side(n: int) -> bytes:
        layers = "".join(f"hidden H{i} [2] from A all;\n" for i in range(n))
        into = " ".join(f"from H{i} all;" for i in range(n))
        return f"input A [2];\n{layers}output B [2] {{ {into} }}\n".encode()

    def dense(n: int) -> bytes:
        """Every layer reads all before it, by `n` bundles together."""
        count = math.isqrt(2 * n)
        layers = "".join(
            f"hidden H{i} [2] {{ from A all; {' '.join(f'from H{j} all;' for j in range(i))} }}\n"
            for i in range(count)
        )
        return f"input A [2];\n{layers}output B [2] from H{count - 1} all;\n".encode()

    def condition(n: int, asked: str = "s[0] * d[0] % 7 == 3") -> bytes:
        where = f"where (s, d) => {asked}"
        return (
            f"input A [2];\nhidden G [{n}] from A all;\nhidden H [{n}] from G {where};\n"
            "output B [2] from H all;\n"
        ).encode()

    def in_pairs(n: int) -> bytes:
        """A condition over `n` pairs of nodes."""
        return condition(math.isqrt(n))

    def scattered(n: int) -> bytes:
        """A condition that gives no result for ranges of nodes, over `n` pairs."""
        return condition(math.isqrt(n), "s[0] * s[0] * d[0] % 99991 == 3")

    def kernel(n: int) -> bytes:
        of_one = ", ".join(["1"] * n)
        of_two = ", ".join(["2"] * n)
        return (
            f"input A [2];\nhidden G [{of_two}] from A all;\n"
            f"hidden H [{of_two}] from G convolve {{ InputShape = [{of_two}]; "
            f"KernelShape = [{of_one}]; }}\noutput B [2] from H all;\n"
        ).encode()

    def wide(n: int) -> bytes:
        """Two layers with `n` weights between them."""
        cells = math.isqrt(n)
        return (
            f"input A [2];\nhidden G [{cells}] from A all;\nhidden H [{cells}] from G all;\n"
            "output B [2] from H all;\n"
        ).encode()

    def inputs(n: int) -> bytes:
        layers = "".join(f"input A{i} [2];\n" for i in range(n))
        into = " ".join(f"from A{i} all;" for i in range(n))
        return f"{layers}output B [2] {{ {into} }}\n".encode()

    return [
        *of("inputs", inputs, 2**13, 2**9),
        *of("chained layers", chained, 2**14, 2**10),
        *of("layers side by side", side_by_side, 2**14, 2**9),
        *of("layers that read all before", dense, 2**16, 2**9),
        *of("shared weights", shared, 2**14, 2**9),
        *of("weights", values, 2**19),
        *of("biases", biases, 2**19),
        *of("a condition", condition, 2**15, commands=commands[1:]),
        *of("scattered edges, in pairs", scattered, 2**25, 2**14),
        # What is trained has a weight for each edge.
        *of("a condition, in pairs", in_pairs, 2**25, 2**14, (trained,)),
        *of("dimensions of a kernel", kernel, 24, 2),
        *of("wide layers", wide, 2**26, 2**18),
    ]


BOMBS: tuple[Bomb, ...] = (*_networks(),)
