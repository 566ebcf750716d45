"""The files for a device: C of a network and of the check of its tables, the tables as a file, the
manifest, the `ending` that makes classes or probabilities of answers, the `quantizer` of features;
`device_files` has all of them, which `packages` lay out for build systems.

Knows the network in integers, and not how it was made.
"""
