; The first name of each pair is Neovim's, the second Helix's and Zed's.

[
  (body)
  (attributes)
  (tuple)
  (blob)
] @indent.begin @indent

(layer_declaration "{") @indent.begin @indent
(constant_declaration "{") @indent.begin @indent
(unknown_declaration "{") @indent.begin @indent
(share_declaration "{") @indent.begin @indent

[
  "}"
  "]"
] @indent.branch @outdent @end
