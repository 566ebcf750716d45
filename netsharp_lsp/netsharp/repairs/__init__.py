"""Fixes that rules propose, in the style of the text around them; they find no fault."""
