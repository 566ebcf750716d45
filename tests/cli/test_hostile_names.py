"""Files, arguments and values of hostile names in every command: a line stays one, all is seen."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import unicodedata
from pathlib import Path

import pytest

from netsharp_lsp.__main__ import main

if os.name == "nt":
    pytest.skip("Windows allows none of these names", allow_module_level=True)

FAULTY = "input A [0];\n"
CLEAN = "input D [2];\nhidden H [5] sigmoid from D all;\noutput O [2] softmax from H all;\n"
CONFIGURATION = (
    "command = T\nT = { action = train ; modelPath = m ; BrainScriptNetworkBuilder = "
    "{ f = Input {2} ; z = Tanh (f) ; outputNodes = (z) } ; reader = [ readerType = X ] }\n"
)
OLD = (
    'command = T\nT = [ action = train\n NDLNetworkBuilder = [ networkDescription = "%s.ndl" ] ]\n'
)
NAMES = {
    "escape": "\x1b[2Jx",
    "line": "a\nb:1:1: error NS001 forged",
    "return": "a\rb",
    "bytes": "\udcff\udc80",
    "command": "::error::x",
    "direction": "\u202eevil",
}
#: `@` stands for the name. JSON is asked for where a command has it.
COMMANDS = (
    *(("check", f"@{end}") for end in (".nn", ".cntk", ".old.cntk", ".ndl", ".mel", ".bs", ".py")),
    ("check", "."),
    ("check", "@"),
    ("check", "--verbose", "."),
    ("check", "@.nn", "--diff"),
    ("check", "@.nn", "--select", "@"),
    ("check", "@.nn", "--baseline", "@.json", "--update-baseline"),
    ("check", "@.nn", "--baseline", "@.json"),
    ("check", "@.nn", "--data", "@.csv", "--label", "@"),
    ("check", "@.nn", "--output-file", "no/@"),
    ("check", "@.nn", "--@"),
    ("check", "@.nn", "--format", "@"),
    ("check", "@.cntk", "--set", "a=@"),
    ("check", "@.cntk", "--set", "@"),
    ("fmt", "--check", "."),
    ("fmt", "--diff", "@.nn"),
    ("fmt", "@"),
    ("fmt", "@.nn", "--lines", "@"),
    ("describe", "@ok.nn"),
    ("describe", "@.cntk"),
    ("describe", "@.cntk", "--format", "markdown"),
    ("describe", "@.cntk", "--format", "dot"),
    ("describe", "@.cntk", "--format", "svg"),
    ("describe", "@.cntk", "--command", "@"),
    ("describe", "@.cntk", "--log", "@"),
    ("describe", "@"),
    ("diff", "@ok.nn", "@ok.nn"),
    ("diff", "@.cntk", "@.old.cntk"),
    ("diff", "@", "@"),
    ("config", "@.cntk"),
    ("config", "a=@"),
    ("config", "a=1", "--get", "@"),
    ("config", "@.cntk", "--command", "@"),
    ("config", "--list", "."),
    ("config", "configFile=@"),
    ("config", "@.cntk", "@.cntk"),
    ("config", "--cd", "@", "a=1"),
    ("migrate", "@.old.cntk"),
    ("migrate", "@"),
    ("explain", "@"),
    ("help", "@"),
    ("@",),
    ("run", "@ok.nn", "--train", "@"),
    ("run", "@ok.nn", "--train", "@.csv", "--label", "@"),
    ("run", "@ok.nn", "--train", "@.csv", "--show-settings"),
    ("run", "@ok.nn", "--run-file", "@"),
    ("weights", "@"),
    ("predict", "@", "--data", "@"),
    ("lsp", "--tcp", "@"),
)
JSON_TOO = ("check", "describe", "diff", "config", "migrate")


def answered(*arguments: str) -> tuple[int, str, str]:
    """What a command prints to a stream as the command line makes them."""
    streams = [
        io.TextIOWrapper(io.BytesIO(), "utf-8", errors="backslashreplace", write_through=True)
        for _ in range(2)
    ]
    with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
        code = main(list(arguments))
    out, err = (stream.buffer.getvalue().decode() for stream in streams)  # type: ignore[attr-defined]
    return code, out, err


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.costly
def test_commands_show_names_as_they_are_spelt(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = NAMES[kind]
    monkeypatch.chdir(tmp_path)
    texts = {
        ".nn": FAULTY,
        "ok.nn": CLEAN,
        ".cntk": CONFIGURATION,
        ".old.cntk": OLD % name,
        ".ndl": "f=Input(2)\nz=Tanh(f)\nq=Nope(z)\nOutputNodes=(z)\n",
        ".mel": "model1=LoadModel(x)\n",
        ".bs": "f = Input {2}\nq = Nope (f)\n",
        ".csv": "a,b,y\n0.1,1,p\n0.2,1,q\n",
        ".py": f'import netsharp\nx = """\n{FAULTY}"""\nnetsharp.check(x)\n',
    }
    for end, text in texts.items():
        Path(name + end).write_bytes(text.encode("utf-8", "surrogateescape"))
    for command in COMMANDS:
        forms = ((), ("--format", "json")) if command[0] in JSON_TOO else ((),)
        for form in forms:
            if form and "--format" in command:
                continue
            arguments = [*(word.replace("@", name) for word in command), *form]
            code, out, err = answered(*arguments)
            assert code in (0, 1, 2), command
            assert "internal error" not in err, (command, err)
            acting = [
                one
                for one in out + err
                if one != "\n" and unicodedata.category(one) in ("Cc", "Cf", "Cs", "Zl", "Zp")
            ]
            assert not acting, (command, form, acting[:5])
            if command == ("config", "a=@"):
                continue  # The text after a line end in an assignment is a key of its own.
            lines = (out + err).split("\n")
            assert not [it for it in lines if it.startswith(("b:1:1: error", "::error::x:"))], (
                command
            )
            if form and out.strip():
                json.dumps(json.loads(out), ensure_ascii=False).encode()


def test_someones_text_is_exact_in_a_pipe_and_visible_on_a_terminal(tmp_path: Path) -> None:
    import pty
    import subprocess

    command = [sys.executable, "-m", "netsharp_lsp", "config", "a=\x1bc\u202e", "--get", "a"]
    piped = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    assert piped.stdout == "\x1bc\u202e\n".encode()
    ours, theirs = pty.openpty()
    subprocess.run(command, cwd=tmp_path, stdout=theirs, check=True)
    os.close(theirs)
    with open(ours, "rb", buffering=0) as terminal:
        assert terminal.read(200) == b"\\x1bc\\u202e\r\n"
