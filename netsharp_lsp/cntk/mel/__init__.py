"""MEL, the older language in which CNTK's models are edited; knows no experiment and no rule."""
