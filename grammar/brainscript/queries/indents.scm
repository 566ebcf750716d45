; The first name of each pair is Neovim's, the second Helix's and Zed's.

[
  (record)
  (array_literal)
  (parenthesized)
  (arguments)
  (parameters)
] @indent.begin @indent

[
  "}"
  "]"
  ")"
  "|]"
] @indent.branch @outdent @end
