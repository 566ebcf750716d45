"""A class has its name to itself, unless a reason here says why another has it, too.

A reader of a name should not need the imports to know what it is.  A name that a module's own
class has, with an underscore, meets no other module.
"""

from __future__ import annotations

import ast
from collections import Counter
from functools import cache

from tests.house.test_dependencies import MODULES
from tests.house.trees import nodes

#: Names that several classes have, by the reason; `*3` where they are not two.
SHARED = {
    "one is the protocol or the generic base, the others answer to it": (
        "Change*5 Configurations Experiments*3 Finding*3 Migrations MigrationUnit Note*3 PlacedRun"
        " Repair*3 Snapshot*3 Training*3"
    ),
    "languages have each their own syntax, of parts that every language has": (
        "Argument Array Assignment Binary Block*3 Broken Builder Choice*3 Comment*3 Declaration"
        " Deep Document Function*3 Index*3 Name*3 Number Option*3 Parameter*4 Record*3"
        " Text*3 Token Unary Value*4"
    ),
    "languages have each their own way from text to meaning, and back to a page": (
        "Assembly Connection Edited Entry*3 Evaluator ExpressionReader Facts Frame*3"
        " Given Group Item*3 Line Names Part Reader*3 Resolver Revision Scope Sheet"
        " Signature Site*3 Surroundings*3 Symbol Template Unit Use*3 View Writing"
    ),
    "the engine, Net# and CNTK have each their own network, none of which holds another's": (
        "Analysis Axis Draft Fault Figures*3 Graph Meter Model*3 Network*3 Node*5 Program*3"
    ),
    "a command, a migration and a training plan, run and report each their own": (
        "Case Edit*3 Outcome*3 Plan*3 Renaming Report Result Run*3"
    ),
    "what is asked and answered has people's word for it on each floor, the public door included": (
        "Around*3 Command*3 Comparison*3 Diagnostic Difference*4 Experiment Files Fix Job*4"
        " Migration*4 Named*3 Source*3 Specification Subject*3 SubjectError Workspace"
    ),
}
#: Where one module meets two classes of a name and calls one of them otherwise.
MET = {
    "netsharp._texts": "Comparison as Compared",
    "netsharp_lsp.specification": "Diagnostic as Finding",
    "netsharp_lsp.server.surroundings.experiments": (
        "Experiments as FamilyExperiments, Workspace as Surroundings"
    ),
    "netsharp_lsp.cntk.ide.places.blocks": "Block as Table",
}


@cache
def bearers() -> Counter[str]:
    """How many classes have a name."""
    return Counter(
        node.name
        for path in MODULES.values()
        for node in nodes(path)
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )


def listed() -> Counter[str]:
    found: Counter[str] = Counter()
    for names in SHARED.values():
        for one in names.split():
            name, _, number = one.partition("*")
            assert name not in found
            found[name] = int(number or 2)
    return found


def test_a_class_has_its_name_to_itself() -> None:
    shared = {name: number for name, number in bearers().items() if number > 1}
    assert shared == dict(listed())


def test_no_module_meets_two_classes_of_a_name() -> None:
    called = {
        name: ", ".join(
            sorted(
                f"{alias.name} as {alias.asname}"
                for node in nodes(path)
                if isinstance(node, ast.ImportFrom) and node.module in MODULES
                for alias in node.names
                if alias.asname not in (None, alias.name) and alias.name in bearers()
            )
        )
        for name, path in MODULES.items()
    }
    assert {name: names for name, names in called.items() if names} == MET
