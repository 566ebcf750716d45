[
  (record)
  (array_literal)
  (parenthesized)
  (arguments)
  (parameters)
  (block_comment)
] @fold
