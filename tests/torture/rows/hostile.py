"""Hostile folders: nothing of theirs runs, nothing outside is read, printed or written."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.torture.campaign import Report, Row, Try
from tests.torture.process import Ended, contents, faults, netsharp

#: The text of a file outside, in forms that a parser of some language would print.
SECRET = "kQ7wXsecret{number}"
NETWORK = "input Image [8, 8];\noutput Digit [10] softmax from Image all;\n"
CONFIGURATION = 'command = Train\nTrain = [ action = "train" ]\n'
#: Programs that a command might start; fakes of them, first on the path, report that.
PROGRAMS = ("git", "ssh", "sh", "bash", "cntk", "python", "python3", "less", "editor", "true")
COMMANDS = (
    ("check", "."),
    ("check", ".", "--format", "json"),
    ("check", "--fix", "."),
    ("check", "a.nn", "exp.cntk"),
    ("fmt", "."),
    ("fmt", "--check", "."),
    ("fmt", "--diff", "."),
    ("describe", "exp.cntk"),
    ("describe", "HEAD:a.nn"),
    ("diff", "HEAD:a.nn", "a.nn"),
    ("diff", "HEAD~1:a.nn", "HEAD:a.nn"),
    ("config", "--list", "."),
    ("migrate", "."),
    ("migrate", "--write", "."),
)


def attempt(one: Try) -> Report:
    """Lay some traps into a folder and use it."""
    chance, outside = one.chance, one.folder.parent
    secret = outside / "secret.txt"
    words = [SECRET.format(number=number) for number in range(6)]
    secret.write_text("\n".join(f"{word} = {word} : [{word}]" for word in words) + "\n")
    (outside / "outside.nn").write_text(
        f"input  {words[0]} [ 3 ] ;\noutput O[2] from {words[0]} all;"
    )
    (outside / "bin").mkdir()
    marker = outside / "marker"
    for name in PROGRAMS:
        path = outside / "bin" / name
        path.write_text(f"#!/bin/bash\necho {name} >> {marker}\nexit 1\n")
        path.chmod(0o755)
    (one.folder / "a.nn").write_text(NETWORK)
    (one.folder / "exp.cntk").write_text(CONFIGURATION)
    for trap in chance.sample(TRAPS, chance.randint(1, 3)):
        trap(one.folder, outside, chance)
    before = {name: data for name, data in contents(outside).items() if not name.startswith("work")}
    environment = {"PATH": f"{outside / 'bin'}:{os.environ['PATH']}"}
    command = chance.choice(COMMANDS)
    done = netsharp(*command, cwd=one.folder, environment=environment)
    return Report(1, _checked(done, outside, before, words))


def _checked(done: Ended, outside: Path, before: dict[str, bytes], words: list[str]) -> list[str]:
    found = faults(done, {0, 1, 2})
    marker = outside / "marker"
    if marker.exists():
        found.append(f"{done}: started {' '.join(marker.read_text().split())}")
    if any(word in done.output for word in words):
        found.append(f"{done}: tells what stands outside")
    now = {name: data for name, data in contents(outside).items() if not name.startswith("work")}
    now.pop("marker", None)
    return found + [f"{done}: wrote {name}" for name in now if now[name] != before.get(name)]


def _repository(folder: Path, outside: Path, chance: random.Random) -> None:
    """A work tree whose own configuration names commands."""
    _git(folder, "init", "-q")
    _git(folder, "add", "a.nn")
    _git(folder, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "one")
    run = f"echo run >> {outside / 'marker'}; false"
    with (folder / ".git" / "config").open("a") as stream:
        stream.write(
            f'[core]\n\tfsmonitor = "{run}"\n\tsshCommand = "{run}"\n\tpager = "{run}"\n'
            f'\tgitProxy = "{run}"\n\taskPass = "{run}"\n\teditor = "{run}"\n'
            f'[diff "x"]\n\ttextconv = "{run}"\n\tcommand = "{run}"\n'
            f'[filter "x"]\n\tclean = "{run}"\n\tsmudge = "{run}"\n'
            "[extensions]\n\tpartialClone = origin\n"
            '[remote "origin"]\n\turl = ssh://nowhere.invalid/x\n\tpromisor = true\n'
        )
    (folder / ".gitattributes").write_text("*.nn diff=x filter=x\n")
    for name in ("post-checkout", "fsmonitor-watchman", "post-index-change"):
        hook = folder / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/bash\n{run}\n")
        hook.chmod(0o755)
    if chance.random() < 0.5:  # As in a clone that left its texts with the other side.
        for path in list((folder / ".git" / "objects").glob("??/*")):
            if chance.random() < 0.5:
                path.unlink()


def _git(folder: Path, *arguments: str) -> None:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(
        ["git", *arguments], cwd=folder, env=environment, capture_output=True, check=True
    )


def _link(folder: Path, outside: Path, chance: random.Random) -> None:
    name = chance.choice(("link.nn", "link.cntk", "link.ndl", "link.bs", "link.mel", "link.sh"))
    target = chance.choice((outside / "secret.txt", outside / "outside.nn"))
    (folder / name).symlink_to(chance.choice((target, Path(os.path.relpath(target, folder)))))


def _linked_folder(folder: Path, outside: Path, _chance: random.Random) -> None:
    shelf = outside / "shelf"
    shelf.mkdir(exist_ok=True)
    (shelf / "b.nn").write_bytes((outside / "outside.nn").read_bytes())
    (folder / "shelf").symlink_to(shelf)


def _settings(folder: Path, outside: Path, chance: random.Random) -> None:
    place = _place(folder, outside, chance)
    (folder / "netsharp.toml").write_text(f'[[cntk.run]]\nfiles = ["exp.cntk", "{place}"]\n')


def _baseline(folder: Path, outside: Path, chance: random.Random) -> None:
    (folder / "netsharp.toml").write_text(f'baseline = "{_place(folder, outside, chance)}"\n')


def _script(folder: Path, outside: Path, chance: random.Random) -> None:
    place = _place(folder, outside, chance)
    (folder / "go.sh").write_text(f"cntk configFile=exp.cntk configFile={place}\n")


def _included(folder: Path, outside: Path, chance: random.Random) -> None:
    place = _place(folder, outside, chance)
    text = chance.choice(
        (
            f'include = "{place}"\n{CONFIGURATION}',
            f'command = T\nT = [ action = "train"\n'
            f'BrainScriptNetworkBuilder = (include "{place}")\n]\n',
            f'command = T\nT = [ action = "train"\n'
            f'NDLNetworkBuilder = [ networkDescription = "{place}" ]\n]\n',
            f'command = E\nE = [ action = "edit" ; editPath = "{place}" ]\n',
        )
    )
    (folder / "exp.cntk").write_text(text)


def _run_file(folder: Path, outside: Path, chance: random.Random) -> None:
    place = _place(folder, outside, chance)
    (folder / "a.toml").write_text(f'[data]\ntrain = "{place}"\nlabel = "x"\n')


def _place(folder: Path, outside: Path, chance: random.Random) -> str:
    """A way to write where the secret lies."""
    target = outside / "secret.txt"
    if chance.random() < 0.3:
        (folder / "inner").symlink_to(outside) if not (folder / "inner").is_symlink() else None
        return "inner/secret.txt"
    return str(target) if chance.random() < 0.5 else os.path.relpath(target, folder)


TRAPS: tuple[Callable[[Path, Path, random.Random], None], ...] = (
    _repository,
    _link,
    _linked_folder,
    _settings,
    _baseline,
    _script,
    _included,
    _run_file,
)

ROW = Row(
    "hostile",
    "folders whose git configuration, settings, scripts, includes, run files and links name "
    "commands and files outside: nothing is started, read, told or written",
    attempt,
)
