"""Description of a name without a node of its own in Markdown: its declaration, and the nodes
created by it.
"""

from __future__ import annotations

from netsharp_lsp.cntk.checking.analysis import NOT_FILES
from netsharp_lsp.cntk.ide.meanings.glossary import comment_above
from netsharp_lsp.cntk.ide.pages.node_pages import listed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.ide.naming.occurrence import Occurrence
    from netsharp_lsp.cntk.ide.places.edited import Edited
    from netsharp_lsp.cntk.networks.node import Node
    from netsharp_lsp.cntk.run.experiment import Experiment

#: Descriptions of names by their kinds.
KINDS = {
    "member": "a value",
    "node": "a name",
    "local": "a name in a macro",
    "macro": "a macro",
    "function": "a function",
    "parameter": "a parameter",
    "index": "an index",
    "model": "a model",
    "section": "a section",
}
#: A line that is longer is cut off.
WIDTH = 120


def declared_markdown(edited: Edited, found: Occurrence, form: str = "") -> str:
    """Return the description of a name; `form` is how a function is called."""
    declared = next((one for one in edited.same(found) if one.declares), found)
    data = edited.read(declared.file) or b""
    start = data.rfind(b"\n", 0, declared.start) + 1
    end = data.find(b"\n", declared.start)
    line = data[start : len(data) if end < 0 else end].decode("utf-8", "replace").strip()
    shown = form or (line if len(line) <= WIDTH else f"{line[: WIDTH - 4]} ...")
    language = found.key[0] if found.key[0] in ("brainscript", "ndl") else edited.language
    lines = [f"```{language}\n{shown}\n```"]
    comment = comment_above(data, declared.start) if declared.kind != "parameter" else ""
    kind = KINDS.get(declared.kind, "a name")
    where = ""
    if declared.file != edited.name:
        name = declared.file.replace("\\", "/").rpartition("/")[2]
        where = f", declared in {name}:{data.count(bytes([10]), 0, declared.start) + 1}"
    lines.append(f"**{found.name}**: {kind}{where}.")
    if comment:
        lines.append(comment)
    nodes = _nodes(edited, declared, end if end >= 0 else len(data))
    if nodes:
        lines.append("\n".join(["Nodes:", "", *listed(nodes)]))
    return "\n\n".join(lines)


def _nodes(edited: Edited, declared: Occurrence, end: int) -> list[Node]:
    """Return the nodes that are the value of a name, one for each call, and those whose names begin
    with it.
    """
    found: dict[str, Node] = {}
    if declared.kind not in ("member", "node", "local"):
        return []
    for experiment, built in edited.networks():
        nodes = list(built.network.nodes.values()) if built.network is not None else []
        made = [node for node in nodes if _is_made_in(experiment, node, declared, end)]
        longest = max((node.where[2] - node.where[1] for node in made), default=0)
        for node in nodes:
            if node.name.lower().startswith(f"{declared.name.lower()}."):
                found.setdefault(node.name, node)
        for node in made:
            if node.where[2] - node.where[1] == longest:
                found.setdefault(node.name, node)
    return list(found.values())


def _is_made_in(experiment: Experiment, node: Node, declared: Occurrence, end: int) -> bool:
    """Return whether a node is created by the line of a declaration."""
    source, start, _ = node.where
    if not declared.start <= start < end:
        return False
    return not source.startswith(NOT_FILES) and experiment.files.locate(source) == declared.file
