"""What is not migrated and why, options that nothing reads, files of macros that configurations
share, and comments of lines that go.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from netsharp_lsp.cntk.checking.check import findings
from netsharp_lsp.cntk.migration.editing.comments import with_comments
from netsharp_lsp.cntk.migration.migrate import Plan
from netsharp_lsp.cntk.run.experiment import Experiment
from netsharp_lsp.workspace import Run
from tests.cntk.migration import moving
from tests.cntk.migration.moving import plan_of, units_of
from tests.costs import assert_in_proportion

INPUT = "x = Input(3, tag = feature)\n"
#: Networks that stop CNTK, with the code of what stops it.
REFUSED = [
    ("Past(x) = PastValue(3, x, timeStep = steps)\ny = Past(x, steps = 2)\n", "ND018"),
    ("Past(x) = [ y = PastValue(n, x) ]\ny = Past(x, n = 3)\n", "ND018"),
    ("y = Times(W, x)\n", "ND006"),
    ("mean = Mean(x)\n", "ND004"),
    ("y = Tanh(x)\ny = Sigmoid(x)\n", "ND005"),
    ("y = Tanh(x, x)\n", "ND008"),
    ("W = Parameter(4, 5)\ny = Times(W, x)\n", "BS051"),
]


@pytest.mark.parametrize(("text", "code"), REFUSED)
def test_what_check_refuses_is_refused_for_the_same_reason(text: str, code: str) -> None:
    texts = {"train.cntk": moving.AROUND.encode(), "network.ndl": (INPUT + text).encode()}
    run = Experiment(Run(("configFile=train.cntk",)), moving.Texts(texts))
    checked = [one for one in findings(run) if one.code == code]
    (unit,) = units_of(texts)
    plan = unit.migrated()
    assert plan.fails
    assert not plan.texts
    (todo,) = plan.todo
    assert checked, [one.code for one in findings(run)]
    first = checked[0]
    assert todo.message.endswith(f"so it is not migrated. {code}: {first.message}")
    assert (todo.file, todo.start, todo.end) == tuple(first.place)


def migrated(text: str) -> tuple[Plan, str]:
    """The plan of a network and what becomes of its text."""
    plan = plan_of({"train.cntk": moving.AROUND, "network.ndl": INPUT + text})
    assert not plan.fails, plan.todo
    return plan, plan.texts["network.bs"].decode()


def test_options_of_a_macro_that_no_one_reads_are_dropped() -> None:
    plan, text = migrated(
        "Twice(a) = Plus(a, a)\nNone() = [ W = Parameter(3, 3) ]\n"
        "y = Twice(x, steps = 2, tag = output, other = x)\nz = None(steps = 2, other = 3)\n"
    )
    assert 'Twice (a, tag="") = Plus (a, a, tag=tag)' in text
    assert 'y = Twice (x, tag="output")' in text
    assert "z = None ()" in text
    assert "steps" not in text
    assert {one.status for one in plan.networks} == {"equal"}


def test_truths_that_a_macro_takes_from_options_are_declared() -> None:
    _, text = migrated(
        "P(a) = Pooling(a, max, {2, 2, 1}, autoPadding = pad)\n"
        "i = ImageInput(4, 4, 2, imageLayout = cudnn, tag = feature)\n"
        "y = P(i, pad = false, unread = 3)\nz = P(i, pad = true)\n"
    )
    assert "P (a, pad=false) = Pooling" in text
    assert "y = P (i, pad=false)" in text
    assert "z = P (i, pad=true)" in text


MACROS = "Layer(a) = [ W = Parameter(3, 3) ; y = Times(W, a) ]\n"
SHARED = """command = Train
Train = [
    action = train
    NDLNetworkBuilder = [
        networkDescription = "{}.ndl"
        ndlMacros = "m.ndl"
    ]
]
"""


def one_by_one(*networks: str) -> tuple[dict[str, bytes], list[Plan]]:
    """Files after the migration of one configuration after the other, and the plan of each."""
    texts = {"m.ndl": MACROS.encode()}
    for number, network in enumerate(networks):
        texts[f"{number}.cntk"] = SHARED.format(number).encode()
        texts[f"{number}.ndl"] = (INPUT + network).encode()
    plans = []
    for number in range(len(networks)):
        (unit,) = units_of(texts, runs=[(f"configFile={number}.cntk",)])
        plans.append(unit.migrated())
        if not plans[-1].fails:
            texts |= unit.changed()
    return texts, plans


def test_a_shared_file_of_macros_stays_where_it_serves_all() -> None:
    texts, plans = one_by_one("y = Layer(x)\nz = Tanh(y.W)\n", "v = Layer(x)\nz = Tanh(v.y)\n")
    assert not any(plan.fails for plan in plans), [plan.todo for plan in plans]
    assert "m.bs" in plans[0].texts
    assert b"NDL" not in texts["0.cntk"] + texts["1.cntk"]


def test_a_file_of_macros_that_someone_added_to_serves_on() -> None:
    texts, plans = one_by_one("y = Layer(x)\n")
    texts["m.bs"] += b"\n# More.\nTwice (a) = Plus (a, a)\n"
    texts["b.cntk"] = SHARED.format("b").encode()
    texts["b.ndl"] = (INPUT + "h = Layer(x)\n").encode()
    (unit,) = units_of(texts, runs=[("configFile=b.cntk",)])
    assert not unit.migrated().fails, unit.plan.todo
    assert "m.bs" not in unit.changed()
    assert not plans[0].fails


def test_where_a_shared_file_cannot_serve_both_the_way_is_named() -> None:
    texts, (first, second) = one_by_one("y = Layer(x)\n", "y = Layer(x)\nz = Tanh(y.W)\n")
    assert not first.fails
    assert second.fails
    (message,) = [one.message for one in second.todo if one.blocks]
    assert "m.bs exists and is different" in message
    assert "netsharp migrate --write 1.cntk and the others." in message
    assert b"NDLNetworkBuilder" in texts["1.cntk"]
    together = {name: data for name, data in texts.items() if not name.endswith(".bs")}
    together["0.cntk"] = SHARED.format(0).encode()
    (unit,) = units_of(together)
    assert not unit.migrated().fails


@pytest.mark.parametrize(
    ("text", "record", "whole"),
    [
        (b"a = 1\n# c\n  # d\n  b = 2 ; # e\nc = 3\n", b"b = 2", b"# c\n  # d\n  b = 2 ; # e"),
        (b"# head\nb = 2\n", b"b = 2", b"b = 2"),
        (b"# head\r\n\r\n# c\r\nb = 2 # e\r\n", b"b = 2", b"# c\r\nb = 2 # e"),
        (b"a = 1\n# c\na = 1 ; b = 2 # e\n", b"b = 2", b"b = 2"),
        (b"a = 1\n# c\nb = 2 ; a = 1 # e\n", b"b = 2", b"b = 2"),
        (b"a = 1\n# c\nb = 2#e\n", b"b = 2", b"b = 2"),
        (b"a = 1\nb = 2", b"b = 2", b"b = 2"),
    ],
)
def test_comments_of_a_record(text: bytes, record: bytes, whole: bytes) -> None:
    start = text.index(record)
    low, high = with_comments(text, start, start + len(record))
    assert text[low:high] == whole


def test_long_lines_and_many_records_on_one_cost_in_proportion() -> None:
    def prepared(count: int) -> Callable[[], object]:
        blanks = b"a = 1" + b" " * count + b"b = 2\n"
        crowded = b"a = 1 ; " * count + b"\n"

        def taken() -> None:
            with_comments(blanks, 0, 5)
            for number in range(count):
                with_comments(crowded, 8 * number, 8 * number + 5)

        return taken

    assert_in_proportion(prepared, 8_000, 64_000, slack=5)


COMMENTED = """command = Train
# which one is run

# the section
run = net  # for now
Train = [
    action = train
    NDLNetworkBuilder = [  # in NDL
        # the file
        networkDescription = "network.ndl"  # of two parts
        # seed
        # of the numbers
        randomSeedOffset = 3

        # free
    ]
]
"""
SECTIONS = """# Head of the file.

# what is loaded
load = mac
# what is run
run = net   # behind

# the macros
mac = [ Two(a) = Plus(a, a) ]
# the net
net = [
    # the input
    x = Input(3, tag = feature)
    y = Two(x)
]  # end
# spare
other = [ x = Input(3) ]
"""


def test_comments_of_lines_that_go_go_and_others_stay_where_they_belong() -> None:
    plan = plan_of({"train.cntk": COMMENTED, "network.ndl": SECTIONS})
    assert not plan.fails, plan.todo
    network = plan.texts["network.bs"].decode()
    assert network == (
        "# Head of the file.\n\n# the macros\nTwo (a) = Plus (a, a)\n\n# the net\n# end\n"
        '# the input\nx = Input {3, tag="feature"}\ny = Two (x)\n\n# spare\n'
        "# other = [ x = Input(3) ]\n"
    )
    around = plan.texts["train.cntk"].decode()
    for gone in ("seed", "of the numbers", "the section", "for now"):
        assert f"# {gone}" not in around, around
    assert "# which one is run\n" in around
    assert '# the file\n        # of two parts\n        include "network.bs"' in around
    assert around.index("# in NDL") < around.index("# free") < around.index("# the file")
