; Layers are the classes of a network, bundles its functions, attributes their
; parameters.  `outer` and `inner` are Neovim's names, `around` and `inside` those of
; Helix and Zed.

(layer) @class.outer @class.around
(layer body: (body) @class.inner @class.inside)
(layer bundle: (bundle) @class.inner @class.inside)

(bundle) @function.outer @function.around
(bundle attributes: (attributes) @function.inner @function.inside)
(where condition: (_) @function.inner @function.inside)

(attribute) @parameter.outer @parameter.around
(attribute value: (_) @parameter.inner @parameter.inside)
(tuple (_) @parameter.inner @parameter.inside)

(constant) @assignment.outer @entry.around
(constant value: (_) @assignment.inner @entry.inside)

[
  (comment)
  (block_comment)
] @comment.outer @comment.around @comment.inner @comment.inside
