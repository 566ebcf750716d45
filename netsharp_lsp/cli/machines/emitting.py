"""The text that a cluster needs to start a run on several machines; nothing is started."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from netsharp_lsp.cli.machines.options import DEFAULT_PORT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from netsharp_lsp.cli.machines.options import Machines

#: Flags of this command line that the command of the cluster does not repeat, each with a value.
_LEFT_OUT = ("--emit", "--rendezvous", "--nodes", "--procs")
#: Seconds before the end of its time in which a run is asked to save.
_WARNING = 120


def slurm_script(machines: Machines, words: Sequence[str], name: str) -> list[str]:
    """Lines of a batch file for Slurm: one task a machine, which starts the processes there."""
    command = f"netsharp run {' '.join(map(_quoted, _kept(words)))}"
    meeting = (
        [
            'HOST=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)',
            f"srun {command} --procs {machines.procs} --nodes {machines.nodes} \\",
            f'  --rendezvous "$HOST:{machines.port or DEFAULT_PORT}"',
        ]
        if machines.nodes > 1
        else [f"srun {command} --procs {machines.procs}"]
    )
    return [
        "#!/bin/bash",
        f"#SBATCH --job-name={_job(name)}",
        f"#SBATCH --nodes={machines.nodes}",
        "#SBATCH --ntasks-per-node=1",
        f"#SBATCH --cpus-per-task={machines.procs}",
        f"#SBATCH --signal=TERM@{_WARNING}",
        "# Add what your cluster wants: --partition, --account, --time, --gpus-per-node.",
        "# After its time has ended, add --resume below and submit the file again.",
        *meeting,
    ]


def _kept(words: Sequence[str]) -> Iterator[str]:
    skips = False
    for word in words:
        if skips:
            skips = False
        elif word in _LEFT_OUT:
            skips = True
        elif not word.startswith(tuple(f"{flag}=" for flag in _LEFT_OUT)):
            yield word


def _quoted(word: str) -> str:
    """Return a word for bash, on one line whatever is in it."""
    if word.isprintable():
        return shlex.quote(word)
    escaped = word.replace("\\", "\\\\").replace("'", "\\'")
    bytes_ = (one if one.isprintable() else _escaped(one) for one in escaped)
    return f"$'{''.join(bytes_)}'"


def _escaped(character: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in os.fsencode(character))


def _job(name: str) -> str:
    """Return a name without what the lines of a batch file would be cut at."""
    stem = os.path.splitext(os.path.basename(name))[0]
    return "".join(each if each.isalnum() or each in "-_." else "_" for each in stem) or "training"
