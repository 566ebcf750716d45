; Patterns do not overlap: editors disagree on whether the first or the last one wins.

(comment) @comment

[
  (string)
  (unclosed_string)
] @string

(assignment name: (key) @property)
(builder name: (key) @keyword)
(macro name: (function_name) @function)
(call function: (function_name) @function.call)
(argument_name) @variable.parameter
(text) @constant
(wrong_closer) @error

"=" @operator

[
  "("
  ")"
  "["
  "]"
  "{"
  "}"
] @punctuation.bracket

[
  ","
  ";"
  ":"
] @punctuation.delimiter
