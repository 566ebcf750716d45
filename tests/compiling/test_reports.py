"""The report: figures that are those of the network, pages that hold whatever names do, a picture,
and the plan that is printed without data.
"""

from __future__ import annotations

import json
import xml.etree.ElementTree as Tree
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import netsharp
from netsharp_compile.calibrating.levelling import levelled
from netsharp_compile.compiled import explain_model
from netsharp_compile.evaluating.pages import report_json, report_markdown, report_picture
from netsharp_compile.evaluating.reports import CompileReport
from netsharp_compile.layers import layers_of, values_of
from netsharp_compile.widths import CompileSettings
from tests.cli.command_line import netsharp as command
from tests.cli.test_schemas import schema
from tests.compiling.networks import DEEP, ONE, trained

pytestmark = pytest.mark.filterwarnings("ignore:On training rows")


def _normalized(model: Any, x: np.ndarray) -> np.ndarray:
    found = x.astype(model.settings.dtype)
    model.normalizer.apply(found)
    return found.astype(np.float64)


def test_figures_of_layers_are_those_of_the_network() -> None:
    """Errors, with and without those before, ends that cut off, bytes: each counted apart."""
    model, x = trained(DEEP, epochs=20)
    made = netsharp.compile(model, x)
    network, report = made.network, made.report
    codes = network.features.of(np.asarray(x, np.float32).astype(np.float64))
    normalized = _normalized(model, x)
    layers = levelled(layers_of(model.graph, model.tensors), [normalized], 6)
    pairs = list(values_of(layers, normalized))
    found = network.simulate(codes)
    exact = [codes]
    for place, (layer, reported) in enumerate(zip(network.layers, report.layers, strict=True)):
        _, wanted = pairs[place]
        apart = layer.target.dequantize(found[place]) - wanted
        assert reported.error == pytest.approx(np.sqrt(np.square(apart).mean()) / wanted.std())
        results = network.results_of(layer, exact)
        alone = layer.target.dequantize(network.looked_up(layer, results)) - wanted
        assert reported.own_error == pytest.approx(np.sqrt(np.square(alone).mean()) / wanted.std())
        sums = network.results_of(layer, [codes, *found[:place]])
        assert reported.below == pytest.approx((sums == layer.result.least).mean())
        assert reported.above == pytest.approx((sums == layer.result.most).mean())
        assert reported.decibels == pytest.approx(-20 * np.log10(reported.error))
        exact.append(layer.target.quantize(wanted))
    assert report.layers[0].own_error == report.layers[0].error
    assert report.error == report.layers[-1].error
    assert report.weight_bytes == sum(one.weight_bytes + one.bias_bytes for one in report.layers)
    assert report.table_bytes == sum(one.table_bytes for one in report.layers) == 256 + 2048
    assert report.saved_bytes == 256
    assert [one.table for one in report.layers] == [0, 0, None, 1]
    assert [one.table_bytes for one in report.layers] == [256, 0, 0, 2048]
    assert "shared" in report.layers[1].why
    assert "ends of the codes" in report.layers[2].why


def test_estimates_meet_what_an_emulator_counted() -> None:
    """The networks of which instructions were counted: 64-32-10, and 784-64-32-10."""
    text = "input X auto; hidden H [{}] tanh from X all; {} output Y auto softmax from H2 all;"
    small = text.format(32, "").replace("H2", "H")
    counted = {64: (small, 21.0e3, 13.2e3), 784: (text, 379e3, 266e3)}
    for features, (network, slow, fast) in counted.items():
        if features == 784:
            network = text.format(64, "hidden H2 [32] tanh from H all;")
        chance = np.random.default_rng(1)
        x, y = chance.normal(size=(40, features)), np.arange(40) % 10
        report = netsharp.compile(netsharp.train(network, x, y, epochs=1), x).report
        assert report.instructions["cortex-m0"] == pytest.approx(slow, rel=0.02)
        assert report.instructions["cortex-m4"] == pytest.approx(fast, rel=0.02)


def _report(names: tuple[str, ...] = ("A", "B")) -> CompileReport:
    model, x = trained(ONE.format("tanh", "softmax"))
    made = netsharp.compile(model, x, holdout=(x, model.predict(x).predicted)).report
    layers = zip(made.layers, names, strict=True)
    return replace(made, layers=tuple(replace(one, name=name) for one, name in layers))


HOSTILE = ("a|b`c\n# <script>", '"&<>\x00' + "x" * 200)


def test_pages_hold_whatever_names_do() -> None:
    report = _report(HOSTILE)
    reported = json.loads(report_json(report))
    assert reported["version"] == 1
    assert [one["name"] for one in reported["layers"]] == list(HOSTILE)
    page = report_markdown(report)
    assert "<script>" not in page
    rows = [line for line in page.splitlines() if line.startswith("| a\\|b")]
    assert len(rows) == 3
    assert {line.replace("\\|", "").count("|") for line in rows} == {9, 10, 6}
    picture = Tree.fromstring(report_picture(report))
    texts = [one.text or "" for one in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert any(text.startswith("a|b`c?# <script>") for text in texts)
    assert max(map(len, texts)) < 30


def test_the_picture_has_a_bar_for_each_error() -> None:
    report = _report()
    picture = Tree.fromstring(report_picture(report))
    bars = [
        one
        for one in picture.iter("{http://www.w3.org/2000/svg}rect")
        if one.get("x") == "150" and one.get("data-of") is None
    ]
    widths = [float(one.get("width", "")) for one in bars]
    errors = [each for one in report.layers for each in (one.error, one.own_error)]
    for width, error in zip(widths, errors, strict=True):
        assert width / max(widths) == pytest.approx(error / max(errors), abs=0.01)


def test_a_report_of_a_network_without_errors_is_json(tmp_path: Path) -> None:
    """Signal without noise is infinitely above it, and JSON has no word for that."""
    model, x = trained(ONE.format("rlinear", "softmax"))
    for values in model.tensors.values():
        values[...] = 0
    made = netsharp.compile(model, x)
    assert made.report.layers[0].decibels == np.inf
    made.write(tmp_path / "net")
    reported = json.loads((tmp_path / "net" / "report.json").read_text())
    assert reported["layers"][0]["decibels"] is None
    assert (tmp_path / "net" / "report.svg").read_text().startswith("<svg")


def test_a_lost_gate_leaves_the_report_alone(tmp_path: Path) -> None:
    model, x = trained(DEEP, "regression", epochs=5)
    made = netsharp.compile(model, x, holdout=(x, x[:, 0]), max_drop=1e-6)
    assert made.report.gate is not None
    assert not made.report.gate.is_met
    names = ["report.json", "report.md", "report.svg"]
    assert made.write_report(tmp_path / "net") == names
    assert made.write_report(tmp_path / "net") == names
    assert sorted(path.name for path in (tmp_path / "net").iterdir()) == names
    assert "FAILED" in (tmp_path / "net" / "report.md").read_text()
    made.write(tmp_path / "net")
    before = {path.name: path.read_bytes() for path in (tmp_path / "net").iterdir()}
    assert made.write_report(tmp_path / "net") == []
    assert {path.name: path.read_bytes() for path in (tmp_path / "net").iterdir()} == before


def test_the_plan_without_data_is_what_compiling_does() -> None:
    """Which layers share a table, which have one and which none; schemes where they follow."""
    model, x = trained(DEEP)
    made = netsharp.compile(model, x)
    first, second, third, last = explain_model(model, CompileSettings())
    assert [one.layer for one in (first, second, third, last)] == ["A", "B", "C", "Y"]
    assert first.readers == ("B", "C", "Y")
    assert (first.table, second.table) == ("a table", "the table of A")
    assert third.table.startswith("no table: the ends of the codes")
    assert last.table == "a table"
    assert (first.sums, first.values) == (made.report.layers[0].index, made.report.layers[0].codes)
    assert third.sums == "uint8, range from data"
    for one, pair in zip(made.report.layers, (first, second, third, last), strict=True):
        assert (one.table is None) == pair.table.startswith("no table")
        assert one.multiply_adds == pair.multiply_adds
    apart = explain_model(model, CompileSettings(range="minmax", activations="int8"))
    assert [one.table for one in apart] == ["a table"] * 4
    assert apart[0].sums == "int8, range from data"


def test_the_plan_is_printed_without_data_and_nothing_is_written(tmp_path: Path) -> None:
    model, _ = trained(ONE.format("tanh", "softmax"))
    netsharp.save(model, tmp_path / "net.safetensors")
    answer = command("compile", "--explain", "net.safetensors", cwd=tmp_path)
    assert (answer.code, answer.err) == (0, "")
    first, second = answer.out.splitlines()
    assert first.startswith("H -> Y: tanh, sums uint8, step ")
    assert second.startswith("Y -> the answers: softmax, sums int16, range from data")
    output = json.loads(
        command("compile", "--explain", "net.safetensors", "--format", "json", cwd=tmp_path).out
    )
    assert [one["layer"] for one in output["pairs"]] == ["H", "Y"]
    assert [path.name for path in tmp_path.iterdir()] == ["net.safetensors"]
    answer = command("compile", "net.safetensors", cwd=tmp_path)
    assert answer.code == 2
    assert "name the folder that is written with --output" in answer.err


def test_reports_are_what_their_schema_says() -> None:
    """With classes and of a regression, evaluated and not, with a proposal and without."""
    model, x = trained(DEEP)
    numbers, values = trained(ONE.format("tanh", "linear"), task="regression")
    for made in (
        netsharp.compile(model, x),
        netsharp.compile(model, x, holdout=(x, model.predict(x).predicted)),
        netsharp.compile(numbers, values),
        netsharp.compile(numbers, values, holdout=(values, values[:, 0]), max_drop=1e-6),
        netsharp.compile(numbers, values, holdout=(values, values[:, 0]), max_drop=0.5),
    ):
        schema("compile-report.json").validate(json.loads(report_json(made.report)))


def test_every_figure_of_a_layer_is_that_of_what_is_written(tmp_path: Path) -> None:
    """Ranges, schemes, bits of sums, products and bytes, computed from the manifest; the page has
    the same.
    """
    model, x = trained(DEEP, epochs=20)
    made = netsharp.compile(model, x, holdout=(x, model.predict(x).predicted))
    made.write(tmp_path / "net")
    manifest, report = (
        json.loads((tmp_path / "net" / name).read_text()) for name in ("net.json", "report.json")
    )
    page = (tmp_path / "net" / "report.md").read_text()
    tables = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in page.splitlines()
        if line.startswith("| ") and not line.startswith("| layer")
    ]
    known = [len(manifest["features"]["offset"]), *(one["nodes"] for one in manifest["layers"])]
    for layer, reported in zip(manifest["layers"], report["layers"], strict=True):
        of_page = [row for row in tables if row[0] == layer["name"]]
        assert len(of_page) == 3
        shown = " | ".join(cell for row in of_page for cell in row)
        for name, scheme, reach in (("index", "result", "sums"), ("codes", "target", "results")):
            of = layer[scheme]
            step = float.fromhex(of["scale"])
            bits, signs = of["bits"], of["operand"] != "unsigned"
            least = -(1 << bits - 1) + (of["operand"] == "symmetric") if signs else 0
            most = (1 << bits - signs) - 1
            word = {"unsigned": "uint", "signed": "int", "symmetric": "symmetric"}[of["operand"]]
            assert reported[name] == f"{word}{bits}, step {step:.4g}, 0 at {of['zero_point']}"
            ends = [(code - of["zero_point"]) * step for code in (least, most)]
            assert reported[reach] == pytest.approx(ends)
            assert reported[name] in shown
            assert all(f"{end:.4g}" in shown for end in reported[reach])
        reads = [known[one["source"]["operand"]] for one in layer["bundles"]]
        products = sum(reads) * layer["nodes"]
        assert reported["multiply_adds"] == products
        assert 2 ** (reported["sum_bits"] - 2) <= layer["bound"] < 2 ** (reported["sum_bits"] - 1)
        reached, at_most = _largest_sums(layer, manifest)
        assert reached <= layer["bound"] <= at_most
        assert reported["weight_bytes"] == products
        channels = 4 if layer.get("multipliers") else 0
        assert reported["bias_bytes"] >= (4 + channels) * layer["nodes"]
        assert reported["table"] == layer["table"]
        assert reported["value_bytes"] == layer["nodes"] * (layer["target"]["bits"] // 8)
        figures = (
            reported["weight_bytes"],
            reported["bias_bytes"],
            reported["table_bytes"],
            products,
        )
        assert all(f"{figure:,}" in shown for figure in figures)
        assert reported["why"] in shown
        for share in (
            reported["error"],
            reported["own_error"],
            reported["below"],
            reported["above"],
        ):
            assert f"{share:.2%}" in shown
        assert f"{reported['decibels']:.1f}" in shown
    gate = report["gate"]
    for right, ends in (
        (gate["right_before"], gate["interval_before"]),
        (gate["right"], gate["interval"]),
    ):
        low, high = ends
        assert f"{right / gate['rows']:.2%} ({low:.2%} to {high:.2%})" in page
    assert f"- {report['table_bytes']:,} bytes in {report['tables']} lookup table" in page
    assert (f"that {report['pairs']} layers share" in page) is (report["pairs"] > report["tables"])
    assert (f"sharing saves {report['saved_bytes']:,}" in page) is bool(report["saved_bytes"])
    assert f"{report['scratch_bytes']:,} bytes of scratch memory" in page
    for name, number in report["instructions"].items():
        assert f"about {number:,} instructions on {name.title()}" in page
    assert f"{report['agreement']:.2%} of the classes agree" in page


def _largest_sums(layer: dict[str, Any], manifest: dict[str, Any]) -> tuple[int, int]:
    """The largest sum that codes can reach, and what no part of one is larger than."""
    reached = [[bias, -bias] for bias in layer["biases"]]
    at_most = [abs(bias) for bias in layer["biases"]]
    for bundle in layer["bundles"]:
        operand = bundle["source"]["operand"]
        read = manifest["layers"][operand - 1]["target"] if operand else None
        of = manifest["features"]["codes"] if read is None else read
        bits, low = of["bits"], 0
        if of["operand"] != "unsigned":
            low = -(1 << bits - 1) + (of["operand"] == "symmetric")
        ends = [low, (1 << bits - (low < 0)) - 1]  # What zero means is in the biases.
        for node, weights in enumerate(bundle["weights"]["values"]):
            for place, sign in enumerate((1, -1)):
                reached[node][place] += sum(
                    max(sign * one * end for end in ends) for one in weights
                )
            at_most[node] += sum(abs(one) for one in weights) * max(map(abs, ends))
    return max(map(max, reached)), max(at_most)
