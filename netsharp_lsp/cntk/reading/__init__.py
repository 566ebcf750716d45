"""From the text of a configuration to its syntax: no meaning, no look-up, no disk."""
