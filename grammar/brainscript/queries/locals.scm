; Members of a record see each other in any order; parameters are known in their own member.

(source_file) @local.scope
(record) @local.scope
(member) @local.scope
(lambda) @local.scope

(member name: (identifier) @local.definition.var)
(parameter name: (identifier) @local.definition.parameter)
(lambda parameter: (identifier) @local.definition.parameter)
(index_range name: (identifier) @local.definition.parameter)

(call function: (identifier) @local.reference)
(member value: (identifier) @local.reference)
(parameter default: (identifier) @local.reference)
(named_argument value: (identifier) @local.reference)
(lambda body: (identifier) @local.reference)
(arguments (identifier) @local.reference)
(parenthesized (identifier) @local.reference)
(array_literal (identifier) @local.reference)
(index target: (identifier) @local.reference)
(index position: (identifier) @local.reference)
(select object: (identifier) @local.reference)
(unary operand: (identifier) @local.reference)
(binary left: (identifier) @local.reference)
(binary right: (identifier) @local.reference)
(if (identifier) @local.reference)
(index_range first: (identifier) @local.reference)
(index_range last: (identifier) @local.reference)
(array_constructor (identifier) @local.reference)
(new arguments: (identifier) @local.reference)
