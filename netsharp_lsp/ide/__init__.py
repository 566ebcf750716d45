"""What languages tell editors, as plain values; knows no language, no protocol, no editor."""
