(member
  name: (identifier) @name
  parameters: (_)) @definition.function

(source_file
  (member
    name: (identifier) @name
    !parameters
    value: (_)) @definition.constant)

(call function: (identifier) @name) @reference.call
(new class: (identifier) @name) @reference.class
