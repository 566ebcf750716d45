"""Bombs that are no text of a language: tables, models, values, chains of layers, long reports.

`DATA_BOMBS` has one bomb for each command that has to answer one of them.
"""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from functools import cache

from tests.bounds.bombs import MEBI, Bomb, Files, of_files

NETWORK = b"input A auto;\nhidden H [2] from A all;\noutput B auto from H all;\n"
HEADER, ROWS = b"x,y,label\n", b"1,2,a\n2,1,b\n" * 4
TRAIN = "run a.nn --label label --epochs 1 --batch-size 8 --quiet --model m.safetensors --train"
KNOWS = "--label label --task multiclass --data"
#: What is done with a table; the model knows the columns x, y and label.
ON_TABLES = (
    f"{TRAIN} TABLE",
    "predict small.safetensors --quiet --data TABLE",
    "evaluate small.safetensors --quiet --data TABLE",
    f"describe a.nn {KNOWS} TABLE",
    f"check a.nn {KNOWS} TABLE",
)


@cache
def small_model() -> bytes:
    """A model of the columns x, y and label, with the values that its file begins with."""
    import tempfile
    from pathlib import Path

    from netsharp_lsp.__main__ import main

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "a.nn").write_bytes(NETWORK)
        (place / "t.csv").write_bytes(HEADER + ROWS)
        model = place / "small.safetensors"
        options = f"--label label --epochs 1 --quiet --model {model} --train {place / 't.csv'}"
        assert main(["run", str(place / "a.nn"), *options.split()]) == 0
        return model.read_bytes()


def taken_apart(model: bytes) -> tuple[dict[str, object], bytes]:
    """The header of a model's file, and its numbers."""
    size = int.from_bytes(model[:8], "little")
    return json.loads(model[8 : 8 + size]), model[8 + size :]


def put_together(header: dict[str, object], numbers: bytes) -> bytes:
    """The opposite of `taken_apart`."""
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + numbers


def of_table(
    name: str, table: Callable[[int], bytes], most: int, least: int = 64, file: str = "t.csv"
) -> list[Bomb]:
    """Bombs of one table for everything that reads tables."""

    def files(size: int) -> Files:
        return {"a.nn": NETWORK, file: table(size), "small.safetensors": small_model()}

    return [
        bomb
        for command in ON_TABLES
        for bomb in of_files("table", name, command.replace("TABLE", file), files, most, least)
    ]


def _delimited() -> list[Bomb]:
    def columns(n: int) -> bytes:
        names = b",".join(b"c%d" % i for i in range(n))
        return names + b",x,y,label\n" + (b"1," * n + b"1,2,a\n" + b"2," * n + b"2,1,b\n") * 4

    def bare_columns(n: int) -> bytes:
        return (b"1," * n + b"1,2,0\n" + b"2," * n + b"2,1,1\n") * 4

    def labels(n: int) -> bytes:
        return HEADER + b"".join(b"1,2,l%d\n" % i for i in range(n))

    def levels(n: int) -> bytes:
        return HEADER + b"".join(b"v%d,2,%d\n" % (i, i % 2) for i in range(n))

    def compressed(n: int) -> bytes:
        return gzip.compress(HEADER + ROWS + b"1,2,a\n" * n, 1)

    def of_zeros(n: int) -> bytes:
        return gzip.compress(HEADER + ROWS + b"\0" * n, 1)

    return [
        *of_table("a line of digits", lambda n: HEADER + ROWS + b"1" * n + b",2,a\n", 2**23),
        *of_table("a line of cells", lambda n: HEADER + ROWS + b"1," * n + b"a\n", 2**22),
        *of_table("a line without an end", lambda n: HEADER + ROWS + b"x" * n, 2**25),
        *of_table("a first line without an end", lambda n: b"x" * n, 2**25),
        *of_table("a long name", lambda n: b"x" * n + HEADER + ROWS, 2**22),
        *of_table("columns", columns, 2**16),
        *of_table("columns without names", bare_columns, 2**16),
        *of_table("columns of one name", lambda n: b"x," * n + HEADER + ROWS, 2**20),
        *of_table("a bad cell behind rows", lambda n: HEADER + ROWS * n + b"1,bad,a\n", 2**17),
        *of_table("a short row behind rows", lambda n: HEADER + ROWS * n + b"1\n", 2**17),
        *of_table("a bad byte behind rows", lambda n: HEADER + ROWS * n + b"1,2,\xff\n", 2**17),
        *of_table("an open quote before rows", lambda n: HEADER + b'"1,2,a\n' + ROWS * n, 2**18),
        *of_table("an open quote in a name", lambda n: b'"' + HEADER + ROWS * n, 2**18),
        *of_table("an open quote behind rows", lambda n: HEADER + ROWS * n + b'1,"2,a\n', 2**17),
        *of_table("open quotes", lambda n: HEADER + ROWS + b'1,2,"a\n' * n, 2**20),
        *of_table("quotes", lambda n: HEADER + ROWS + b'"' * n, 2**23),
        *of_table("quoted cells", lambda n: HEADER + b'"1","2","a"\n' * n, 2**17),
        *of_table("a long cell", lambda n: HEADER + ROWS + b'1,2,"' + b"x" * n + b'"\n', 2**22),
        *of_table(
            "a cell of lines", lambda n: HEADER + ROWS + b'1,2,"' + b"\n" * n + b'"\n', 2**22
        ),
        *of_table("long labels", lambda n: HEADER + ROWS + b"1,2," + b"x" * n + b"\n", 2**22),
        *of_table("a long number", lambda n: HEADER + ROWS + b"1,1e" + b"9" * n + b",a\n", 2**22),
        *of_table("zero bytes", lambda n: HEADER + ROWS + b"\0" * n, 2**23),
        *of_table("rows of zero bytes", lambda n: HEADER + ROWS + b"\0,\0,\0\n" * n, 2**20),
        *of_table("labels", labels, 2**17),
        *of_table("levels", levels, 2**17),
        *of_table("blank lines", lambda n: HEADER + ROWS + b"\n" * n, 2**22),
        *of_table("blank rows", lambda n: HEADER + ROWS + b" , ,\n" * n, 2**19),
        *of_table("returns", lambda n: (HEADER + ROWS).replace(b"\n", b"\r") + b"\r" * n, 2**22),
        *of_table("missing cells", lambda n: HEADER + ROWS + b"1,,a\n" * n, 2**18),
        *of_table("compressed rows", compressed, 2**18, file="t.csv.gz"),
        *of_table("compressed zero bytes", of_zeros, 2**25, file="t.csv.gz"),
    ]


def _parquet() -> list[Bomb]:
    def written(**columns: object) -> bytes:
        import pyarrow as pa
        from pyarrow import parquet

        stream = io.BytesIO()
        parquet.write_table(pa.table(columns), stream)
        return stream.getvalue()

    def row_group(n: int) -> bytes:
        import pyarrow as pa

        numbers = pa.array([0.0]).take(pa.array([0] * n))
        return written(
            x=numbers, y=numbers, label=pa.array(["a", "b"] * (n // 2) + ["a"] * (n % 2))
        )

    def nested(n: int) -> bytes:
        import pyarrow as pa

        value: object = 1.0
        for _ in range(min(n, 60)):
            value = [value]
        return written(x=pa.array([value] * 8), y=[1.0] * 8, label=["a", "b"] * 4)

    def long_list(n: int) -> bytes:
        return written(x=[[1.0] * n] * 8, y=[1.0] * 8, label=["a", "b"] * 4)

    def labels(n: int) -> bytes:
        return written(x=[1.0] * n, y=[2.0] * n, label=[f"l{i}" for i in range(n)])

    def long_labels(n: int) -> bytes:
        return written(x=[1.0] * 8, y=[2.0] * 8, label=["a" * n, "b" * n] * 4)

    def repeated_labels(n: int) -> bytes:
        """One text of a MiB in a dictionary, which every row names."""
        return written(
            x=[1.0] * n, y=[2.0] * n, label=["a" * MEBI, "b"] * (n // 2) + ["b"] * (n % 2)
        )

    def columns(n: int) -> bytes:
        some = {f"c{i}": [1.0] * 8 for i in range(n)}
        return written(**some, x=[1.0] * 8, y=[2.0] * 8, label=["a", "b"] * 4)

    def lying(n: int) -> bytes:
        """A table whose footer declares so many times its rows."""
        return written(x=[1.0] * 8, y=[2.0] * 8, label=["a", "b"] * 4)[: -8 - n]

    def of(name: str, table: Callable[[int], bytes], most: int, least: int = 64) -> list[Bomb]:
        return of_table(f"Parquet: {name}", table, most, least, file="t.parquet")

    return [
        *of("a row group", row_group, 2**21),
        *of("nested lists", nested, 64, 2),
        *of("long lists", long_list, 2**18),
        *of("labels", labels, 2**17),
        *of("long labels", long_labels, 2**21),
        *of("a repeated label", repeated_labels, 2**10, 8),
        *of("columns", columns, 2**12, 16),
        *of("cut off", lying, 256, 2),
    ]


def _models() -> list[Bomb]:
    commands = (
        "weights --list small.safetensors",
        "weights --spec small.safetensors",
        "describe small.safetensors",
        "predict small.safetensors --quiet --data t.csv",
    )

    def of(name: str, model: Callable[[int], bytes], most: int, least: int = 64) -> list[Bomb]:
        def files(n: int) -> Files:
            return {"small.safetensors": model(n), "t.csv": HEADER + ROWS}

        return [
            bomb
            for command in commands
            for bomb in of_files("model", name, command, files, most, least)
        ]

    def header(change: Callable[[dict[str, object], int], None]) -> Callable[[int], bytes]:
        def made(n: int) -> bytes:
            head, numbers = taken_apart(small_model())
            change(head, n)
            return put_together(head, numbers)

        return made

    def entry(name: str, text: Callable[[int], str]) -> Callable[[int], bytes]:
        def change(head: dict[str, object], n: int) -> None:
            known = head["__metadata__"]
            assert isinstance(known, dict)
            known[name] = text(n)

        return header(change)

    def tensors(head: dict[str, object], n: int) -> None:
        head |= {f"t{i}": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]} for i in range(n)}

    def dimensions(head: dict[str, object], n: int) -> None:
        head["t"] = {"dtype": "F32", "shape": [0] * n, "data_offsets": [0, 0]}

    def overflow(head: dict[str, object], n: int) -> None:
        head["t"] = {"dtype": "F32", "shape": [2**62] * (n + 2), "data_offsets": [0, 0]}

    def declared(n: int) -> bytes:
        return n.to_bytes(8, "little") + b"{" * min(n, 64)

    def entries(head: dict[str, object], n: int) -> None:
        known = head["__metadata__"]
        assert isinstance(known, dict)
        known |= {f"k{i}": "1" for i in range(n)}

    return [
        *of("a long header of blanks", header(lambda head, n: None), 1, 1),
        *of("a header of letters", lambda n: n.to_bytes(8, "little") + b"a" * n, 2**27),
        *of("a header of brackets", lambda n: n.to_bytes(8, "little") + b"[" * n, 2**24),
        *of("a declared header", declared, 2**62),
        *of("tensors", header(tensors), 2**17),
        *of("dimensions", header(dimensions), 2**20),
        *of("shapes that overflow", header(overflow), 2**16),
        *of("entries", header(entries), 2**18),
        *of("a long entry", entry("answer", lambda n: "[" + "1," * n + "1]"), 2**20),
        *of("brackets in an entry", entry("answer", lambda n: "[" * n), 2**22),
        *of("a long number", entry("answer", lambda n: f"[{'9' * n}]"), 2**21),
        *of("a long version", entry("version", lambda n: "9" * n), 2**21),
        *of("a long specification", entry("specification", lambda n: json.dumps("/" * n)), 2**22),
        *of("layers", entry("specification", lambda n: json.dumps(chained(n).decode())), 2**12),
        *of("keys in settings", entry("settings", keys), 2**17),
        *of("history", entry("history", lambda n: json.dumps([{"epoch": 1}] * n)), 2**17),
    ]


def keys(n: int) -> str:
    """An object of so many keys."""
    return json.dumps({f"k{i}": i for i in range(n)})


def chained(n: int) -> bytes:
    """So many layers, each behind the one before."""
    layers = "".join(f"hidden H{i} [2] from {f'H{i - 1}' if i else 'A'} all;\n" for i in range(n))
    return f"input A [2];\n{layers}output B [2] from H{n - 1} all;\n".encode()


def _networks() -> list[Bomb]:
    def of(name: str, text: Callable[[int], bytes], most: int, least: int = 64) -> list[Bomb]:
        def files(n: int) -> Files:
            return {"a.nn": text(n), "t.csv": HEADER + ROWS}

        commands = (
            f"{TRAIN} t.csv",
            "describe a.nn",
            "check a.nn",
            "fmt --check a.nn",
            "describe --format json a.nn",
            "diff a.nn a.nn",
        )
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
        """Every layer reads all before it."""
        layers = "".join(
            f"hidden H{i} [2] {{ from A all; {' '.join(f'from H{j} all;' for j in range(i))} }}\n"
            for i in range(n)
        )
        return f"input A [2];\n{layers}output B [2] from H{n - 1} all;\n".encode()

    def condition(n: int) -> bytes:
        where = "where (s, d) => s[0] * d[0] % 7 == 3"
        return (
            f"input A [2];\nhidden G [{n}] from A all;\nhidden H [{n}] from G {where};\n"
            "output B [2] from H all;\n"
        ).encode()

    def kernel(n: int) -> bytes:
        of_one = ", ".join(["1"] * n)
        of_two = ", ".join(["2"] * n)
        return (
            f"input A [2];\nhidden G [{of_two}] from A all;\n"
            f"hidden H [{of_two}] from G convolve {{ InputShape = [{of_two}]; "
            f"KernelShape = [{of_one}]; }}\noutput B [2] from H all;\n"
        ).encode()

    def wide(n: int) -> bytes:
        return (
            f"input A [2];\nhidden G [{n}] from A all;\nhidden H [{n}] from G all;\n"
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
        *of("layers that read all before", dense, 2**9),
        *of("shared weights", shared, 2**14, 2**9),
        *of("weights", values, 2**19),
        *of("biases", biases, 2**19),
        *of("a condition", condition, 2**15),
        *of("dimensions of a kernel", kernel, 24, 2),
        *of("wide layers", wide, 2**20),
    ]


def _findings() -> list[Bomb]:
    def lines(n: int) -> bytes:
        return b"input A [2];\n" + b"hidden A [2] from Missing all;\n" * n

    def one_line(n: int) -> bytes:
        return b"input A [2];" + b"hidden A [2] from Missing all;" * n

    def accented(n: int) -> bytes:
        return "/* é */ input A [2];".encode() + b"hidden A [2] from Missing all;" * n

    def hints(n: int) -> bytes:
        return b"input A [2];\n" + b"".join(b"hidden H%d [2] from A all;\n" % i for i in range(n))

    found: list[Bomb] = []
    for name, text, most in (
        ("findings on lines", lines, 2**17),
        ("findings on a line", one_line, 2**17),
        ("findings on an accented line", accented, 2**17),
        ("hints", hints, 2**16),
    ):
        least = 2**13

        def files(n: int, text: Callable[[int], bytes] = text) -> Files:
            known = {"file": "a.nn", "code": "NS030", "line": "x", "count": 1}
            baseline = {"version": 1, "diagnostics": [known]}
            return {"a.nn": text(n), "base.json": json.dumps(baseline).encode()}

        for form in ("text", "concise", "json", "sarif", "github", "gitlab", "junit"):
            command = f"check --format {form} a.nn"
            found += of_files("report", f"{name}, {form}", command, files, most, least)
        for command in (
            "check --statistics a.nn",
            "check --baseline base.json a.nn",
            "check --baseline base.json --update-baseline a.nn",
            "check --fix a.nn",
            "check --unsafe-fixes a.nn",
            "check --unsafe-fixes --diff a.nn",
        ):
            least = 2**9 if "fix" in command else 2**13
            said = command.removeprefix("check --").removesuffix(" a.nn")
            found += of_files("report", f"{name}, {said}", command, files, most, least)
    return found


def _stored() -> list[Bomb]:
    """Files of settings and of results."""

    def baseline(n: int) -> Files:
        entries = ",".join(
            f'{{"file":"f{i}.nn","code":"NS001","line":"x","count":1}}' for i in range(n)
        )
        text = f'{{"version":1,"diagnostics":[{entries}]}}'
        return {"a.nn": b"input A [2];\n", "base.json": text.encode()}

    def long_line(n: int) -> Files:
        entry = f'{{"file":"a.nn","code":"NS001","line":"{"x" * n}","count":1}}'
        return {
            "a.nn": b"input A [2];\n",
            "base.json": f'{{"version":1,"diagnostics":[{entry}]}}'.encode(),
        }

    def run_file(text: Callable[[int], bytes]) -> Callable[[int], Files]:
        return lambda n: {"a.nn": NETWORK, "t.csv": HEADER + ROWS, "a.toml": text(n)}

    def notebook(source: Callable[[int], list[dict[str, object]]]) -> Callable[[int], Files]:
        def files(n: int) -> Files:
            cells = {"cells": source(n), "nbformat": 4, "nbformat_minor": 5, "metadata": {}}
            return {"a.ipynb": json.dumps(cells).encode()}

        return files

    def cell(text: str) -> dict[str, object]:
        return {
            "cell_type": "code",
            "metadata": {},
            "outputs": [],
            "execution_count": None,
            "source": [text],
        }

    def outputs(n: int) -> list[dict[str, object]]:
        shown = {"output_type": "stream", "name": "stdout", "text": ["x" * n]}
        return [{**cell("a = 1\n"), "outputs": [shown]}]

    train = f"{TRAIN} t.csv"
    table = [
        *of_files("stored", "a baseline", "check --baseline base.json a.nn", baseline, 2**19),
        *of_files("stored", "a line", "check --baseline base.json a.nn", long_line, 2**23),
    ]
    for name, text, most in (
        ("unknown keys", lambda n: b"".join(b"k%d = 1\n" % i for i in range(n)), 2**17),
        ("keys", lambda n: b"[data]\n" + b"".join(b"k%d = 1\n" % i for i in range(n)), 2**17),
        ("comments", lambda n: b"#\n" * n, 2**22),
        ("files", lambda n: b"[data]\ntest = [" + b'"t.csv",' * n + b"]", 2**12),
        ("missing files", lambda n: b"[data]\ntest = [" + b'"u.csv",' * n + b"]", 2**18),
        ("brackets", lambda n: b"[data]\ntrain = " + b"[" * n, 2**20),
        ("dots", lambda n: b"a" + b".a" * n + b" = 1", 2**20),
        ("a long value", lambda n: b'[train]\noptimizer = "' + b"x" * n + b'"\n', 2**22),
        ("a long number", lambda n: b"[train]\nepochs = " + b"9" * n + b"\n", 2**22),
        ("categorical", lambda n: b"[data]\ncategorical = [" + b'"x",' * n + b"]", 2**18),
    ):
        table += of_files("stored", f"run file: {name}", train, run_file(text), most)
    for name, source, most in (
        ("cells", lambda n: [cell("a = 1\n")] * n, 100_000),
        ("cells of Net#", lambda n: [cell('s = """input A [2];"""\n')] * n, 2**13),
        ("a long line", lambda n: [cell("x" * n)], 2**22),
        ("outputs", outputs, 2**23),
    ):
        for command in ("check a.ipynb", "fmt --check a.ipynb"):
            table += of_files("stored", f"notebook: {name}", command, notebook(source), most)
    return table


DATA_BOMBS: tuple[Bomb, ...] = (
    *_delimited(),
    *_parquet(),
    *_models(),
    *_networks(),
    *_findings(),
    *_stored(),
)
