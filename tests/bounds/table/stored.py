"""Bombs of files of settings and results: baselines, run files, notebooks."""

from __future__ import annotations

import json
from collections.abc import Callable

from tests.bounds.bombs import Bomb, Files, of_files
from tests.bounds.table.trained import HEADER, NETWORK, ROWS, TRAIN


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


BOMBS: tuple[Bomb, ...] = (*_stored(),)
