"""Rules on what a run is to do: its commands, options, readers, models and files."""
