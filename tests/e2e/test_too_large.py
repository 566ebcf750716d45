"""Networks larger than any machine: described as far as it goes, refused in a sentence."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command_line import Answer, clean_environment
from tests.e2e.test_faults import one_sentence
from tests.e2e.workshop import LABELLED

#: So much memory a command may ask for here.
BYTES = 6 << 30
HUGE = {
    "filter": "hidden H [999999999999] from I where (s, d) => s[0] == d[0] % 7;",
    "separable": "hidden H [999999999999] from I where (s, d) => s[0] == 3;",
    "full": "hidden H [99999999999] tanh from I all;",
}


def limited(folder: Path, *arguments: str) -> Answer:
    done = subprocess.run(
        [sys.executable, "-m", "netsharp_lsp", *arguments],
        cwd=folder,
        capture_output=True,
        check=False,
        timeout=60,
        env=clean_environment(),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES)),
    )
    return Answer(done.returncode, done.stdout, done.stderr)


@pytest.mark.costly
@pytest.mark.parametrize("kind", HUGE)
def test_a_network_beyond_all_memory(kind: str, folder: Path) -> None:
    text = f"input I [64];\n{HUGE[kind]}\noutput O [10] softmax from H all;\n"
    (folder / "huge.nn").write_text(text)
    assert limited(folder, "check", "huge.nn", "--fail-on", "error").code == 0
    described = limited(folder, "describe", "huge.nn", "--format", "json")
    assert described.code == 0
    connections = json.loads(described.out)["layers"][1]["bundles"][0]["connections"]
    known = {"filter": None, "separable": 999999999999, "full": 64 * 99999999999}
    assert connections == known[kind]
    assert limited(folder, "diff", "huge.nn", "huge.nn").code == 0
    run = ("run", "huge.nn", "--train", "digits.csv", *LABELLED, "--quiet")
    one_sentence(limited(folder, *run), "memory", "smaller")
