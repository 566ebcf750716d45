; Layers and constants are known in the whole file, a predicate's parameters in it alone.

(source_file) @local.scope
(where) @local.scope

(layer name: (identifier) @local.definition.type)
(constant name: (identifier) @local.definition.constant)
(where source: (identifier) @local.definition.parameter)
(where destination: (identifier) @local.definition.parameter)

(bundle source: (identifier) @local.reference)
(share_item name: (identifier) @local.reference)
(share_item source: (identifier) @local.reference)

(index target: (identifier) @local.reference)
(index position: (identifier) @local.reference)
(binary left: (identifier) @local.reference)
(binary right: (identifier) @local.reference)
(unary operand: (identifier) @local.reference)
(call function: (_) (identifier) @local.reference)
(tuple (identifier) @local.reference)
(round_tuple (identifier) @local.reference)
(parenthesized (identifier) @local.reference)
(constant value: (identifier) @local.reference)
(attribute value: (identifier) @local.reference)
