"""The shape rule of every native type of node, by what the types do."""
