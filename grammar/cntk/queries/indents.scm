; The first name of each pair is Neovim's, the second Helix's and Zed's.

[
  (block)
  (list)
] @indent.begin @indent

[
  "}"
  "]"
  ")"
] @indent.branch @outdent @end
