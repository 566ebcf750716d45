"""How a run of CNTK is trained, evaluated and written: from configurations and networks to what the
engine computes.  Knows no terminal and no array.
"""
