"""No command starts a program of others, opens a connection or imports a module of the folder.

The folder tries all that is known: a configuration of git that names programs, modules with the
names of ours, a git among its files. Every Python that runs reports what it starts (PEP 578), and
where strace is installed the system is asked, too.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command_line import clean_environment
from tests.integrations.checkout import git
from tests.server.wire import Wire

EXAMPLES = Path(__file__).parents[2] / "examples"
NETSHARP = (sys.executable, "-P", "-m", "netsharp_lsp")
NETWORK = "input A [2];\nhidden H [3] tanh from A all;\noutput B [1] sigmoid from H all;\n"
#: Modules that are imported somewhere, by ours, by Python itself or by a library.
MODULES = (
    *("numpy", "json", "pickle", "parso", "dulwich", "pygls", "rich", "safetensors", "hashlib"),
    *("multiprocessing", "tempfile", "asyncio", "netsharp_engine", "netsharp_lsp", "usercustomize"),
)
#: Keys of git whose value is a command line.
PROGRAMS = (
    *("core.fsmonitor", "core.sshCommand", "core.pager", "core.editor", "core.gitProxy"),
    *("diff.external", "filter.f.clean", "filter.f.smudge", "filter.f.process", "diff.d.textconv"),
    *(
        "credential.helper",
        "gpg.program",
        "uploadpack.packObjectsHook",
        "core.alternateRefsCommand",
    ),
)
#: Imported by every Python of ours through PYTHONPATH: reports its actions and its command line.
REPORTER = """\
import json, os, sys

def report(event, said):
    if event in EVENTS or event.startswith("socket."):
        text = json.dumps([event, repr(said), list(map(str, said[1])) if event == POPEN else []])
        with os.fdopen(os.open(LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT), "w") as log:
            log.write(text + chr(10))

EVENTS = {"os.exec", "os.posix_spawn", "os.spawn", "os.system", "os.startfile", "pty.spawn",
          "webbrowser.open", "urllib.Request", "subprocess.Popen"}
POPEN = "subprocess.Popen"
LOG = os.environ["REPORTED"]
sys.addaudithook(report)
"""
#: What asyncio makes for itself: sockets that are connected to no peer.
HARMLESS = {"socket.__new__"}

COMMANDS: tuple[tuple[str, ...], ...] = (
    ("check", "."),
    ("check", "--embedded", "--fix", "."),
    ("fmt", "."),
    ("fmt", "--check", "many"),
    ("check", "many"),
    ("explain", "NS074"),
    ("describe", "net.nn"),
    ("describe", "HEAD:net.nn"),
    ("describe", "titles.cntk"),
    ("describe", "HEAD:titles.cntk"),
    ("diff", "HEAD:net.nn", "net.nn"),
    ("diff", "HEAD:titles.cntk", "titles.cntk"),
    ("config", "titles.cntk"),
    ("config", "--list", "."),
    ("migrate", "titles.cntk"),
    ("migrate", "--write", "titles.cntk"),
    ("run", "iris.nn", "--epochs", "2", "--quiet", "--plot", "curve.svg"),
    ("predict", "iris.safetensors", "--data", "iris.csv"),
    ("evaluate", "iris.safetensors", "--data", "iris.csv"),
    ("weights", "iris.safetensors"),
    ("describe", "iris.safetensors"),
)


class Trap:
    """A hostile folder; `marker` is what any of its traps writes."""

    def __init__(self, root: Path) -> None:
        self.root = root / "opened"
        self.marker = root / "marker"
        self.log = root / "reported"
        self.reporter = root / "reporter"

    def environment(self) -> dict[str, str]:
        more = {"PYTHONPATH": str(self.reporter), "REPORTED": str(self.log)}
        return clean_environment() | more

    def reported(self) -> list[tuple[str, str, list[str]]]:
        """What our Pythons did since the last question, without what is harmless."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        reported = [tuple(json.loads(line)) for line in lines]
        return [each for each in reported if each[0] not in HARMLESS]

    def assert_untouched(self) -> None:
        assert not self.marker.exists(), self.marker.read_text()


@pytest.fixture(scope="module")
def trap(tmp_path_factory: pytest.TempPathFactory) -> Trap:
    made = Trap(tmp_path_factory.mktemp("trap"))
    root = made.root
    (root / "many").mkdir(parents=True)
    for name in ("iris.nn", "iris.toml", "iris.csv"):
        shutil.copy(EXAMPLES / "iris" / name, root)
    for name in ("titles.cntk", "titles.ndl"):
        shutil.copy(EXAMPLES / "cntk" / name, root)
    (root / "net.nn").write_text(NETWORK)
    (root / "old.nn").write_text(NETWORK)
    (root / ".gitignore").write_text("old[.]nn\n")
    for each in range(60):
        (root / "many" / f"{each}.nn").write_text(NETWORK)
    git(root, "init", "--quiet")
    git(root, "add", "--force", ".")
    git(root, "commit", "--quiet", "--message", "first")
    bait = f'echo "$0 $*" >> {made.marker}; false'
    for key in PROGRAMS:
        git(root, "config", key, bait)
    hooks = root / ".git" / "hooks"
    for name in ("post-index-change", "fsmonitor-watchman", "reference-transaction"):
        (hooks / name).write_text(f"#!/bin/sh\n{bait}\n")
        (hooks / name).chmod(0o755)
    for name in MODULES:
        (root / f"{name}.py").write_text(f"open({str(made.marker)!r}, 'a').write({name!r})\n")
    (root / "git").write_text(f"#!/bin/sh\n{bait}\n")
    (root / "git").chmod(0o755)
    made.reporter.mkdir()
    (made.reporter / "sitecustomize.py").write_text(REPORTER)
    return made


def is_own_python(words: Sequence[str]) -> bool:
    return words[0] == sys.executable and "-P" in words[:2]


def session(trap: Trap, trusted: bool, command: Sequence[str] = NETSHARP) -> None:
    """What an editor does with a folder: opens documents of all kinds, asks, trains."""
    wire = Wire([*command, "lsp"], cwd=trap.root, env=trap.environment())
    try:
        folder = {"uri": trap.root.as_uri(), "name": "opened"}
        options: dict[str, Any] = {"trusted": trusted}
        root = trap.root.as_uri()
        wire.initialize(rootUri=root, workspaceFolders=[folder], initializationOptions=options)
        large = NETWORK.replace("[3]", "[3]" + " " * 30_000)
        for name, language, text in (
            ("net.nn", "netsharp", NETWORK),
            ("large.nn", "netsharp", large),
            ("titles.cntk", "cntk", (trap.root / "titles.cntk").read_text()),
            ("titles.ndl", "ndl", (trap.root / "titles.ndl").read_text()),
            ("a.py", "python", f'NET = """\n{NETWORK}"""\n'),
        ):
            uri = (trap.root / name).as_uri()
            wire.open(uri, text, language)
            wire.published(uri)
            document = {"textDocument": {"uri": uri}}
            wire.request("textDocument/documentSymbol", document)
            wire.request(
                "textDocument/hover", {**document, "position": {"line": 1, "character": 8}}
            )
            wire.exchange("netsharp/graph", document)
        wire.request("workspace/symbol", {"query": "A"})
        started = wire.exchange(
            "netsharp/run", {"textDocument": {"uri": (trap.root / "iris.nn").as_uri()}}
        )
        assert ("error" in started) is not trusted
        if trusted:
            wire.wait(lambda heard: (heard.get("params") or {}).get("event") == "end")
        assert wire.stop() == 0
    finally:
        wire.process.kill()
        wire.process.wait()


@pytest.mark.skipif(os.name == "nt", reason="the bait is written for a shell")
def test_git_itself_falls_for_the_folder(trap: Trap) -> None:
    subprocess.run(["git", "status"], cwd=trap.root, capture_output=True, check=False)
    assert trap.marker.exists()
    trap.marker.unlink()


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_commands_start_our_python_alone(command: tuple[str, ...], trap: Trap) -> None:
    done = subprocess.run(
        [*NETSHARP, *command], cwd=trap.root, env=trap.environment(), capture_output=True, text=True
    )
    assert done.returncode in (0, 1), done.stderr
    assert "internal error" not in done.stderr
    trap.assert_untouched()
    assert trap.reported() == []


@pytest.mark.costly
@pytest.mark.parametrize("trusted", [False, True], ids=["untrusted", "trusted"])
def test_a_session_starts_our_python_alone(trap: Trap, trusted: bool) -> None:
    session(trap, trusted)
    trap.assert_untouched()
    reported = trap.reported()
    assert all(event == "subprocess.Popen" for event, _, _ in reported), reported
    assert all(is_own_python(words) for _, _, words in reported), reported
    assert any("netsharp_lsp.server.jobs.worker" in words for _, _, words in reported)


def test_python_with_m_leaves_the_folder_alone_once_it_has_found_us(trap: Trap) -> None:
    (trap.root / "netsharp_lsp.py").rename(trap.root / "away")
    try:
        for command in (("check", "--embedded", "."), ("describe", "HEAD:net.nn")):
            words = [sys.executable, "-m", "netsharp_lsp", *command]
            subprocess.run(words, cwd=trap.root, env=trap.environment(), capture_output=True)
            trap.assert_untouched()
    finally:
        (trap.root / "away").rename(trap.root / "netsharp_lsp.py")


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_processes_that_share_the_work_import_nothing_of_the_folder(
    method: str, trap: Trap, tmp_path: Path
) -> None:
    """As on macOS and Windows, and everywhere from Python 3.14 on."""
    if method == "forkserver" and os.name == "nt":
        pytest.skip("Windows has no fork server")
    program = tmp_path / "netsharp"
    program.write_text(
        "import multiprocessing, os, sys\n"
        "from netsharp_lsp.__main__ import main\n"
        "if __name__ == '__main__':\n"
        f"    multiprocessing.set_start_method({method!r})\n"
        "    from netsharp_lsp.cli.inputs import workers\n"
        "    workers._processors = lambda: 2\n"
        "    sys.exit(main(['check', 'many']))\n"
    )
    words = [sys.executable, str(program)]
    done = subprocess.run(words, cwd=trap.root, env=trap.environment(), capture_output=True)
    trap.assert_untouched()
    assert done.returncode == 0, done.stderr
    assert b"60 files checked" in done.stdout + done.stderr


CALL = re.compile(r"^\d+\s+(\w+)\((.*)")


def calls(log: Path) -> Iterator[tuple[str, str]]:
    for line in log.read_text(errors="replace").splitlines():
        found = CALL.match(line)
        if found is not None:
            yield found[1], found[2]


def strace(log: Path) -> list[str]:
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed; the audit hooks have looked")
    traced = "trace=execve,execveat,connect,sendto,sendmsg,socket"
    return ["strace", "-f", "-q", "-s", "200", "-e", traced, "-o", str(log)]


def assert_own_python(log: Path) -> None:
    for name, reported in calls(log):
        if name.startswith("exec"):
            assert reported.startswith(f'"{sys.executable}"'), reported
        elif name == "socket":
            assert reported.startswith("AF_UNIX"), reported
        else:
            # asyncio wakes itself through a pair of sockets; those calls name no address.
            assert "sa_family" not in reported, reported


@pytest.mark.costly
def test_the_system_sees_our_python_alone(trap: Trap, tmp_path: Path) -> None:
    log = tmp_path / "trace"
    for command in COMMANDS:
        words = [*strace(log), *NETSHARP, *command]
        subprocess.run(words, cwd=trap.root, env=trap.environment(), capture_output=True)
        assert any(name == "execve" for name, _ in calls(log))
        assert_own_python(log)
    trap.assert_untouched()


@pytest.mark.costly
@pytest.mark.parametrize("trusted", [False, True], ids=["untrusted", "trusted"])
def test_the_system_sees_our_python_alone_in_a_session(
    trap: Trap, trusted: bool, tmp_path: Path
) -> None:
    log = tmp_path / "trace"
    session(trap, trusted, [*strace(log), *NETSHARP])
    assert sum(name == "execve" for name, _ in calls(log)) > 1
    assert_own_python(log)
    trap.assert_untouched()
