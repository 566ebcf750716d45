"""What is written for a device: C of a network and of what checks its tables, the tables as a file,
the manifest, the `ending` that makes classes or probabilities of answers, the `quantizer` of
features; all of them together are `device_files`, which `packages` lay out for build
systems.

Knows the network in integers, and nothing of how it was made.
"""
