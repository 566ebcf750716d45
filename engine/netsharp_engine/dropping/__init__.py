"""Which values dropout drops: the same on every device, decided by a counter-based generator.

A back end computes masks where it computes values; here are the definition and the host's way.
"""

from netsharp_engine.dropping.draws import Draw, kept_from, layer_mask, masks_of, scale_of

__all__ = ("Draw", "kept_from", "layer_mask", "masks_of", "scale_of")
