"""Crowds: folders of very many files, whose check takes time by the file and memory by the name."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.torture.campaign import Report, Row, Scale, Try
from tests.torture.process import Ended, faults, start

#: Networks and configurations in a folder.
SIZES = {
    Scale.GLANCE: {"networks": 300, "configurations": 60},
    Scale.SHORT: {"networks": 3_000, "configurations": 600},
    Scale.LONG: {"networks": 100_000, "configurations": 10_000},
}
#: The least files a second on two cores without other work, computed from CPU time.  A long
#: campaign checks that; what a short one measures on a shared machine differs by half, so it
#: counts the calls of functions for each further file, which other work does not change.
RATE = 300
MOST_CALLS = {"networks": 3_500, "configurations": 28_000}
#: This number of files is compared with twice as many: few enough for one process.
COUNTED = 10
COUNT = """
import sys
calls = 0
def count(frame, event, argument):
    global calls
    calls += event in ("call", "c_call")
sys.argv = ["netsharp", "check", "."]
from netsharp_lsp.__main__ import main
sys.setprofile(count)
try:
    main()
except SystemExit:
    pass
sys.setprofile(None)
print(calls)
"""
#: The factor of CPU time that twice the files may take; both in the best of `TRIES` tries.
MOST_GROWTH = 2.5
TRIES = 3
CORES = 2
#: Memory of the greatest process for a file of which there is nothing to say: its names, and for
#: a configuration its run, too, since all of them belong together.
BYTES_PER_FILE = {"networks": 600, "configurations": 2_400}
#: Bytes of growth that cannot be distinguished from noise.
NOISE = 3 << 20
#: The number of configurations that one script starts; all of them share a network.
PER_SCRIPT = 100
NETWORK = """\
// Network {number}.
const N = {nodes};
input Image [{rows}, 8];
hidden Full [N] tanh from Image all;
output Digit [10] softmax from Full all;
"""
CONFIGURATION = """\
command = Train
modelPath = "models/{number}.dnn"
include=base.cntk
Train = {{
    action = "train"
    BrainScriptNetworkBuilder = {{
        include "shared.bs"
        features = Input {{{size}}}
        labels = Input {{3}}
        z = Linear (features, {size}, 3)
        ce = CrossEntropyWithSoftmax (labels, z)
        featureNodes = (features) ; labelNodes = (labels)
        criterionNodes = (ce) ; outputNodes = (z)
    }}
    SGD = {{
        epochSize = 0 ; minibatchSize = {size} ; maxEpochs = 3 ; learningRatesPerMB = 0.1
    }}
    reader = {{
        readerType = "CNTKTextFormatReader" ; file = "train.txt"
        input = {{
            features = {{ dim = {size} ; format = "dense" }}
            labels = {{ dim = 3 ; format = "dense" }}
        }}
    }}
}}
"""
SHARED = """\
Linear (x, inDim, outDim) = {
    W = ParameterTensor {(outDim:inDim)}
    b = ParameterTensor {outDim, init = "fixedValue", value = 0}
    z = W * x + b
}.z
"""


def attempt(one: Try) -> Report:
    """Check a folder, and one of twice the size; a glance has too few files for figures."""
    kind = ("networks", "configurations")[one.number % 2]
    write = {"networks": write_networks, "configurations": write_configurations}[kind]
    most = SIZES[one.scale][kind]
    folders = [one.folder / str(count) for count in (most // 2, most)]
    for count, folder in zip((most // 2, most), folders, strict=True):
        write(folder, count)
    half, whole = map(_checked, folders)
    found = [fault for one in (half, whole) for fault in faults(one, {0})]
    checked = one.scale is Scale.LONG
    for _ in range(TRIES - 1):
        fast = not checked or _rate(most, whole) >= RATE
        if whole.cpu <= MOST_GROWTH * half.cpu and fast:
            break
        # Whatever else the machine does adds to a time and takes nothing from it.
        half, whole = (
            min(known, _checked(folder), key=lambda one: one.cpu)
            for known, folder in zip((half, whole), folders, strict=True)
        )
    rate = _rate(most, whole)
    grown = (whole.memory - half.memory - NOISE) / (most - most // 2)
    if one.scale is Scale.GLANCE:
        return Report(2, found)
    calls = _calls(one.folder, write)
    if calls > MOST_CALLS[kind]:
        allowed = MOST_CALLS[kind]
        found.append(f"{kind}: {calls:,.0f} calls of functions for each, not {allowed:,}")
    if checked and rate < RATE:
        found.append(f"{most:,} {kind}: {rate:.0f} a second on {CORES} cores, not {RATE}")
    if grown > BYTES_PER_FILE[kind]:
        allowed = BYTES_PER_FILE[kind]
        found.append(f"{most:,} {kind}: {grown:,.0f} bytes of memory for each, not {allowed:,}")
    if whole.cpu > MOST_GROWTH * half.cpu:
        found.append(f"{most:,} {kind}: {whole.cpu:.1f} s, half of them {half.cpu:.1f} s")
    figure = (
        f"{most:,} {kind}: {rate:,.0f} a second by CPU time on {CORES} cores, "
        f"{most / whole.wall:,.0f} by this clock, {whole.memory >> 20} MiB, "
        f"half of them {half.memory >> 20} MiB, {calls:,.0f} calls of functions for each"
    )
    return Report(2, found, (figure,))


def _rate(count: int, ended: Ended) -> float:
    """Files a second, by the time of processors."""
    return count * min(CORES, os.cpu_count() or 1) / ended.cpu


def _calls(folder: Path, write: Callable[[Path, int], None]) -> float:
    """Calls of functions for each further file of a folder."""
    counted = []
    for count in (COUNTED, 2 * COUNTED):
        place = folder / f"counted{count}"
        write(place, count)
        done = subprocess.run(
            (sys.executable, "-P", "-c", COUNT), cwd=place, capture_output=True, text=True
        )
        counted.append(int(done.stdout.split()[-1]))
    return (counted[1] - counted[0]) / COUNTED


def _checked(folder: Path) -> Ended:
    return start("check", ".", cwd=folder, cpu_seconds=3_600).watch()


def write_networks(folder: Path, count: int) -> None:
    """Write networks into folders of a thousand."""
    for number in range(count):
        place = folder / f"{number // 1000:03}"
        if number % 1000 == 0:
            place.mkdir(parents=True)
        text = NETWORK.format(number=number, nodes=number % 50 + 1, rows=4 + number % 8)
        (place / f"net{number:06}.nn").write_text(text, encoding="utf-8")


def write_configurations(folder: Path, count: int) -> None:
    """Write configurations that share what they include, half of them started by scripts."""
    folder.mkdir(parents=True)
    (folder / "base.cntk").write_text("precision = float\ntraceLevel = 1\n")
    (folder / "shared.bs").write_text(SHARED)
    (folder / "train.txt").write_text("|features 1 |labels 1 0 0\n")
    for number in range(count):
        text = CONFIGURATION.format(number=number, size=number % 100 + 1)
        (folder / f"exp{number:05}.cntk").write_text(text, encoding="utf-8")
    for first in range(0, count // 2, PER_SCRIPT):
        lines = (f"cntk configFile=exp{n:05}.cntk\n" for n in range(first, first + PER_SCRIPT))
        (folder / f"run{first:05}.sh").write_text("".join(lines))


ROW = Row(
    "crowds",
    "`check .` of 100,000 networks and of 10,000 configurations with scripts and a shared network "
    "(a short campaign: 3,000 and 600): 300 files a second, memory flat but for names",
    attempt,
)
