"""What an editor is offered: single rules at the cursor, a builder's block, all that belongs."""

from __future__ import annotations

from netsharp_lsp.cntk.migration.actions import Move, moves_at
from netsharp_lsp.cntk.migration.editing.edits import applied
from netsharp_lsp.cntk.run.experiment import Experiment
from netsharp_lsp.workspace import Run
from tests.cntk.migration import moving
from tests.cntk.migration.moving import Texts, units_of

NETWORK = """# a network
Layer(x) [
    W = Parameter(3, 3, init = Gaussian)
    y = Times(w, x)
]
x = Input(3, tag = feature)
FF(in) = Tanh(in)
h = Layer(x)
FF = FF(h)
"""


def moves(texts: dict[str, str], file: str, words: str) -> list[Move]:
    data = {name: text.encode() for name, text in texts.items()}
    files = Texts(data)
    runs = [name for name in texts if name.endswith(".cntk")]
    experiments = [Experiment(Run((f"configFile={name}",)), files) for name in runs]
    return moves_at(experiments, files, (file, data[file].index(words.encode())))


def by_rule(found: list[Move], rule: str, data: str, file: str) -> str:
    (move,) = [one for one in found if one.rule == rule]
    return applied(data.encode(), move.edits[file]).decode()


def test_single_rules_at_the_cursor() -> None:
    texts = {"train.cntk": moving.AROUND, "network.ndl": NETWORK}
    found = moves(texts, "network.ndl", "Gaussian")
    assert {one.rule for one in found if one.rule} >= {"MG15", "MG12"}
    assert 'init = "gaussian"' in by_rule(found, "MG15", NETWORK, "network.ndl")
    assert "tag = feature" in by_rule(found, "MG15", NETWORK, "network.ndl"), "another statement"
    assert "Parameter {3, 3, init = Gaussian}" in by_rule(found, "MG12", NETWORK, "network.ndl")


def test_a_name_is_changed_everywhere() -> None:
    texts = {"train.cntk": moving.AROUND, "network.ndl": NETWORK}
    found = moves(texts, "network.ndl", "FF = FF(h)")
    assert "\nff1 = FF(h)" in by_rule(found, "MG07", NETWORK, "network.ndl")


def test_a_file_and_all_that_belongs_to_it() -> None:
    texts = {"train.cntk": moving.AROUND, "network.ndl": NETWORK}
    for file, words in (("network.ndl", "FF(in)"), ("train.cntk", "NDLNetworkBuilder")):
        (move,) = [one for one in moves(texts, file, words) if not one.rule]
        assert set(move.created) == {"network.bs"}
        assert "Layer (x) = {" in move.created["network.bs"]
        after = applied(texts["train.cntk"].encode(), move.edits["train.cntk"]).decode()
        assert 'include "network.bs"' in after
        files = {"train.cntk": after.encode(), "network.bs": move.created["network.bs"].encode()}
        assert units_of(files) == []


def test_one_block_of_several() -> None:
    block = """{name} = [
    action = train
    NDLNetworkBuilder = [
        run = net
        net = [ x = Input({size}, tag = feature) ; y = Tanh(x) ]
    ]
]
"""
    text = "command = A:B\n" + block.format(name="A", size=3) + block.format(name="B", size=4)
    found = [one for one in moves({"two.cntk": text}, "two.cntk", "Input(4") if not one.rule]
    assert [one.title.split("'")[1:2] for one in found] == [["B"], []]
    after = [applied(text.encode(), one.edits["two.cntk"]).decode() for one in found]
    assert after[0].count("BrainScriptNetworkBuilder") == 1
    assert "Input {4" in after[0]
    assert "Input(3" in after[0]
    assert after[1].count("BrainScriptNetworkBuilder") == 2


def test_nothing_is_offered_where_nothing_is_proven() -> None:
    text = NETWORK.replace("Times(w, x)", "Times(unknown, x)")
    found = moves({"train.cntk": moving.AROUND, "network.ndl": text}, "network.ndl", "FF(in)")
    assert [one for one in found if not one.rule] == []
