[
  (body)
  (attributes)
  (tuple)
  (blob)
  (layer_declaration)
  (constant_declaration)
  (unknown_declaration)
  (share_declaration)
  (block_comment)
] @fold
