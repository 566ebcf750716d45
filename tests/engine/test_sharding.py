"""Steps of several threads: what one computes, the same bits every time, and nothing in between."""

from __future__ import annotations

import gc
import os
import threading
from collections import Counter
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsharp_engine.graph import Graph, GraphError
from netsharp_engine.numpy_backend import NumpyDraft
from netsharp_engine.numpy_backend.sharding import ShardedPlan, Team
from netsharp_engine.program import Batch, Job, Program, UpdateRule, drafted
from netsharp_engine.train.steps.dropping import draw_of, dropping_graph
from netsharp_engine.train.steps.quantizing import quantized_graph
from tests.conftest import SEED
from tests.engine import test_random_networks
from tests.engine.networks import dense

RULE = UpdateRule("momentum", 0.1, 0.9)


def started(graph: Graph, rows: int, threads: int, dtype: str = "float64") -> Program:
    """A program of a number of threads with weights that follow from the seed."""
    program = drafted(NumpyDraft, Job(graph, rows, dtype, RULE)).program(threads)
    random = np.random.default_rng(SEED)
    program.load({one.name: random.normal(0, 0.3, one.shape) for one in graph.parameters})
    return program


def stepped(program: Program, batch: Batch) -> dict[str, Any]:
    """All figures and values of a step and its update."""
    program.feed(batch)
    assert program.step()
    assert program.update(RULE)
    figures = program.figures()
    return {"sums": np.array(figures.sums), "rows": figures.rows, **program.store()}


def small(nodes: int = 9) -> Graph:
    graph = Graph()
    graph.set_output(dense(graph, dense(graph, graph.input("x", (4,)), nodes), 3, "softmax", "out"))
    return graph


def batch_of(graph: Graph, rows: int, weights: Any = None, draw: Any = None) -> Batch:
    random = np.random.default_rng(SEED + rows)
    values = {one.name: random.normal(size=(rows, one.size)) for one in graph.inputs}
    target = graph.targets[0]
    wanted = random.uniform(size=(rows, target.size))
    if len(graph.criteria) > 1:
        wanted = random.integers(0, target.size, rows)
    return Batch({**values, target.name: wanted}, weights, draw=draw)


@settings(max_examples=60, derandomize=True, deadline=None)
@given(st.data(), st.integers(2, 5), st.integers(5, 13))
def test_threads_compute_what_one_does(data: Any, threads: int, rows: int) -> None:
    growth = test_random_networks.Growth(data.draw)
    for _ in range(data.draw(st.integers(2, 5))):
        growth.grow()
    weights = growth.parameter((3, growth.nodes[-1].size))
    growth.graph.set_output(
        growth.graph.apply("full", growth.nodes[-1], parameters=(weights,), name="out")
    )
    graph = growth.graph.with_criteria("squared error")
    given_weights = data.draw(
        st.none() | st.lists(st.sampled_from([0.0, 0.5, 3.0]), min_size=13, max_size=13)
    )
    one, several = (started(graph, rows, count) for count in (1, threads))
    for count in (rows, data.draw(st.integers(1, rows)), rows):
        chosen = None if given_weights is None else np.array(given_weights[:count])
        batch = batch_of(graph, count, chosen)
        ours, theirs = stepped(several, batch), stepped(one, batch)
        assert ours.keys() == theirs.keys()
        for name, value in theirs.items():
            np.testing.assert_allclose(ours[name], value, rtol=1e-9, atol=1e-10, err_msg=name)
        np.testing.assert_allclose(several.read(graph.output), one.read(graph.output), atol=1e-9)


@pytest.mark.parametrize("threads", [2, 3])
def test_every_run_has_the_same_bits(threads: int) -> None:
    graph = small(70).with_criteria("cross entropy", "right answers")
    found = []
    for _ in range(5):
        program = started(graph, 40, threads, "float32")
        for count in (40, 17, 40):
            reported = stepped(program, batch_of(graph, count))
        found.append(reported)
    for other in found[1:]:
        for name, value in found[0].items():
            np.testing.assert_array_equal(other[name], value)


def test_masks_are_cut_with_their_rows() -> None:
    plain = small()
    graph = dropping_graph(plain, {"x": 0.3, "H": 0.5}).with_criteria("cross entropy")
    programs = [started(graph, 12, threads) for threads in (1, 3)]
    for position in range(3):
        draw = draw_of(SEED, 0, position)
        one, several = (stepped(program, batch_of(graph, 12, None, draw)) for program in programs)
        for name, value in one.items():
            np.testing.assert_allclose(several[name], value, rtol=1e-9, err_msg=name)


def test_more_threads_than_rows_are_as_many_as_rows() -> None:
    graph = small().with_criteria("cross entropy")
    reported = [stepped(started(graph, 3, threads), batch_of(graph, 3)) for threads in (3, 8)]
    for name, value in reported[0].items():
        np.testing.assert_array_equal(reported[1][name], value)
    alone = drafted(NumpyDraft, Job(graph, 1, "float64", RULE)).program(8)
    assert not isinstance(alone.plan, ShardedPlan)


def test_what_looks_at_a_whole_batch_is_refused_by_name() -> None:
    graph = quantized_graph(small(), "uint8").with_criteria("cross entropy")
    draft = drafted(NumpyDraft, Job(graph, 8, "float32", RULE))
    with pytest.raises(GraphError, match=r"Layer 'H' looks at all rows .* Set threads = 1\."):
        draft.program(2)
    assert draft.program(1) is not None


def test_memory_of_all_shards_is_reported() -> None:
    graph = small(400).with_criteria("cross entropy")
    draft = drafted(NumpyDraft, Job(graph, 64, "float32", RULE))
    one, two, four = (draft.needs(threads=threads).total() for threads in (1, 2, 4))
    weights = sum(parameter.size for parameter in graph.parameters) * 4
    assert one + weights <= two <= one + weights + 60_000
    assert two + 2 * weights <= four <= two + 2 * weights + 120_000
    measuring = drafted(NumpyDraft, Job(graph, 64, "float32"))
    assert measuring.needs(threads=4) == measuring.needs()


def test_a_call_that_fails_fails_where_it_was_asked_for() -> None:
    team, made = Team(2), Counter[str]()

    def fail(name: str) -> None:
        made[name] += 1
        raise ValueError(name)

    with pytest.raises(ValueError, match="b"):
        team.together([lambda: made.update("a"), partial(fail, "b"), partial(fail, "c")])
    assert made["b"] == 1
    for _ in range(50):
        team.together([partial(made.update, name) for name in "xyz"])
    assert [made[name] for name in "xyz"] == [50] * 3


def test_threads_end_with_their_program() -> None:
    gc.collect()
    graph = small().with_criteria("cross entropy")
    program = started(graph, 12, 3)
    before = set(threading.enumerate())
    stepped(program, batch_of(graph, 12))
    mine = set(threading.enumerate()) - before
    assert len(mine) == 2
    del program
    gc.collect()
    for one in mine:
        one.join(10)
    assert not mine & set(threading.enumerate())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system copies no processes")
def test_a_copy_of_the_process_continues() -> None:
    graph = small().with_criteria("cross entropy")
    program = started(graph, 12, 2)
    stepped(program, batch_of(graph, 12))
    child = os.fork()
    if not child:
        reported = stepped(program, batch_of(graph, 12))
        os._exit(0 if reported["rows"] == 24 else 1)
    reported = stepped(program, batch_of(graph, 12))
    _, status = os.waitpid(child, 0)
    assert (os.waitstatus_to_exitcode(status), reported["rows"]) == (0, 24)
