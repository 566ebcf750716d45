"""Plans: order of weights, partial batches, repeatability, memory, and refusals."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

from netsharp_engine.geometry import Axis
from netsharp_engine.graph import Graph, GraphError
from netsharp_engine.initial import initial_values
from netsharp_engine.numpy_backend import compile_plan, thread_limit
from netsharp_engine.numpy_backend.kernels.threads import limit_threads
from tests.engine.naive import Dimension
from tests.engine.networks import axes_of, convolution, dense, plan_of, randomise


def digits(function="tanh"):
    """The guide's digit network on a smaller image, with every kind of bundle but filters."""
    graph = Graph()
    source = graph.input("Image", (13, 13))
    first = [Dimension(13, 3, 2, False, 0, 0, True, 4), Dimension(13, 3, 2, False, 0, 0)]
    made = convolution(graph, source, first, "C1")
    made = graph.apply("activation", made, function=function, name="Conv1")
    second = [Dimension(4, 1, 1, False, 0, 0, False, 3)]
    second += [Dimension(6, 3, 1, True, 0, 0) for _ in range(2)]
    made = convolution(graph, made, second, "C2")
    made = graph.apply("activation", made, function=function, name="Conv2")
    pool = [Dimension(12, 1, 1, 0, 0, 0)] + [Dimension(6, 2, 2, False, 0, 0) for _ in range(2)]
    made = graph.apply("max pool", made, axes=axes_of(pool), name="Pool")
    return graph, dense(graph, made, 5, "softmax", "Digit")


def batch_of(graph, samples, seed=0):
    random = np.random.default_rng(seed)
    x = random.standard_normal((samples, graph.features), dtype=np.float32)
    return x, random.integers(0, 5, samples)


def trained(seed, dtype="float32", steps=5):
    graph, output = digits()
    plan = plan_of(graph, output, 8, "softmax", dtype)
    plan.initialise(seed, 0.3)
    plan.feed(*batch_of(graph, 8))
    for _ in range(steps):
        plan.step()
        plan.weights -= 0.1 * plan.gradient
    return plan


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_same_seed_gives_bit_equal_weights(dtype):
    first, second, other = trained(7, dtype), trained(7, dtype), trained(8, dtype)
    assert first.weights.dtype == dtype
    assert first.weights.tobytes() == second.weights.tobytes()
    assert first.weights.tobytes() != other.weights.tobytes()


def test_threads_of_matrix_products_are_restored():
    before = limit_threads(2)
    if before is None:
        pytest.skip("this numpy does not bundle OpenBLAS")
    try:
        with thread_limit(1):
            assert limit_threads(1) == 1
        assert limit_threads(before) == 2
    finally:
        limit_threads(before)


def test_initial_weights_do_not_depend_on_the_plan():
    """Drawn in canonical order: a batch size or a layout changes nothing."""
    graph, output = digits()
    plans = [plan_of(graph, output, batch, "softmax", "float32") for batch in (1, 32)]
    for plan in plans:
        plan.initialise(3, 0.2)
    for ours, theirs in zip(plans[0].store().values(), plans[1].store().values(), strict=True):
        assert np.array_equal(ours, theirs)
        assert np.abs(ours).max() <= 0.1
        assert np.abs(ours).max() > 0.05


def test_given_weights_win_over_random_ones():
    graph = Graph()
    weights = graph.parameter("W", (1, 2), [0.25, -4.0])
    made = graph.apply("full", graph.input("X", (2,)), parameters=(weights,))
    plan = plan_of(graph, made, 1, None)
    plan.initialise(1, 0.1)
    assert plan.store()["W"].tolist() == [[0.25, -4.0]]


def test_load_store_and_vector_are_inverse():
    graph, output = digits()
    plan = plan_of(graph, output, 4, "softmax")
    values = randomise(plan, np.random.default_rng(1))
    stored = plan.store()
    assert list(stored) == [parameter.name for parameter in graph.parameters]
    for name, value in values.items():
        assert np.array_equal(stored[name], value)
    assert np.array_equal(plan.vector(stored), plan.weights)
    assert all(
        np.array_equal(a, b)
        for a, b in zip(
            plan.store(plan.weights * 2).values(), [2 * v for v in values.values()], strict=True
        )
    )


@pytest.mark.parametrize("count", [1, 3, 7])
def test_partial_batch_equals_a_full_one_of_that_size(count):
    graph, output = digits()
    large = plan_of(graph, output, 8, "softmax", "float64")
    small = plan_of(graph, output, count, "softmax", "float64")
    large.initialise(1, 0.5)
    small.load(large.store())
    x, y = batch_of(graph, 8)
    large.feed(x * np.nan, y)
    large.step()
    for plan in (large, small):
        plan.feed(x[:count], y[:count])
        plan.step()
    assert large.output.shape == (count, 5)
    np.testing.assert_allclose(large.output, small.output, rtol=1e-12)
    assert large.loss == pytest.approx(small.loss, rel=1e-12)
    np.testing.assert_allclose(large.gradient, small.gradient, rtol=1e-9, atol=1e-14)


def test_sample_weights_make_a_weighted_mean():
    graph, output = digits()
    plan = plan_of(graph, output, 4, "softmax", "float64")
    plan.initialise(1, 0.5)
    x, y = batch_of(graph, 3)
    plan.feed(x, y, np.array([1.0, 0.0, 2.0]))
    plan.step()
    weighted, loss = plan.gradient.copy(), plan.loss
    plan.feed(x[[0, 2, 2]], y[[0, 2, 2]])
    plan.step()
    np.testing.assert_allclose(weighted, plan.gradient, rtol=1e-9, atol=1e-14)
    assert loss == pytest.approx(plan.loss, rel=1e-12)


def test_shared_gradients_add():
    graph = Graph()
    weights = graph.parameter("W", (1, 1), [3.0])
    source = graph.input("X", (1,))
    once = graph.apply("full", source, parameters=(weights,))
    made = graph.apply("full", once, parameters=(weights,))
    plan = plan_of(graph, made, 1)
    plan.initialise(1, 1)
    plan.feed(np.array([[2.0]]), np.array([17.0]))
    plan.step()
    # (w^2 x - t)^2 = 1, gradient 2 * 1 * 2 w x
    assert plan.loss == pytest.approx(1.0)
    assert plan.gradient.tolist() == pytest.approx([24.0])


def test_several_inputs_take_the_features_in_order():
    graph = Graph()
    left, right = graph.input("L", (2,)), graph.input("R", (3,))
    weights = graph.parameter("W", (2, 3), np.eye(2, 3))
    made = graph.apply("add", left, graph.apply("full", right, parameters=(weights,)))
    plan = plan_of(graph, made, 1, None)
    plan.initialise(1, 1)
    plan.feed(np.array([[1.0, 2, 30, 40, 50]]))
    plan.forward()
    assert plan.output.tolist() == [[31.0, 42.0]]


def test_layer_shows_values_in_canonical_order():
    """Whatever the order in memory, a convolution's maps are blocks to the reader."""
    graph, output = digits()
    plan = plan_of(graph, output, 4, "softmax")
    plan.initialise(1, 0.5)
    x, y = batch_of(graph, 4)
    plan.feed(x, y)
    plan.step()
    weights = plan.store()["C1/weights"]
    windows = np.lib.stride_tricks.sliding_window_view(x.reshape(4, 13, 13), (3, 3), axis=(1, 2))
    taps = windows[:, ::2, ::2].reshape(4, 6, 6, 9)
    expected = np.tanh(
        np.einsum("nabk,mk->nmab", taps, weights[:, :-1]) + weights[:, -1, None, None]
    )
    np.testing.assert_allclose(plan.layer("Conv1"), expected.reshape(4, -1), rtol=1e-6)
    with pytest.raises(KeyError):
        plan.layer("Nowhere")


def test_incoming_vectors_leave_biases_out_and_write_through():
    graph = Graph()
    source = graph.input("X", (4,))
    found = [Dimension(4, 2, 1, False, 0, 0, True, 3)]
    made = convolution(graph, source, found)
    edges = [(0, 0), (0, 1), (1, 2), (2, 3), (2, 8)]
    sparse = graph.parameter("F", (5,))
    lists = ([d for d, _ in edges], [s for _, s in edges])
    made = graph.apply("filtered", made, parameters=(sparse,), edges=lists, shape=(3,))
    plan = plan_of(graph, dense(graph, made, 2), 2)
    plan.initialise(1, 1)
    shapes = [view.shape for view in plan.incoming()]
    assert shapes == [(3, 2), (1, 2), (1, 1), (1, 2), (2, 3)]
    for view in plan.incoming():
        view[...] = 0
    stored = plan.store()
    assert not stored["C/weights"][:, :-1].any()
    assert stored["C/weights"][:, -1].all()
    assert not stored["F"].any()
    assert stored["H/biases"].all()


def network_of_everything():
    graph, output = digits("srlinear")
    edges = ([0, 0, 1, 2], [0, 4, 1, 3])
    sparse = graph.parameter("F", (4,))
    scores = output.inputs[0]
    extra = graph.apply("filtered", scores, parameters=(sparse,), edges=edges, shape=(5,))
    total = graph.apply("add", scores, extra)
    walk = {"axes": (Axis(5, 3, padding=True),)}
    norm = {"alpha": 0.1, "beta": 0.75, "offset": 1.0, "over_full_kernel": False}
    total = graph.apply("response norm", total, **walk, **norm)
    total = graph.apply("mean pool", total, **walk)
    return graph, graph.apply("activation", total, function="softmax")


@pytest.mark.parametrize("filters", ["matrix", "edges"])
def test_a_step_allocates_no_array(filters, monkeypatch):
    """With the iterators' own buffers at their smallest, only small Python objects remain.

    The smallest array of the network, one number per sample, would be 8,192 bytes.
    """
    if filters == "edges":
        monkeypatch.setattr("netsharp_engine.numpy_backend.kernels.filtered.DENSE_CELLS", 0)
        monkeypatch.setattr("netsharp_engine.numpy_backend.kernels.filtered.DENSE_SHARE", 2.0)
    graph, output = network_of_everything()
    plan = plan_of(graph, output, 2048, "softmax", "float32")
    plan.initialise(1, 0.3)
    x, y = batch_of(graph, 2048)
    usual = np.setbufsize(16)
    try:
        plan.feed(x, y)
        plan.step()
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        plan.feed(x, y)
        plan.step()
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
        np.setbufsize(usual)
    assert peak < 2048 * 4


def test_a_plan_without_loss_only_runs_forward():
    graph, output = digits()
    plan = plan_of(graph, output, 4, None)
    assert plan.gradient is None
    with pytest.raises(GraphError, match="without a loss"):
        plan.step()


@pytest.mark.parametrize("loss", ["softmax", "squared"])
def test_forward_and_step_make_the_same_output(loss):
    graph, output = digits()
    plan = plan_of(graph, output, 4, loss)
    plan.initialise(2, 0.5)
    plan.feed(*batch_of(graph, 4))
    plan.step()
    stepped = plan.output.copy()
    plan.forward()
    assert np.array_equal(plan.output, stepped)
    np.testing.assert_allclose(stepped.sum(axis=1), 1.0, rtol=1e-12)


def test_a_plan_that_does_not_train_still_tells_the_loss():
    graph, output = digits()
    both = [plan_of(graph, output, 4, "softmax", training=flag) for flag in (True, False)]
    x, y = batch_of(graph, 4)
    for plan in both:
        plan.initialise(2, 0.5)
        plan.feed(x, y)
        plan.step()
    assert both[1].gradient is None
    assert both[0].loss == both[1].loss
    assert np.array_equal(both[0].output, both[1].output)


class TestRefusals:
    """A misfit is a GraphError whose text says what does not fit."""

    def test_no_output(self):
        with pytest.raises(GraphError, match="no output"):
            compile_plan(Graph(), 1)

    def test_nothing_to_train(self):
        graph = Graph()
        made = graph.apply("activation", graph.input("X", (2,)), function="tanh")
        with pytest.raises(GraphError, match="no weights to train"):
            plan_of(graph, made, 1)

    def test_unknown_loss(self):
        graph, output = digits()
        with pytest.raises(GraphError, match="there is no operation 'hinge'"):
            plan_of(graph, output, 1, "hinge")

    def test_sharing_between_different_structures(self):
        graph = Graph()
        shared = graph.parameter("W", (4,), kind="biases")
        source = graph.apply("bias", graph.input("X", (4,)), parameters=(shared,))
        made = graph.apply(
            "filtered", source, parameters=(shared,), edges=([0, 0, 1, 1], [0, 1, 2, 3]), shape=(2,)
        )
        with pytest.raises(GraphError, match="different structure"):
            plan_of(graph, made, 1)

    @pytest.mark.parametrize(
        ("op", "attributes", "reason"),
        [
            ("folded", {}, "no operation 'folded'"),
            ("activation", {"function": "relu"}, "no activation 'relu'"),
            ("activation", {}, "attribute 'function' is missing"),
            ("max pool", {"axes": (Axis(3, 2),)}, "walks over 3 nodes, the source has 4"),
            ("max pool", {"axes": (Axis(4, 5),)}, "longer than its source"),
            ("full", {"shape": (2,)}, "0 parameters given, 1 needed"),
        ],
    )
    def test_an_operation_that_does_not_fit(self, op, attributes, reason):
        graph = Graph()
        source = graph.input("X", (4,))
        with pytest.raises(GraphError, match=reason):
            graph.apply(op, source, **attributes)

    @pytest.mark.parametrize(
        ("edges", "reason"),
        [
            (([0, 0], [1, 1]), "distinct"),
            (([1, 0], [0, 1]), "ordered"),
            (([0, 2], [0, 1]), "outside"),
            (([0, 1], [0, 4]), "outside"),
        ],
    )
    def test_edges_that_do_not_fit(self, edges, reason):
        graph = Graph()
        weights = graph.parameter("W", (2,))
        with pytest.raises(GraphError, match=reason):
            graph.apply(
                "filtered", graph.input("X", (4,)), parameters=(weights,), edges=edges, shape=(2,)
            )

    def test_initial_values_take_little_more_than_themselves(self):
        graph = Graph()
        graph.parameter("W", (2000, 1500), None)
        given = [float(n) for n in range(4)]
        graph.parameter("G", (2, 2), given)
        graph.parameter("V", (5,), None)
        tracemalloc.start()
        try:
            found = initial_values(graph.parameters, 7, 0.2, "float32")
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < 24_000_000
        random = np.random.default_rng(7)
        drawn = [random.uniform(-0.1, 0.1, size).astype("float32") for size in (3_000_000, 4, 5)]
        assert found["W"].tobytes() == drawn[0].tobytes()
        assert found["G"].tolist() == [[0, 1], [2, 3]]
        assert found["V"].tobytes() == drawn[2].tobytes()

    def test_wrong_count_of_initial_values(self):
        with pytest.raises(GraphError, match="3 initial values given, 4 needed"):
            Graph().parameter("W", (2, 2), [1, 2, 3])

    def test_load_names_the_parameter(self):
        graph, output = digits()
        plan = plan_of(graph, output, 1, None)
        with pytest.raises(GraphError, match="no values for parameter C1/weights"):
            plan.load({})
        with pytest.raises(
            GraphError, match=r"C1/weights: values of shape \[1\] given, \[4, 10\] needed"
        ):
            plan.load({"C1/weights": [1.0]})


@pytest.mark.parametrize("module", ["activations", "geometry", "graph", "ops"])
def test_building_a_graph_needs_no_numpy(module):
    code = f"import sys, netsharp_engine.{module}; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
