"""The network that the hosts train where a call has no definition of its own."""

from __future__ import annotations

#: What the output layer is, by task.
OUTPUTS = {"binary": "[1] sigmoid", "multiclass": "auto softmax", "regression": "[1] linear"}


def host_network(task: str) -> str:
    """Return the Net# text of one hidden layer with `hidden_nodes` nodes."""
    return (
        "// The host's own network: one hidden layer.\n"
        "input Data auto;\nhidden H auto sigmoid from Data all;\n"
        f"output Result {OUTPUTS.get(task, 'auto')} from H all;\n"
    )
