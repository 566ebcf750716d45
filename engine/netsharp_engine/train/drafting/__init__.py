"""The programs of a run before they are made, and how many threads compute them; no back end."""
