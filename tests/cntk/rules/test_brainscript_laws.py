"""Laws of the rules on BrainScript over the corpus: they never fail, they agree with evaluation,
they report nothing severe in what CNTK accepts, and safe fixes keep the network.
"""

from __future__ import annotations

import os
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsharp_lsp.cntk.brainscript.reading.damage import damages
from netsharp_lsp.cntk.checking.check import diagnostics_by_file
from netsharp_lsp.cntk.configuration.sources import read_text
from netsharp_lsp.cntk.run.experiment import Experiment, SingleFile
from netsharp_lsp.diagnostics.model import Diagnostic
from netsharp_lsp.text.edits import apply_edits
from netsharp_lsp.workspace import Run
from tests.cntk.collection import FILES, CntkFile
from tests.cntk.rules.examples import SEVERE
from tests.cntk.texts import Memory

BESIDE = {os.path.basename(file.name): file.data for file in FILES if not file.broken}
SCRIPTS = [file for file in FILES if file.id == "brainscript"]
SOUND = [file for file in FILES if not file.broken and file.id in ("brainscript", "cntk", "ndl")]
#: Sound texts that show what the program stops at when it evaluates them, or parts of networks.
STOPS: dict[str, set[str]] = {
    "configurations/builder_is_a_string.cntk": {"BS018"},
    "configurations/experimental_builder.cntk": {"BS058"},
    "configurations/include_builder.cntk": {"BS013"},
    "configurations/selected_member.cntk": {"BS018"},
    "configurations/two_networks.cntk": {"BS058"},
    "ndl/attention_pool.ndl": {"BS051"},
    "ndl/criteria.ndl": {"BS053"},
    "ndl/delays.ndl": {"BS057"},
    "ndl/load_run.ndl": {"BS053"},
    "ndl/matrices.ndl": {"BS051", "BS061"},
    "ndl/tensor_convolution.ndl": {"BS052"},
    "networks/arguments.bs": {"BS027"},
    "networks/bidirectional.bs": {"BS022", "BS051"},
    "networks/criteria.bs": {"BS026"},
    "networks/delays.bs": {"BS022", "BS026", "BS061"},
    "networks/inputs_and_constants.bs": {"BS056"},
    "networks/mixture.bs": {"BS061"},
    "networks/new_objects.bs": {"BS043", "BS065", "BS068"},
    "networks/newlines_join.bs": {"BS043"},
    "networks/numbers.bs": {"BS040", "BS043"},
    "networks/packing.bs": {"BS022", "BS061"},
    "networks/parameters.bs": {"BS022"},
    "networks/plain_values.bs": {"BS038", "BS044"},
    "networks/precedence.bs": {"BS027", "BS038", "BS040", "BS042", "BS043"},
    "networks/recurrent_stacks.bs": {"BS043"},
    "networks/second_library.bs": {"BS045", "BS053"},
    "networks/sequence_to_sequence.cntk": {"BS047"},
    "networks/shapes_of_tensors.bs": {"BS045"},
    "networks/special_nodes.bs": {"BS028"},
    "networks/strings_and_comments.bs": {"BS074"},
    "networks/templates.bs": {"BS075"},
}
TOKENS = re.compile(rb"\w+|[^\w\s]|\s+")


def experiment(file: CntkFile, data: bytes | None = None) -> Experiment:
    name = os.path.basename(file.name)
    memory = Memory({**BESIDE, name: file.data if data is None else data})
    if file.id != "cntk":
        return SingleFile(name, file.id, memory)
    return Experiment(Run((f"configFile={name}",), declared=False), memory)


def found(file: CntkFile, data: bytes | None = None) -> list[Diagnostic]:
    listed = diagnostics_by_file(experiment(file, data)).values()
    return [one for each in listed for one in each if one.code.startswith("BS")]


@pytest.mark.parametrize("file", SOUND, ids=lambda file: file.name)
def test_nothing_severe_is_reported_of_sound_files(file: CntkFile) -> None:
    severe = {one.code for one in found(file) if one.severity in SEVERE}
    assert severe == STOPS.get(file.name, set())


@pytest.mark.parametrize("file", SOUND, ids=lambda file: file.name)
def test_sound_files_are_whole(file: CntkFile) -> None:
    """Every text of BrainScript in a sound file is read without damage."""
    here = experiment(file)
    for text in here.texts("brainscript"):
        if text.traced is None or text.script.built is not None:
            assert damages(text.data) == []


@pytest.mark.parametrize("file", [*SOUND, *SCRIPTS], ids=lambda file: file.name)
def test_analysis_and_evaluation_agree_on_names(file: CntkFile) -> None:
    """What evaluation does not find is what the analysis does not find."""
    here = experiment(file)
    for program in here.programs:
        unknown = {
            program.outside(use.place) for use in program.program.uses if use.declaration is None
        }
        met = {
            fault.place
            for fault in program.built.faults
            if fault.kind == "unknown-name" and not program.in_library(fault.place)
        }
        assert met <= unknown


@pytest.mark.parametrize("file", SCRIPTS, ids=lambda file: file.name)
def test_every_place_lies_in_its_file(file: CntkFile) -> None:
    here = experiment(file)
    for name, listed in diagnostics_by_file(here).items():
        source = read_text(name, here.files.read(name) or b"")
        length = 0 if isinstance(source, str) else len(source.text)
        for one in listed:
            assert 0 <= one.start <= one.end <= length


@pytest.mark.parametrize("file", SOUND, ids=lambda file: file.name)
def test_safe_fixes_keep_the_network(file: CntkFile) -> None:
    name = os.path.basename(file.name)
    before = experiment(file)
    listed = diagnostics_by_file(before).get(name, [])
    edits = [
        edit
        for one in listed
        if one.code.startswith("BS") and one.fix is not None and one.fix.safe
        for edit in one.fix.edits
    ]
    if not edits:
        return
    after = experiment(file, apply_edits(file.data, edits))
    assert shape(after) == shape(before)


def shape(here: Experiment) -> list[object]:
    """The networks of a run, in what counts."""
    return [
        [
            (node.name, node.operation, [one.name for one in node.inputs], node.shape)
            for node in built.network.nodes.values()
        ]
        for built in here.networks
        if built.network is not None
    ]


@settings(max_examples=60, deadline=None)
@given(
    file=st.sampled_from([one for one in SCRIPTS if len(one.data) < 3000]),
    cut=st.floats(0, 1),
)
def test_truncated_texts_are_checked(file: CntkFile, cut: float) -> None:
    for one in found(file, file.data[: int(len(file.data) * cut)]):
        assert one.message


@settings(max_examples=80, deadline=None)
@given(
    file=st.sampled_from([one for one in SCRIPTS if len(one.data) < 3000]),
    edits=st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=4),
)
def test_edited_texts_are_checked(file: CntkFile, edits: list[tuple[float, float]]) -> None:
    tokens = TOKENS.findall(file.data)
    if not tokens:
        return
    for at, source in edits:
        tokens[int(at * (len(tokens) - 1))] = tokens[int(source * (len(tokens) - 1))]
    for one in found(file, b"".join(tokens)):
        assert one.message
