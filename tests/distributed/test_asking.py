"""What is asked of processes and machines, and what the user sees before any is started."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from argparse import ArgumentParser
from pathlib import Path

import pytest

from netsharp_engine.data import DataError
from netsharp_lsp.__main__ import main
from netsharp_lsp.cli import run
from netsharp_lsp.cli.experiment_run import check_experiment, experiments_meant
from netsharp_lsp.cli.machines import meeting
from netsharp_lsp.cli.machines.emitting import slurm_script
from netsharp_lsp.cli.machines.joining import DisagreementError, agreed, compared, in_turns
from netsharp_lsp.cli.machines.meeting import absent, is_taken, unreachable
from netsharp_lsp.cli.machines.options import Machines, machines_asked
from netsharp_lsp.project.roots import roots_around
from netsharp_lsp.questions import Performance
from netsharp_lsp.settings import Settings
from tests.cntk.training.experiments import made
from tests.distributed.threads import together

IRIS = Path(__file__).parents[2] / "examples" / "iris" / "iris.nn"


def asked(*words: str) -> Machines | str | None:
    parser = ArgumentParser()
    run.add_arguments(parser)
    return machines_asked(parser.parse_args(["net.nn", *words]))


def test_flags_that_go_together():
    assert asked() is None
    assert asked("--procs", "1") is None
    assert asked("--procs", "4") == Machines(4)
    there = ("--rendezvous", "[fe80::1]:29400")
    assert asked("--nodes", "2", "--procs", "3", *there) == Machines(3, 2, "[fe80::1]", 29400)
    assert asked("--nodes", "2", "--emit", "slurm") == Machines(1, 2, emit="slurm")
    assert asked("--procs", "4", "--examine") is None


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--procs", "0"), "numbers from 1 on"),
        (("--check",), "--check goes with --procs N or --nodes N"),
        (("--rendezvous", "a:1"), "--rendezvous goes with"),
        (("--procs", "2", "--rendezvous", "a:1"), "give their number with --nodes"),
        (("--nodes", "2"), "--nodes needs --rendezvous HOST:PORT"),
        (("--nodes", "2", "--rendezvous", "a"), "for example a:29400"),
        (("--nodes", "2", "--rendezvous", "a:70000"), "is HOST:PORT, for example a:29400."),
        (("--nodes", "2", "--rendezvous", "a:"), "for example a:29400."),
        (("--nodes", "2", "--rendezvous", ":"), f"for example {socket.gethostname()}:29400."),
    ],
)
def test_flags_that_do_not(words, sentence):
    told = asked(*words)
    assert isinstance(told, str)
    assert sentence in told


def test_a_batch_file_is_text_that_a_shell_reads(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a net.nn").write_bytes(IRIS.read_bytes())
    words = ("run", "a net.nn", "--procs", "4", "--nodes=2", "--emit", "slurm", "--model", "a'b")
    assert main(words) == 0
    told = capsys.readouterr().out
    assert "#SBATCH --job-name=a_net\n" in told
    assert "#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=1\n#SBATCH --cpus-per-task=4\n" in told
    scontrol = (
        'scontrol() { echo "$3-1"; }; srun() { for word in "$@"; do echo "<$word>"; done; }\n'
    )
    done = subprocess.run(
        ["bash"],
        input=f"{scontrol}SLURM_JOB_NODELIST=n\n{told}",
        text=True,
        capture_output=True,
        check=True,
    )
    assert done.stdout.split("\n")[:-1] == [
        *("<netsharp>", "<run>", "<a net.nn>", "<--model>", "<a'b>", "<--procs>", "<4>"),
        *("<--nodes>", "<2>", "<--rendezvous>", "<n-1:29400>"),
    ]
    assert not list(tmp_path.glob("*.safetensors"))


@pytest.mark.parametrize(
    "name", ["a\nb", "it's", "a\\\n'b", "\udce9", '$HOME `x` "q"', "-lead", "\u2028", "\x1b[2J", ""]
)
def test_any_name_comes_to_a_batch_job_as_it_is(name):
    """On lines without a character that a terminal would take for a command."""
    lines = slurm_script(Machines(1, 2), ("x.nn", "--model", name), "x.nn")
    assert all(line.isprintable() for line in lines)
    shell = 'scontrol() { echo n; }; srun() { printf "%s\\0" "$@"; }\n'
    done = subprocess.run(
        ["bash"], input=os.fsencode(shell + "\n".join(lines)), capture_output=True, check=True
    )
    assert os.fsdecode(done.stdout).split("\0")[3:5] == ["--model", name]


def test_one_machine_of_a_cluster_needs_no_meeting_place():
    lines = slurm_script(Machines(3), ("x.nn", "--emit=slurm", "--procs=3"), "x.nn")
    assert lines[-1] == "srun netsharp run x.nn --procs 3"


def test_names_that_no_one_knows_and_names_that_loop_back(monkeypatch):
    assert unreachable(Machines(2)) is None
    assert unreachable(Machines(1, 2, "127.0.0.1", 9)) is None
    told = unreachable(Machines(1, 2, "no-such-machine.invalid", 9))
    assert told is not None
    assert "no machine is known as 'no-such-machine.invalid'" in told
    monkeypatch.setattr(socket, "gethostname", lambda: "localhost")
    monkeypatch.delenv("GLOO_SOCKET_IFNAME", raising=False)
    told = unreachable(Machines(1, 2, "192.0.2.7", 9))
    assert told is not None
    assert "The name of this machine, localhost, means " in told
    assert "Set GLOO_SOCKET_IFNAME=" in told


def test_an_interface_that_is_chosen_has_to_lead_somewhere(monkeypatch):
    names = {1: "lo", 2: "net0"}
    addresses = {"lo": "127.0.0.1", "net0": "192.0.2.3"}
    monkeypatch.setattr(socket, "if_nameindex", lambda: list(names.items()))
    monkeypatch.setattr(meeting, "_address_of", addresses.get)
    monkeypatch.setattr(socket, "gethostname", lambda: "localhost")
    here, there = Machines(2), Machines(1, 2, "192.0.2.7", 9)
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "net0")
    assert unreachable(here) is unreachable(there) is None
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "eth9")
    for machines in (here, there):
        told = unreachable(machines)
        assert told is not None
        assert "no network interface 'eth9'. It has lo, net0." in told
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "lo")
    told = unreachable(there)
    assert told is not None
    assert "GLOO_SOCKET_IFNAME=lo: its address is 127.0.0.1, which loops back" in told
    assert unreachable(here) is unreachable(Machines(1, 2, "127.0.0.1", 9)) is None


def test_a_port_that_something_has():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        there = Machines(1, 2, "127.0.0.1", other.getsockname()[1])
        assert is_taken(there)
        assert "choose another port" in absent(there, 20, taken=True)
    assert not is_taken(there)
    assert "each machine waits for itself" in absent(there, 20, taken=False)


def test_a_fault_of_one_is_reported_with_its_place_and_that_of_all_once():
    def faulty(ranks, culprits):
        def work():
            if ranks.comm.rank in culprits:
                raise DataError("No file.\nNo hope.")
            return 7

        try:
            return agreed(ranks, work)
        except DisagreementError as error:
            return error.sentences

    host = socket.gethostname()
    assert together(2, lambda ranks: faulty(ranks, ())) == [7, 7]
    one = together(2, lambda ranks: faulty(ranks, (1,)))
    assert one == [(f"Process 1 on {host}: No file.", "No hope.")] * 2
    assert together(2, lambda ranks: faulty(ranks, (0, 1))) == [("No file.", "No hope.")] * 2


def test_versions_have_to_be_equal():
    def compare(ranks):
        with pytest.raises(
            DisagreementError, match=r"not the same version of netsharp: 0\.0 .*1\.0"
        ):
            compared(ranks, "version of netsharp", f"{ranks.comm.rank}.0")

    together(2, compare)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            ("net.cntk", "2:8:3", "2:7:3"),
            r"not the same settings of learn: checksum \w+ \(process 0",
        ),
        (("net.cntk", "0.05:0.02", "0.05:0.01"), "not the same settings of learn: "),
        (("net.cntk", "maxEpochs = 4", ""), r"of reading the configuration: it can .* it cannot"),
        (("data.ctf", "0 0 1 |f", "0 1 0 |f"), r"not the same data: learn 150 samples, checksum"),
        (None, ""),
    ],
)
def test_processes_compare_what_configurations_train(change, sentence, tmp_path, capsys):
    folders = [made(tmp_path / name) for name in ("one", "two")]
    if change is not None:
        path = folders[1] / change[0]
        assert change[1] in path.read_text()
        path.write_text(path.read_text().replace(*change[1:]))
    experiments = experiments_meant(("net.cntk",))
    assert experiments is not None

    def check(ranks):
        items = ("net.cntk", "parallelTrain=true")
        around, known = (lambda names: roots_around(names, ())), (lambda *_: Settings())
        asked = Performance(items, str(folders[ranks.comm.rank]), around, known)
        asked.ranks = ranks
        try:
            return check_experiment(experiments, asked, Machines(1, 2, check=True), ranks)
        except DisagreementError as error:
            return str(error)

    told = together(2, check)
    if change is None:
        assert told == [0, 0]
        lines = capsys.readouterr().out.splitlines()
        assert lines[1].split(": ")[1].startswith("learn 150 samples, checksum ")
    else:
        assert told[0] == told[1]
        assert re.search(sentence, told[0]), told


def test_the_first_of_a_machine_works_before_the_others(monkeypatch):
    """Threads share an environment, so that all are the first here: each works once."""
    monkeypatch.setenv("LOCAL_RANK", "0")
    done = []

    def work(ranks):
        return in_turns(ranks, lambda: done.append(ranks.comm.rank) or ranks.comm.rank)

    assert together(3, work) == [0, 1, 2]
    assert sorted(done) == [0, 1, 2]


def test_nothing_of_torch_is_loaded_where_one_process_trains(tmp_path):
    line = (
        "import sys; from netsharp_lsp.__main__ import main; "
        f"code = main(['run', {str(IRIS)!r}, '--epochs', '1', '--quiet', '--model', 'm'])"
        "; sys.exit(code or ('torch' in sys.modules))"
    )
    subprocess.run([sys.executable, "-P", "-c", line], cwd=tmp_path, check=True)
