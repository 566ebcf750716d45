"""Our defaults beside scikit-learn's networks: score, processor time and memory on 24 data sets.

`python bench/defaults.py` prints a row for each set, `--grid` what decided the defaults: other
normalisers, initial values, rates, batches and optimizers on the deciding half, also with one
training row far from all others, and five hidden layers of 30 sigmoids on digits.  A comparison
takes a process for each fit, with one thread; contestants take turns on the same splits, a quarter
of the rows held out.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import os
import resource
import statistics
import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from measure import headline

SEEDS = (1, 2, 3)
#: The estimators that are measured, and the arguments of ours.  scikit-learn's networks scale
#: nothing: they are
#: measured as they are, and after a StandardScaler, as its guide advises.
OURS, PLAIN, SCALED = "netsharp", "scikit-learn", "scikit-learn, scaled"
#: A value unlike that of any other row, as of a typing error.
FAR = 1e6
#: The network that a default has to learn: layers of sigmoids, and its epochs.
DEEP: Mapping[str, Any] = {"hidden_layer_sizes": (30,) * 5, "max_iter": 60}
#: What the grid changes, one setting at a time.
GRID: tuple[Mapping[str, Any], ...] = (
    {},
    {"normalizer": "minmax"},
    {"normalizer": "gaussian"},
    {"normalizer": "binning"},
    {"scale_label": False},
    {"init": "uniform", "init_diameter": 0.1},
    {"init": "uniform", "init_diameter": 0.5},
    {"init": "he"},
    *({"learning_rate": rate} for rate in (0.001, 0.003, 0.01)),
    *({"batch_size": rows} for rows in (16, 32, 200)),
    {"batch_size": 200, "learning_rate": 0.01},
    {"optimizer": "sgd", "momentum": 0.9, "learning_rate": 0.01},
    {"optimizer": "sgd", "momentum": 0.9, "learning_rate": 0.05},
)


class Fit(NamedTuple):
    """The score on held out rows, CPU seconds of fit and predict, MiB more than before."""

    score: float
    seconds: float
    memory: float


def fitted(
    name: str, who: str, seed: int, given: Mapping[str, Any], *, spoiled: bool = False
) -> Fit:
    """Measure one contestant on one split of a set, in this process.

    ``spoiled``: the first training row is FAR away in all its features.
    """
    import numpy as np
    from default_sets import SETS
    from sklearn.model_selection import train_test_split

    warnings.simplefilter("ignore")
    gc.collect()
    chosen = next(one for one in SETS if one.name == name)
    features, labels = chosen.load()
    of_classes = chosen.task == "classes"
    split = train_test_split(
        features, labels, random_state=seed, stratify=labels if of_classes else None
    )
    if spoiled:
        split[0][0] = FAR
    model = _contestant(who, of_classes, seed, given)
    np.linalg.norm(split[0] @ split[0].T[:, :1])  # What is loaded on first use is loaded now.
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()
    model.fit(split[0], split[2])
    score = model.score(split[1], split[3])
    seconds = time.process_time() - started
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    return Fit(float(score), seconds, memory)


def _contestant(who: str, of_classes: bool, seed: int, given: Mapping[str, Any]) -> Any:
    from sklearn.neural_network import MLPClassifier, MLPRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from netsharp import NetSharpClassifier, NetSharpRegressor

    if who == OURS and of_classes:
        of_both = {name: value for name, value in given.items() if name != "scale_label"}
        return NetSharpClassifier(random_state=seed, **of_both)
    if who == OURS:
        return NetSharpRegressor(random_state=seed, **given)
    network = (MLPClassifier if of_classes else MLPRegressor)(random_state=seed)
    return network if who == PLAIN else make_pipeline(StandardScaler(), network)


def measured(name: str, who: str, seed: int, given: Mapping[str, Any]) -> Fit:
    """The same in a process of its own, forked from this one, which has imported everything."""
    with multiprocessing.get_context("fork").Pool(1) as pool:
        return pool.apply(fitted, (name, who, seed, given))


def compare(seeds: Sequence[int]) -> None:
    """Print a row for each set, and what they come to together."""
    from default_sets import DECIDING, SETS

    fitted("iris", SCALED, 1, {})  # What all need is imported once.
    headline(f"Defaults on {len(SETS)} data sets, means over {len(seeds)} splits")
    contestants = (OURS, PLAIN, SCALED)
    print("| data set | half | size | netsharp | scikit-learn | scaled |", end="")
    print(" CPU s: netsharp | scaled | MiB: netsharp | scaled |\n|" + "---|" * 10, flush=True)
    halves: dict[tuple[str, str], list[dict[str, Fit]]] = {}
    for one in SETS:
        half = "decided" if one in DECIDING else "reported"
        fits: dict[str, list[Fit]] = {who: [] for who in contestants}
        for seed in seeds:
            for who in contestants:
                fits[who].append(measured(one.name, who, seed, {}))
        mean = {who: _mean(fits[who]) for who in contestants}
        halves.setdefault((half, one.task), []).append(mean)
        features, _ = one.load()
        size = f"{len(features):,} x {features.shape[1]}"
        print(f"| {one.name} | {half} | {size} |", _cells(mean), flush=True)
    for (half, task), means in halves.items():
        whole = {who: _mean([mean[who] for mean in means]) for who in contestants}
        print(f"| **{task}** | {half} | {len(means)} sets |", _cells(whole))


def _mean(fits: Sequence[Fit]) -> Fit:
    return Fit(*(statistics.mean(part) for part in zip(*fits, strict=True)))


def _cells(mean: Mapping[str, Fit]) -> str:
    ours, plain, scaled = (mean[who] for who in (OURS, PLAIN, SCALED))
    scores = " | ".join(f"{one.score:.3f}" for one in (ours, plain, scaled))
    costs = f"{ours.seconds:.2f} | {scaled.seconds:.2f} | {ours.memory:.1f} | {scaled.memory:.1f}"
    return f"{scores} | {costs} |"


def grid(seeds: Sequence[int]) -> None:
    """Print what each change of the defaults does on the half of the sets that decides."""
    from default_sets import DECIDING

    headline(f"Changes of the defaults on the {len(DECIDING)} deciding sets, {len(seeds)} splits")
    print("| change | accuracy | one row far away | R2, at least -1 | deep, digits | CPU s |")
    print("|---|---|---|---|---|---|", flush=True)
    for given in GRID:
        scores: dict[str, list[float]] = {"classes": [], "spoiled": [], "numbers": [], "deep": []}
        seconds = 0.0
        for one in DECIDING:
            for seed in seeds:
                fit = fitted(one.name, OURS, seed, given)
                scores[one.task].append(max(fit.score, -1.0))
                seconds += fit.seconds / len(seeds)
                if one.task == "classes":
                    far = fitted(one.name, OURS, seed, given, spoiled=True)
                    scores["spoiled"].append(far.score)
        deep = {**given, **DEEP}
        if "scale_label" not in given:
            scores["deep"] = [fitted("digits", OURS, seed, deep).score for seed in seeds]
        told = ", ".join(f"{name} {value}" for name, value in given.items()) or "none"
        means = " | ".join(
            f"{statistics.mean(each):.4f}" if each else "-" for each in scores.values()
        )
        print(f"| {told} | {means} | {seconds:.1f} |", flush=True)


def main() -> None:
    """Measure what the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--grid", action="store_true", help="what decided the defaults")
    parser.add_argument("--seeds", type=int, default=len(SEEDS), help="how many splits")
    given = parser.parse_args()
    # Before numpy is imported, which reads them.
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    (grid if given.grid else compare)(range(1, given.seeds + 1))


if __name__ == "__main__":
    main()
