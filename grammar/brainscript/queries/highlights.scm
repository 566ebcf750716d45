; Patterns do not overlap: editors disagree on whether the first or the last one wins.

[
  (comment)
  (block_comment)
  (unclosed_comment)
] @comment

[
  "include"
  "new"
  "with"
  "if"
  "then"
  "else"
  "array"
] @keyword

(boolean) @boolean
(number) @number

[
  (string)
  (unclosed_string)
] @string

(variable) @constant.macro
(unexpected) @error
(stray_word) @error

(member name: (identifier) @variable)
(parameter name: (identifier) @variable.parameter)
(lambda parameter: (identifier) @variable.parameter)
(index_range name: (identifier) @variable.parameter)
(named_argument name: (identifier) @property)
(select name: (identifier) @property)
(new class: (identifier) @type)
(call function: (identifier) @function)

; A name as a value, by what it is the value of.
(member value: (identifier) @variable)
(parameter default: (identifier) @variable)
(named_argument value: (identifier) @variable)
(lambda body: (identifier) @variable)
(arguments (identifier) @variable)
(parenthesized (identifier) @variable)
(array_literal (identifier) @variable)
(index target: (identifier) @variable)
(index position: (identifier) @variable)
(select object: (identifier) @variable)
(unary operand: (identifier) @variable)
(binary left: (identifier) @variable)
(binary right: (identifier) @variable)
(if condition: (identifier) @variable)
(if consequence: (identifier) @variable)
(if alternative: (identifier) @variable)
(index_range first: (identifier) @variable)
(index_range last: (identifier) @variable)
(array_constructor first: (identifier) @variable)
(array_constructor last: (identifier) @variable)
(new arguments: (identifier) @variable)

[
  "="
  "=>"
  "+"
  "-"
  "*"
  "/"
  ".*"
  "**"
  "%"
  "=="
  "!="
  "<"
  "<="
  ">"
  ">="
  "&&"
  "||"
  "<<"
  ">>"
  "!"
  ".."
] @operator

[
  "("
  ")"
  "["
  "]"
  "{"
  "}"
  "[|"
  "|]"
] @punctuation.bracket

[
  ","
  ";"
  "."
  ":"
] @punctuation.delimiter
