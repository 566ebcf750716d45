; A block sees the keys of the blocks around it.

(source_file) @local.scope
(block) @local.scope

(assignment name: (key) @local.definition.var)
(macro name: (function_name) @local.definition.function)
(call function: (function_name) @local.reference)
(list (text) @local.reference)
(named value: (text) @local.reference)
(assignment value: (text) @local.reference)
