"""The examples of the guide on configurations give what the program makes of them."""

from __future__ import annotations

import pytest

from tests.cntk.texts import configuration, kinds, shown

BLOCKS = """\
block1 = [id=1;size=256]

block2 = [
    subblock = [string="hi";num=5]
    value = 1e-10
    array = 10:"this is a test":1.25
]
"""

EXAMPLES = [
    ('deviceId = "Auto"', {"deviceId": "Auto"}),
    ("minibatchSize = 256:512*3:1024", {"minibatchSize": "256:512*3:1024"}),
    (
        BLOCKS,
        {
            "block1.id": "1",
            "block1.size": "256",
            "block2.subblock.string": "hi",
            "block2.subblock.num": "5",
            "block2.value": "1e-10",
            # The value ends with its quote; what follows is a key of its own.
            "block2.array": '10:"this is a test"',
            "block2.:1.25": "true",
        },
    ),
    (
        'command = mnistTrain:mnistTest\nmnistTrain = [\n action = "train"\n ...\n]\n'
        'mnistTest = [\n action = "eval"\n ...\n]\n',
        {
            "command": "mnistTrain:mnistTest",
            "mnistTrain.action": "train",
            "mnistTrain....": "true",
            "mnistTest.action": "eval",
            "mnistTest....": "true",
        },
    ),
    (
        "params=[a=1;b=2;c=3]\nparams=[c=5;d=6;e=7]\n",
        {"params.a": "1", "params.b": "2", "params.c": "5", "params.d": "6", "params.e": "7"},
    ),
    ('stderr="c:\\cntk\\log\\cntk" # "_mnistTrain.log"', {"stderr": "c:\\cntk\\log\\cntk"}),
    ("var=1#INF", {"var": "1#INF"}),
    ("A=$B$\nB=$C$\nC=HelloWorld.txt", dict.fromkeys("ABC", "HelloWorld.txt")),
]


@pytest.mark.parametrize(("text", "leaves"), EXAMPLES)
def test_the_guides_examples(text: str, leaves: dict[str, str]) -> None:
    resolved = configuration(text)
    found = {v.path: v.value for v in resolved.values() if v.inside is None}
    assert found == leaves
    assert not kinds(resolved)


def test_elements_of_the_guides_array() -> None:
    (plain,) = configuration("m = 256:512*3:1024").values()
    (long,) = configuration("m = 256:512:512:512:1024").values()
    assert plain.elements == long.elements == ["256", "512", "512", "512", "1024"]


def test_the_guides_ways_to_layer() -> None:
    first = "mnistTrain=[reader=[file=old.txt]]\nvar1=old\n"
    second = 'mnistTrain=[reader=[file="mynewfile.txt"]]\n'
    ways = [
        configuration(first, "b.cntk", "var1=value", "configFile=c.cntk", b=second, c="var2=1"),
        configuration(first, "b.cntk+c.cntk", "var1=value", b=second, c="var2=1"),
        configuration(f"include=b.cntk\n{second}var1=value\ninclude=c.cntk", b=first, c="var2=1"),
    ]
    for resolved in ways:
        tree = shown(resolved)
        assert tree["mnistTrain.reader.file"] == "mynewfile.txt"
        assert (tree["var1"], tree["var2"]) == ("value", "1")


def test_a_chain_of_includes_and_one_file_included_twice() -> None:
    resolved = configuration(
        "include=b.cntk\ninclude=c.cntk\nlast=$first$\n",
        b="include=c.cntk\nx=b\n",
        c="first=c\nx=c\n",
    )
    assert shown(resolved) == {"first": "c", "x": "b", "last": "c"}
    assert kinds(resolved) == ["included-twice"]
