"""No text makes the parsers of the CNTK languages slow, hang or fail: a child process with limits.

`CNTK_FUZZ=N` tries N texts per language in place of a few thousand.
"""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cntk.collection import FILES
from tests.cntk.trees import PARSERS
from tests.costs import assert_measured, least

ROOT = Path(__file__).parents[2]
COUNT = int(os.environ.get("CNTK_FUZZ", "3000"))
#: Seconds of processor time and bytes of memory; an endless run of empty tokens takes either.
LIMITS = ((resource.RLIMIT_CPU, 20 + COUNT // 200), (resource.RLIMIT_AS, 2 << 30))
WORDS = {
    "brainscript": b"""( ) [ ] { } [| |] = == => , ; : . .. + - * / .* ** && || < > ! new if then
        else array true false include with x1 3 2.5 0x 1e 'a' " ' # // /* */ **/ $x$ $ |""".split(),
    "cntk": b'( ) [ ] { } = , ; : * # " x1 3 a.b $x$ BrainScriptNetworkBuilder SGD f ( [ {'.split(),
}
ODD = [
    b"\0",
    b"\xff",
    b"\xc3\xa9",
    b"\xe2\x86\x92",
    b"\xc2\xa0",
    b"\xef\xbb\xbf",
    b"\n",
    b"\r\n",
    b"\t",
]
SOUND = {
    "brainscript": b"""layer%d (x, a = 3) = {
  W = Parameter {10, 20} // go
  z = W * x + f (a, b = 2).y[3]
  q[i:0..4] = if i == 0 then 1 else q[i-1] }
""",
    "cntk": b"""layer%d = [
  action = train  # go
  x = Plus(Times(W, x), b, init = "uniform")
  SGD = { maxEpochs = 3 ; lr = 0.1*3:0.2 }
]
""",
}
TOPS = [b"[", b"{", b"(", b'"', b"a = (", b"a = f(", b"/*", b"BrainScriptNetworkBuilder = ("]
RUNS = [b"[", b"(", b"f(", b"f (g ", b"a=", b"w ", b'"\n', b"\"'\n", b"if ", b"x=>", b"x={", b"]"]
RUNS += [b"(]", b"-", b".", b"1..", b"a+", b"/* ", b"# \n", b"(\na=", b"[}", b"\r", b"\0", b"a #"]
EVERY = [(language, text) for language in PARSERS for text in (*TOPS, *RUNS)]


def texts(language: str, chance: random.Random) -> list[bytes]:
    """Random bytes, random tokens, and files of the corpus with random edits."""
    found = []
    sound = [file.data for file in FILES if file.language == language and len(file.data) < 2000]
    for _ in range(COUNT):
        size = chance.choice((3, 8, 30, 150))
        kind = chance.random()
        if kind < 0.15:
            found.append(chance.randbytes(size * 3))
        elif kind < 0.7:
            words = [chance.choice((*WORDS[language], *ODD)) for _ in range(size)]
            found.append(chance.choice((b"", b" ")).join(words))
        else:
            text = chance.choice(sound)
            for _ in range(chance.choice((1, 3))):
                at = chance.randrange(len(text) + 1)
                more = chance.choice((b"", chance.choice(WORDS[language]), chance.choice(ODD)))
                text = text[:at] + more + text[at + chance.choice((0, 0, 1, 5)) :]
            found.append(text)
    return found


def campaign(language: str) -> None:
    for text in texts(language, random.Random(11)):
        root = PARSERS[language].parse(text).root_node
        assert root.end_byte <= len(text), text
        # Every token of a configuration has a place in its grammar.
        assert language != "cntk" or not root.has_error, text


@pytest.mark.parametrize("language", PARSERS)
def test_any_text_is_parsed_to_its_end(language: str) -> None:
    def limit() -> None:
        for what, most in LIMITS:
            resource.setrlimit(what, (most, most))

    program = f"from tests.grammar.test_cntk_hostile import campaign; campaign({language!r})"
    # The child finds what this process has found: the installed parsers, not the sources.
    paths = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": paths},
        preexec_fn=limit,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]


def seconds(language: str, text: bytes) -> float:
    return least(PARSERS[language].parse, text)


def sound(language: str) -> bytes:
    return b"".join(SOUND[language] % number for number in range(2000))


@pytest.mark.parametrize(("language", "top"), [one for one in EVERY if one[1] in TOPS])
def test_a_fault_at_the_top_of_ten_thousand_lines(language: str, top: bytes) -> None:
    source = sound(language)
    assert_measured(
        lambda: (seconds(language, source), seconds(language, top + b"\n" + source)),
        lambda costs: costs[1] < 2 * costs[0] + 0.02,
    )


@pytest.mark.parametrize(("language", "run"), [one for one in EVERY if one[1] in RUNS])
def test_long_runs_take_time_by_their_length(language: str, run: bytes) -> None:
    assert_measured(
        lambda: (seconds(language, run * 5000), seconds(language, run * 10000)),
        lambda costs: costs[1] < 3.5 * costs[0] + 0.02,
    )


@pytest.mark.parametrize("language", PARSERS)
def test_one_long_line_is_no_slower_than_many(language: str) -> None:
    source = sound(language)
    line = source.replace(b"// go", b"").replace(b"# go", b"").replace(b"\n", b" ; ")
    assert_measured(
        lambda: (seconds(language, source), seconds(language, line)),
        lambda costs: costs[1] < 2.5 * costs[0] + 0.02,
    )
