[
  (block)
  (list)
  (brainscript)
] @fold
