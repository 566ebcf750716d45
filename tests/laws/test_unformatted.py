"""Wherever `fmt` says that `check` says why it left something as it is, `check` has an error."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from netsharp_lsp.text.decode import decode_legacy
from tests.cli.command_line import Answer, netsharp
from tests.cntk.collection import FILES
from tests.collection import SAMPLES

#: Longer texts say nothing new.
LONGEST = 2500
SAYS_WHY = re.compile(
    r"netsharp: (\S+): left .* broken, at lines? ([\d, ]+).*'netsharp check' says why\."
)
MARKS = ("<<<<<<< ours\n", "||||||| base\n", "=======\n", ">>>>>>> theirs\n")
SIGNS = (*tuple("()[]{};,=$#'\"<\\"), "/*", "//")
SUFFIXES = {"netsharp": "nn", "cntk": "cntk", "brainscript": "bs", "ndl": "ndl", "mel": "mel"}
HOSTS = {
    "py": ('net = """\n', '"""\n'),
    "R": ("net <- '\n", "'\n"),
    "md": ("```netsharp\n", "```\n"),
}


def sound() -> Iterator[tuple[str, str, str]]:
    """The name, the language and the text of every file of the corpus."""
    for number, sample in enumerate(SAMPLES):
        yield f"{number}", "netsharp", sample.text.decode()
    for file in FILES:
        yield file.name, file.id, decode_legacy(file.data).text.decode()


def damaged(text: str, source: random.Random) -> str:
    """A text cut off, with a stretch lost, a sign or lines too many, or marks of conflicts."""
    at = source.randrange(len(text) + 1)
    lines = text.splitlines(keepends=True)
    kind = source.randrange(5)
    if kind == 0:
        return text[:at]
    if kind == 1:
        return text[:at] + text[at + source.choice((1, 2, 5, 40, 200)) :]
    if kind == 2:
        return text[:at] + source.choice(SIGNS) + text[at:]
    for _ in range(source.choice((1, 2, 3))):
        line = source.choice(MARKS if kind == 3 else lines or [""])
        lines.insert(source.randrange(len(lines) + 1), line)
    return "".join(lines)


def texts(seed: int) -> Iterator[tuple[str, str]]:
    """The names of files and their texts."""
    for number, (name, language, text) in enumerate(sound()):
        # Of a binary file `check` says no more than that.
        if len(text) > LONGEST or "\0" in text:
            continue
        source = random.Random(f"{seed} {name}")
        yield f"{number}.{SUFFIXES[language]}", text
        yield f"{number}d.{SUFFIXES[language]}", damaged(text, source)
        if language == "netsharp" and number % 3 == 0:
            suffix, (before, after) = source.choice(list(HOSTS.items()))
            yield f"{number}h.{suffix}", before + damaged(text, source) + after


def promised(answer: Answer) -> dict[str, list[int]]:
    """The lines of each file of which `fmt` says that `check` says why."""
    found: dict[str, list[int]] = {}
    for line in answer.err.splitlines():
        match = SAYS_WHY.fullmatch(line)
        assert match or "says why" not in line, line
        if match:
            found.setdefault(match[1], []).extend(map(int, re.findall(r"\d+", match[2])))
    return found


@pytest.mark.costly
def test_check_explains_why(seed: int, tmp_path: Path) -> None:
    print("seed", seed)
    names = []
    for name, text in texts(seed):
        # Each is alone in its folder: no run reads another.
        folder = tmp_path / name.replace(".", "_")
        folder.mkdir()
        (folder / name).write_bytes(text.encode())
        names.append(f"{folder.name}/{name}")
    found = promised(netsharp("fmt", "--check", *names, cwd=tmp_path))
    assert len(found) > len(names) / 8
    answer = netsharp("check", "--format", "json", *found, cwd=tmp_path)
    errors: dict[str, list[tuple[int, int]]] = {}
    for one in json.loads(answer.out)["diagnostics"]:
        if one["severity"] == "error":
            lines = (one["start"]["line"], one["end"]["line"])
            errors.setdefault(one["file"], []).append(lines)
    for name, lines in found.items():
        for line in lines:
            near = any(first - 2 <= line <= last + 2 for first, last in errors.get(name, ()))
            assert near, (name, line, errors.get(name), (tmp_path / name).read_text())


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        # CNTK takes these.
        ("a.mel", 'SaveModel(m, "a"', "left as it is where it cannot be put in order, at line 1."),
        (
            "a.cntk",
            "a = 1\n=======\n" + "\n" * 9 + "b = {\nc = 2\n",
            "left as it is where it cannot be put in order, at line 2; the nearest error that "
            "'netsharp check' has is on line 12.",
        ),
    ],
)
def test_nothing_is_promised_where_no_error_is_near(
    name: str, text: str, sentence: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text)
    output = netsharp("fmt", "--check", name, cwd=tmp_path).err
    assert sentence in output
    assert "at line 2; 'netsharp check'" not in output
