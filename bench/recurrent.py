"""Training of sequence classification as CNTK describes it, beside PyTorch eager.

    python bench/recurrent.py [--rounds 7] [--seconds 0.5] [--only SMALL|LARGE]

Sentences of 5 to 40 words, 3,000 of which there are, one of six classes each: an embedding, an
LSTM, its last output, a dense layer.  One process, one thread each, rounds in turns, CPU time.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable

import numpy as np
import peer_recurrent
from measure import headline, left_out, verdict

from netsharp_engine.cntk.starts import started
from netsharp_engine.graph import Graph
from netsharp_engine.packing import packed
from netsharp_engine.program import Batch, Job, Packed, Sparse, UpdateRule
from netsharp_engine.tensor_backend import TensorDraft, TensorProgram
from netsharp_lsp.cntk.brainscript.evaluation.program import Surroundings, evaluate_builder
from netsharp_lsp.cntk.library import own_library
from netsharp_lsp.cntk.run.files import RunFiles
from netsharp_lsp.cntk.training.networks.lowering import Seeds, lowered
from netsharp_lsp.workspace import GivenFiles, Run

WORDS, SHORTEST, LONGEST, BATCHES = 3000, 5, 40, 8
NETWORK = """{
    sentences = DynamicAxis ()
    word = Input {%d, sparse=true}
    kind = Input {6, sparse=true, dynamicAxis=sentences}
    embed = EmbeddingLayer {%d}
    last = BS.Sequences.Last (RecurrentLSTMLayer {%d} (embed (word)))
    z = LinearLayer {6} (ReconcileDynamicAxis (last, kind))
    ce = CrossEntropyWithSoftmax (kind, z)
    featureNodes = (word)
    labelNodes = (kind)
    criterionNodes = (ce)
}"""
#: Width of the embedding, cells, words a minibatch, and how many times PyTorch's rate it must be.
CASES = {
    "SMALL": [(40, 32, 240, 2.5), (40, 32, 2000, 1.6)],
    "LARGE": [(128, 256, 240, 1.5), (128, 256, 2000, 1.8)],
}
LONG, LONG_CELLS = (1_000, 10_000), 64
Minibatch = tuple[list[np.ndarray], np.ndarray]


def drawn(words: int) -> list[Minibatch]:
    """Minibatches of about so many words."""
    random = np.random.default_rng(1)
    found: list[Minibatch] = []
    for _ in range(BATCHES):
        lengths: list[int] = []
        while sum(lengths) < words:
            lengths.append(int(random.integers(SHORTEST, LONGEST + 1)))
        sentences = [random.integers(WORDS, size=one) for one in lengths]
        found.append((sentences, random.integers(6, size=len(lengths))))
    return found


def built(text: str) -> tuple[Graph, dict[str, np.ndarray]]:
    """A network, from its text to the engine's graph and how its parameters begin."""
    surroundings = Surroundings({}.get, own_library(), ())
    network = evaluate_builder(text.encode(), "bench.bs", surroundings).network
    assert network is not None
    starts = Seeds().starts(network, "BrainScript", RunFiles(GivenFiles({}), Run(())))
    values = {
        name: started(network.nodes[name].shape or (), start, "float32")
        for name, start in starts.items()
    }
    return lowered(network, [network.nodes["ce"]], [network.nodes["ce"]]), values


def program_of(width: int, cells: int, rows: int) -> TensorProgram:
    """Ready to train."""
    graph, values = built(NETWORK % (WORDS, width, cells))
    program = TensorDraft(Job(graph, rows, "float32", rule())).program()
    program.load(values)
    return program


def rule() -> UpdateRule:
    """Momentum, as their optimiser has it but for CNTK's unit gain."""
    return UpdateRule("smoothed", peer_recurrent.RATE / 100, peer_recurrent.MOMENTUM)


def batch_of(sentences: list[np.ndarray], kinds: np.ndarray) -> Batch:
    """As the reader hands it over."""
    packing = packed(np.array([len(one) for one in sentences]))
    columns = np.full(packing.columns, -1)
    columns[packing.places] = np.concatenate(sentences)
    there = columns >= 0
    ones = np.ones(packing.samples, np.float32)
    starts = np.zeros(packing.columns + 1, np.intp)
    np.cumsum(there, out=starts[1:])
    words = Sparse(ones, columns[there], starts)
    last = packed(np.ones(len(kinds), np.intp))
    classes = Sparse(np.ones(len(kinds), np.float32), kinds, np.arange(len(kinds) + 1))
    return Batch({"word": Packed(words, packing), "kind": Packed(classes, last)}, expected=1.0)


def engine_step(width: int, cells: int, minibatches: list[Minibatch]) -> Callable[[], object]:
    """Ours: packing, feeding, forward, backward, update."""
    program, update, turn = program_of(width, cells, 4096), rule(), 0

    def step() -> None:
        nonlocal turn
        program.feed(batch_of(*minibatches[turn % BATCHES]))
        turn += 1
        assert program.step()
        assert program.update(update)

    return step


def rate(step: Callable[[], object], seconds: float) -> float:
    """Steps per CPU-second over at least so many of them, in whole rounds of minibatches."""
    started = now = time.process_time()
    count = 0
    while now - started < seconds:
        for _ in range(BATCHES):
            step()
        count += BATCHES
        now = time.process_time()
    return count / (now - started)


def compare(width: int, cells: int, words: int, rounds: int, seconds: float) -> dict[str, float]:
    """Median words per CPU-second by side, rounds in turns."""
    minibatches = drawn(words)
    sides = {"engine": engine_step(width, cells, minibatches)}
    try:
        sides |= peer_recurrent.steps(WORDS, width, cells, minibatches)
    except ImportError as error:
        left_out("PyTorch", error)
    mean = sum(len(one) for batch, _ in minibatches for one in batch) / BATCHES
    seen: dict[str, list[float]] = {side: [] for side in sides}
    for step in sides.values():
        rate(step, 0.1)
    for _ in range(rounds):
        for side, step in sides.items():
            seen[side].append(rate(step, seconds) * mean)
    return {side: statistics.median(rates) for side, rates in seen.items()}


def long_sequence(steps: int) -> None:
    """Train once on one sequence, and print the greatest memory that it took, in MiB."""
    sentence = np.random.default_rng(1).integers(WORDS, size=steps)
    program = program_of(LONG_CELLS, LONG_CELLS, steps)
    program.feed(batch_of([sentence], np.zeros(1, np.intp)))
    tracemalloc.start()
    assert program.step()
    assert program.update(rule())
    print(tracemalloc.get_traced_memory()[1] / 2**20)


def measure(rounds: int = 7, seconds: float = 0.5, only: str = "") -> bool:
    """Print the figures; whether every bound is met."""
    headline("Sequence classification, training, float32, one thread each, words per CPU-second")
    met = True
    for name, cases in CASES.items():
        if only not in ("", name):
            continue
        for width, cells, words, bound in cases:
            found = compare(width, cells, words, rounds, seconds)
            ours = found.pop("engine")
            said = f"LSTM {cells}, {words} words a minibatch"
            print(f"  {said}: engine {ours:,.0f}", *(f"{k} {v:,.0f}" for k, v in found.items()))
            if found:
                met &= verdict(said, ours / max(found.values()), bound, at_most=False)
    for steps in LONG:
        command = [sys.executable, __file__, "--long", str(steps)]
        told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        print(f"  one sequence of {steps:,}, LSTM {LONG_CELLS}: {float(told):.1f} MiB", flush=True)
    return met


def main() -> None:
    """Measure as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--only", choices=CASES, default="")
    parser.add_argument("--long", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.long:
        long_sequence(options.long)
    else:
        measure(options.rounds, options.seconds, options.only)


if __name__ == "__main__":
    main()
