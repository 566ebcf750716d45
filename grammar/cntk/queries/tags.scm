(assignment
  name: (key) @name
  value: (block)) @definition.class

(source_file
  (assignment
    name: (key) @name
    value: [(text) (string) (list) (call) (joined)]) @definition.constant)

(macro name: (function_name) @name) @definition.function
(call function: (function_name) @name) @reference.call
