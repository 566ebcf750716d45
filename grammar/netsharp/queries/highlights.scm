; Patterns do not overlap: editors disagree on whether the first or the last one wins.

[
  (comment)
  (block_comment)
  (unclosed_comment)
  (hash_comment)
  (html_comment)
] @comment

[
  "const"
  "input"
  "hidden"
  "output"
  "share"
  "from"
  "all"
  "where"
  "convolve"
  "max"
  "mean"
  "pool"
  "response"
  "norm"
] @keyword

(unknown_declaration keyword: (identifier) @keyword)
(unknown_kind) @keyword
(keyword) @function.builtin

"auto" @constant.builtin

(layer name: (identifier) @type)
(layer name: (digit_name) @type)
(layer activation: (identifier) @function.builtin)
(bundle source: (identifier) @type)
(bundle source: (digit_name) @type)
(bundle misplaced: (identifier) @function.builtin)
(share_item name: (identifier) @type)
(share_item source: (identifier) @type)

(constant name: (identifier) @constant)
(attribute name: (identifier) @property)
(where source: (identifier) @variable.parameter)
(where destination: (identifier) @variable.parameter)

(call function: (identifier) @function.builtin)
(call function: (_) (identifier) @variable)
(index target: (identifier) @variable)
(index position: (identifier) @variable)
(binary left: (identifier) @variable)
(binary right: (identifier) @variable)
(unary operand: (identifier) @variable)
(tuple (identifier) @variable)
(round_tuple (identifier) @variable)
(parenthesized (identifier) @variable)
(constant value: (identifier) @variable)
(attribute value: (identifier) @variable)
(where condition: (identifier) @variable)

(number) @number
(float_bytes) @number
(boolean) @boolean
(placeholder) @constant.builtin

[
  "=>"
  "->"
  "||"
  "&&"
  "=="
  "!="
  "<"
  "<="
  ">"
  ">="
  "+"
  "-"
  "*"
  "/"
  "%"
  "^"
  "!"
] @operator

(constant "=" @operator)
(separator) @operator

[
  "{"
  "}"
  "["
  "]"
  "("
  ")"
] @punctuation.bracket

(constant ";" @punctuation.delimiter)
(layer ";" @punctuation.delimiter)
(bundle ";" @punctuation.delimiter)
(terminator) @punctuation.delimiter
(stray_semicolon) @punctuation.delimiter
(where "," @punctuation.delimiter)
(tuple "," @punctuation.delimiter)
(round_tuple "," @punctuation.delimiter)
(call "," @punctuation.delimiter)
