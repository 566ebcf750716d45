"""Every rule of the specification of CNTK's models that is marked (!), as what a sensible person
would do otherwise, has a test that fails where the rule is undone: each is undone here.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cli.command_line import clean_environment

ROOT = Path(__file__).parents[3]
SPECIFICATION = ROOT.parent / "shared" / "spec" / "cntk-models.md"
TRAINING, EXPORTING = "tests/cntk/training/", "tests/exporting/"
STORED = "netsharp_engine.cntk.stored."


class Marked(NamedTuple):
    """A rule: words of its line in the specification, where the code has it, how it is undone, and
    the test that fails then.
    """

    words: str
    module: str
    before: str
    after: str
    test: str


RULES = {
    "columns before rows": Marked(
        "size(cols) size(rows)",
        f"{STORED}binary",
        "count, columns, rows = self.size(), self.size(), self.size()",
        "count, rows, columns = self.size(), self.size(), self.size()",
        f"{TRAINING}test_model_versions.py::test_columns_of_a_sparse_matrix_stand_before_its_rows",
    ),
    "inputs are not the feature group": Marked(
        "BrainScript lists labels among the features too",
        "netsharp_lsp.cntk.training.answering",
        "            for node in graph.inputs\n",
        '            for node in self.network.groups["feature"]\n',
        f"{TRAINING}test_model_versions.py::test_an_answer_asks_for_no_labels",
    ),
    "epsilon is added to a variance": Marked(
        "the ε is added, not subtracted",
        f"{STORED}conversions",
        '1 / (inverse * inverse) + node.attributes.get("epsilon", EPSILON)',
        '1 / (inverse * inverse) - node.attributes.get("epsilon", EPSILON)',
        f"{TRAINING}test_model_versions.py::"
        "test_inverse_deviations_become_variances_with_epsilon_added",
    ),
    "arrays above 2 GB in no order that is known": Marked(
        "need not be the order in the message",
        f"{STORED}dictionaries.wire",
        "    if not orderly:\n",
        "    if False:\n",
        f"{TRAINING}test_model_dictionaries.py::"
        "test_the_form_above_2_gb_is_read_in_the_order_of_the_variables",
    ),
    "a block refers to functions of the list": Marked(
        "the inner functions are in the same top list",
        f"{STORED}dictionaries.composite",
        "root not in self._functions or len",
        'root not in (inside or {}).get("primitive_functions", ()) or len',
        f"{TRAINING}test_model_dictionaries.py::test_blocks_are_opened_and_computed",
    ),
    "an output as a placeholder": Marked(
        "cycle or a second consumer",
        f"{STORED}dictionaries.composite",
        "kind == _OUTPUT or (kind == _PLACEHOLDER and self._is_alias(uid))",
        "kind == _OUTPUT",
        f"{TRAINING}test_model_dictionaries.py::test_an_output_as_a_placeholder_is_no_input",
    ),
    "kinds of pooling": Marked(
        "not v1's numbers",
        f"{STORED}dictionaries.functions",
        '_KINDS = ("max", "average")',
        '_KINDS = ("none", "max", "average")',
        f"{TRAINING}test_model_dictionaries.py::"
        "test_pooling_is_counted_otherwise_than_in_the_first_format",
    ),
    "a state begins with what the file says": Marked(
        "in the tutorials' BrainScript models",
        "netsharp_lsp.cntk.training.networks.lowering",
        '_real(node, "defaultHiddenActivation", 0.1)',
        "0.0",
        f"{TRAINING}test_model_dictionaries.py::test_an_output_as_a_placeholder_is_no_input",
    ),
    "all weights, then all biases": Marked(
        "all weights of all layers, then all biases",
        "netsharp_lsp.cntk.training.networks.recurrent_stacks",
        "                at += rows * (one + hidden)\n",
        "                at += rows * (one + hidden) + 2 * rows\n",
        f"{TRAINING}test_recurrent_stacks.py::test_values_are_those_of_the_layout_worked_by_hand",
    ),
    "unequal ranks in ONNX": Marked(
        "after the batch axes",
        "netsharp_engine.exporting.onnx.writing",
        "self.integers(*range(one.lead, one.lead + lacking))",
        "self.integers(*range(lacking))",
        f"{EXPORTING}test_onnx_networks.py::test_operands_of_unequal_ranks",
    ),
    "pads are never automatic": Marked(
        "never use auto_pad",
        "netsharp_engine.exporting.onnx.operators.walking",
        "    return lower + upper\n",
        "    return upper + lower\n",
        f"{EXPORTING}test_onnx_networks.py::test_convolutions",
    ),
}


@pytest.mark.skipif(not SPECIFICATION.exists(), reason="the specification is not beside us")
def test_every_marked_rule_is_in_the_table() -> None:
    lines = SPECIFICATION.read_text().splitlines()
    marked = [line for line in lines if "(!)" in line and not line.startswith("Certainty: ")]
    for name, rule in RULES.items():
        (line,) = (line for line in marked if rule.words in line)
        marked.remove(line)
        assert line.count("(!)") == 1, (name, line)
    assert not marked


@pytest.mark.costly
@pytest.mark.parametrize("name", RULES)
def test_a_rule_that_is_undone_makes_its_test_fail(name: str) -> None:
    rule = RULES[name]
    done = subprocess.run(
        [sys.executable, "-m", "tests.cntk.training.undone", *rule[1:]],
        cwd=ROOT,
        # The test is named, and is taken whatever share this run takes.
        env={**clean_environment(), "FULL": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    output = done.stdout + done.stderr
    assert done.returncode == 1, output
    assert re.search(rf"(?m)^FAILED {re.escape(rule.test)}", output), output
