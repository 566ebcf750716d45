"""Reads a table with pandas and trains one epoch with PyTorch, as ``netsharp run`` does by itself.

    python bench/peer_table.py TABLE BATCH

The last column is the class of the row, all others are normalised to mean 0 and deviation 1.
"""

from __future__ import annotations

import sys

import pandas as pd
import torch

HIDDEN = 64


def main() -> None:
    """Train, and say how often the network is right on the rows that it has seen."""
    path, batch = sys.argv[1], int(sys.argv[2])
    torch.set_num_threads(1)
    torch.manual_seed(0)
    table = pd.read_csv(path)
    labels = torch.tensor(table.pop(table.columns[-1]).to_numpy())
    rows = torch.tensor(table.to_numpy("float32"))
    rows = (rows - rows.mean(0)) / rows.std(0)
    network = torch.nn.Sequential(
        torch.nn.Linear(rows.shape[1], HIDDEN),
        torch.nn.Sigmoid(),
        torch.nn.Linear(HIDDEN, int(labels.max()) + 1),
    )
    optimizer = torch.optim.Adam(network.parameters(), lr=0.005)
    criterion = torch.nn.CrossEntropyLoss()
    order = torch.randperm(len(rows))
    for start in range(0, len(rows), batch):
        chosen = order[start : start + batch]
        optimizer.zero_grad()
        criterion(network(rows[chosen]), labels[chosen]).backward()
        optimizer.step()
    with torch.no_grad():
        right = sum(
            int(
                (
                    network(rows[start : start + 4096]).argmax(1) == labels[start : start + 4096]
                ).sum()
            )
            for start in range(0, len(rows), 4096)
        )
    print(f"accuracy {right / len(rows):.4f}")


if __name__ == "__main__":
    main()
