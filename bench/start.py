"""Cold start of an installed wheel beside bare Python and black.

The wheel is built from this checkout and installed into an environment of its own, as a person
gets it: an editable install would double the start of Python itself.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv

import generate
from measure import Command, headline, in_turns, left_out, verdict

ROUNDS = 25
LINES = 100
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NOT_SOURCES = shutil.ignore_patterns(
    ".*", "build", "dist", "out", "node_modules", "*.egg-info", "*.so", "__pycache__", "tests"
)
BOUNDS = {"netsharp fmt --check": 5.5, "netsharp fmt - (ugly)": 5.5, "netsharp check": 7.3}


def install(folder: str) -> str:
    """Build the wheel and install it with its dependencies; the environment's bin folder."""
    source, wheels, home = (os.path.join(folder, name) for name in ("source", "wheels", "venv"))
    shutil.copytree(ROOT, source, ignore=NOT_SOURCES)
    pip = (sys.executable, "-m", "pip", "--quiet")
    _run(*pip, "wheel", "--no-deps", "--wheel-dir", wheels, source)
    (wheel,) = os.listdir(wheels)
    venv.create(home, with_pip=False, symlinks=True)
    python = os.path.join(home, "bin", "python")
    _run(*pip, "--python", python, "install", os.path.join(wheels, wheel))
    for peer in ("black", "taplo", "ruff"):
        try:
            _run(*pip, "--python", python, "install", peer)
        except RuntimeError as error:
            left_out(peer, error)
    return os.path.join(home, "bin")


def _run(*words: str) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip()[-400:]}")


def measure(folder: str, binaries: str) -> bool:
    """Print the figures; whether every bound is met."""
    ugly, neat = (os.path.join(folder, name) for name in ("ugly.nn", "neat.nn"))
    for path in (ugly, neat):
        with open(path, "wb") as stream:
            stream.write(generate.netsharp(LINES))
    netsharp = os.path.join(binaries, "netsharp")
    _run(netsharp, "fmt", neat)
    commands = {
        "python -c pass": Command((os.path.join(binaries, "python"), "-c", "pass")),
        "netsharp --version": Command((netsharp, "--version")),
        "netsharp fmt --check": Command((netsharp, "fmt", "--check", neat)),
        "netsharp fmt - (ugly)": Command((netsharp, "fmt", "-"), stdin=ugly),
        "netsharp check": Command((netsharp, "check", neat)),
    }
    black = os.path.join(binaries, "black")
    if os.path.exists(black):
        commands["black --version"] = Command((black, "--version"))
    headline(f"Cold start, wheel installed, {LINES} lines of Net#: medians of {ROUNDS} turns")
    in_turns(commands, 2)
    found = in_turns(commands, ROUNDS)
    bare = found["python -c pass"]
    print(f"  {'':<24} {'CPU':>8} {'wall':>9}  CPU beside bare Python")
    ratios = {name: took.cpu / bare.cpu for name, took in found.items()}
    for name, took in found.items():
        cpu, wall = f"{took.cpu * 1e3:5.1f} ms", f"{took.wall * 1e3:6.1f} ms"
        print(f"  {name:<24} {cpu} {wall}  {ratios[name]:5.2f} times")
    met = [
        verdict(f"{name}, times bare Python", ratios[name], bound, at_most=True)
        for name, bound in BOUNDS.items()
    ]
    return all(met)
