"""Bombs of findings: reports, baselines, fixes."""

from __future__ import annotations

import json
from collections.abc import Callable

from tests.bounds.bombs import Bomb, Files, of_files


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
        least = 2**11

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
            least = 2**9 if "fix" in command else 2**11
            reported = command.removeprefix("check --").removesuffix(" a.nn")
            found += of_files("report", f"{name}, {reported}", command, files, most, least)
    return found


BOMBS: tuple[Bomb, ...] = (*_findings(),)
