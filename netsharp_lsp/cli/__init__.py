"""The command line: one module per subcommand, imported on use.

Here, and nowhere above the engine's data and checkpoints, are disk, environment and clock.
"""
