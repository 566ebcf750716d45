"""MEL, the older language for editing CNTK's models; knows no experiment and no rule."""
