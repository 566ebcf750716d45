"""Bombs of several files: includes, settings, baselines, and what flags say."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator

from tests.bounds.bombs import Bomb, Files, of_files


def _files() -> list[Bomb]:
    """Bombs of several files: includes, settings, baselines, and what flags say."""

    def doubling(n: int) -> Files:
        files = {
            f"i{i}.bs": f"include 'i{i + 1}.bs'\ninclude 'i{i + 1}.bs'\n".encode() for i in range(n)
        }
        brain = "[ action = train ; BrainScriptNetworkBuilder = [ include 'i0.bs' ] ]"
        return {**files, f"i{n}.bs": b"a = 1\n", "a.cntk": f"command = T\nT = {brain}".encode()}

    def in_file(n: int) -> Files:
        network = 'new ComputationNetwork [ include "i0.bs" ]'
        brain = f"[ action = train ; BrainScriptNetworkBuilder = ( {network} ) ]"
        return {**doubling(n), "a.cntk": f"command = T\nT = {brain}".encode()}

    def of_configurations(n: int) -> Files:
        files = {
            f"i{i}.cntk": f"include=i{i + 1}.cntk\ninclude=i{i + 1}.cntk\n".encode()
            for i in range(n)
        }
        return {**files, f"i{n}.cntk": b"a = 1\n", "a.cntk": b"include=i0.cntk\n"}

    def of_long_ones(n: int) -> Files:
        include = b"include=long.cntk\n" * n
        return {"a.cntk": include, "long.cntk": b"a = 1\n" * n}

    def of_long_scripts(lines: int) -> Files:
        """The same lines in each of the includes: what they say has to be reported."""
        n = math.isqrt(lines)
        include = "include 'long.bs'\n" * n
        brain = f"[ action = train ; BrainScriptNetworkBuilder = [ {include} ] ]"
        return {"a.cntk": f"command = T\nT = {brain}".encode(), "long.bs": b"a = 1\n" * n}

    def of_many(n: int) -> Files:
        """`n` files of some thousand words each, which a configuration includes."""
        include = "".join(f"include=i{i}.cntk\n" for i in range(n))
        return {"a.cntk": include.encode(), **dict(parts(n, "cntk"))}

    def of_many_scripts(n: int) -> Files:
        """The same, included by a network."""
        include = "".join(f"include 'i{i}.bs'\n" for i in range(n))
        brain = f"[ action = train ; BrainScriptNetworkBuilder = [ {include} ] ]"
        return {"a.cntk": f"command = T\nT = {brain}".encode(), **dict(parts(n, "bs"))}

    def parts(n: int, suffix: str) -> Iterator[tuple[str, bytes]]:
        for i in range(n):
            yield f"i{i}.{suffix}", "".join(f"k{i}x{j} = 1\n" for j in range(2_000)).encode()

    def with_settings(text: Callable[[int], bytes]) -> Callable[[int], Files]:
        return lambda n: {"a.nn": b"input A [2];\n", "netsharp.toml": text(n)}

    def stars(n: int) -> Files:
        name = "a/" * 30
        pattern = f'exclude = ["{"**/" * n}b", "{"*a" * n}b", "{"**/a" * n}/b"]\n'
        return {"a" * 60 + ".nn": f"// {name}".encode(), "netsharp.toml": pattern.encode()}

    def baseline(n: int) -> Files:
        known = {"version": 1, "findings": {f"a{i}.nn": [] for i in range(n)}}
        return {"a.nn": b"input A [2];\n", "base.json": json.dumps(known).encode()}

    def settings(name: str, text: Callable[[int], bytes], most: int) -> list[Bomb]:
        return of_files("settings", name, "check a.nn", with_settings(text), most)

    def many_runs(n: int) -> Files:
        return {"a.cntk": b"command = T\n", "netsharp.toml": of_runs(n)}

    def of_runs(n: int) -> bytes:
        return b'[[cntk.run]]\nfiles = ["a.cntk"]\n' * n

    return [
        *of_files("cntk", "includes that double", "check a.cntk", doubling, 32, 2),
        *of_files("cntk", "includes that double", "describe a.cntk", doubling, 32, 2),
        *of_files("cntk", "includes that double", "migrate a.cntk", doubling, 32, 2),
        *of_files("cntk", "includes that double", "check i0.bs", doubling, 32, 2),
        *of_files("cntk", "includes that double in a record", "check a.cntk", in_file, 32, 2),
        *of_files(
            "cntk",
            "includes of configurations that double",
            "check a.cntk",
            of_configurations,
            32,
            2,
        ),
        *of_files(
            "cntk",
            "includes of configurations that double",
            "config a.cntk",
            of_configurations,
            32,
            2,
        ),
        *of_files("cntk", "includes of a long file", "check a.cntk", of_long_ones, 2**13, 64),
        *of_files(
            "cntk", "includes of a long script", "check a.cntk", of_long_scripts, 2**24, 2**10
        ),
        *of_files("cntk", "includes of many files", "check a.cntk", of_many, 2**9, 2),
        *of_files("cntk", "includes of many files", "config a.cntk", of_many, 2**9, 2),
        *of_files("cntk", "includes of many scripts", "check a.cntk", of_many_scripts, 2**9, 2),
        *of_files("settings", "stars", "check .", stars, 64, 1),
        *of_files("settings", "a baseline", "check --baseline base.json a.nn", baseline, 2**18),
        *settings("brackets", lambda n: b"select = " + b"[" * n, 2**21),
        *settings("braces", lambda n: b"select = " + b"{a=" * n, 2**21),
        *settings("codes", lambda n: b"select = [" + b'"NS001",' * n + b"]", 2**18),
        *settings("unknown codes", lambda n: b"select = [" + b'"XX001",' * n + b"]", 2**18),
        *settings("a long unknown code", lambda n: b'select = ["' + b"X" * n + b'"]', 2**21),
        *settings("a long unknown key", lambda n: b"x" * n + b" = 1", 2**21),
        *settings("a long value", lambda n: b'task = "' + b"x" * n + b'"', 2**21),
        *settings("a list for a text", lambda n: b"task = [" + b"1," * n + b"]", 2**20),
        *settings("unknown keys", lambda n: b"".join(b"k%d = 1\n" % i for i in range(n)), 2**18),
        *settings("patterns", lambda n: b"exclude = [" + b'"a*b/**/c",' * n + b"]", 2**14),
        *settings("dots in a key", lambda n: b"a" + b".a" * n + b" = 1", 2**20),
        *settings("comments", lambda n: b"#\n" * n, 2**21),
        *settings("runs", of_runs, 2**16),
        *of_files("settings", "many runs", "check .", many_runs, 100_000, 12_500),
        *settings("a deep table", lambda n: b"[a" + b".a" * n + b"]", 2**20),
        *settings("quotes", lambda n: b'"' * n, 2**20),
        *settings("a long number", lambda n: b"features = " + b"9" * n, 2**20),
    ]


BOMBS: tuple[Bomb, ...] = (*_files(),)
