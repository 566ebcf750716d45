"""Networks to be looked at: tables, pictures and graphs, and the folder for those that are files.

What is drawn comes from a snapshot or a run; no language is known here.
"""
