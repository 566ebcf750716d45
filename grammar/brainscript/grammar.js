/**
 * BrainScript, permissive: whatever a person leaves out is an empty token of the scanner, and
 * whatever stands where nothing can stand is a `stray`, so that every other member stays a member.
 * Newlines never end a member: it goes on as far as its expression can.
 */

const POSTFIX = 99;
const UNARY = 90;
const BINARY = [
  [10, ["*", "/", ".*", "**", "%"]],
  [9, ["+", "-", "with"]],
  [8, ["==", "!=", "<", "<=", ">", ">="]],
  [7, ["&&"]],
  [6, ["||"]],
  [5, ["<<", ">>"]],
  [4, [":"]],
];

/** What a name may consist of beside digits; the scanner has the same table. */
const LETTERS =
  "A-Z_a-z\\u{aa}\\u{b5}\\u{ba}\\u{c0}-\\u{d6}\\u{d8}-\\u{f6}\\u{f8}-\\u{2ff}" +
  "\\u{370}-\\u{167f}\\u{1681}-\\u{1fff}\\u{2c00}-\\u{2fef}\\u{3005}-\\u{d7ff}" +
  "\\u{f900}-\\u{fdcf}\\u{10000}-\\u{effff}";

/** Blanks of any script: the scanner has the same table. */
const BLANK = new RustRegex(
  "[\\s\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}" +
    "\\x{3000}\\x{feff}]",
);

const NOT_IN_VARIABLES =
  "\\s\\x{0}-\\x{20}\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}" +
  "\\x{3000}\\x{feff},/<>?;':\"\\[\\]{}\\\\|!@#%^&*()+=~`$";

/** One or more of a rule, with a separator that may be missing. */
const separated = (rule, separator, missing) =>
  seq(rule, repeat(seq(missing ? choice(separator, missing) : separator, rule)));

module.exports = grammar({
  name: "brainscript",

  word: ($) => $.identifier,

  extras: ($) => [BLANK, $.comment, $.block_comment, $.unclosed_comment],

  externals: ($) => [
    $.number,
    $.string,
    $.unclosed_string,
    $.block_comment,
    $.unclosed_comment,
    $.missing_equals,
    $.missing_operand,
    $._missing_argument,
    $._missing_left,
    $.missing_name,
    $._missing_head,
    $._missing_parameter,
    $.missing_path,
    $.missing_comma,
    $._missing_parameter_comma,
    $.missing_parenthesis,
    $.missing_bracket,
    $.missing_brace,
    $.missing_bar,
    $.missing_then,
    $.missing_else,
    $.missing_range,
    $.stray_word,
    $.unexpected,
    $._error_sentinel,
  ],

  supertypes: ($) => [$.expression],

  rules: {
    source_file: ($) =>
      repeat(
        choice(
          $._entry,
          alias($._loose, $.stray),
          alias($._loose_bracket, $.stray),
          alias($._loose_brace, $.stray),
        ),
      ),

    _entry: ($) => choice($.member, $.include, $.built),

    member: ($) =>
      prec.right(
        -1,
        seq(
          field("name", choice($.identifier, alias($._missing_head, $.missing_name))),
          optional(field("range", $.index_range)),
          optional(field("parameters", $.parameters)),
          choice("=", $.missing_equals),
          field("value", $._operand_or_missing),
          optional(";"),
        ),
      ),

    include: ($) =>
      prec.right(
        seq(
          "include",
          field("path", choice($.string, $.unclosed_string, $.missing_path)),
          optional(";"),
        ),
      ),

    // What the value of a builder is when its text is looked at alone: `{...}`, `({...}.network)`.
    built: ($) =>
      prec.right(
        -1,
        seq(field("value", choice($.parenthesized, $.record, $.new)), optional(";")),
      ),

    index_range: ($) =>
      seq(
        "[",
        field("name", $.identifier),
        ":",
        $._bounds,
        choice("]", $.missing_bracket),
      ),

    parameters: ($) =>
      choice(
        seq("(", optional($._parameters), choice(")", $.missing_parenthesis)),
        seq("{", optional($._parameters), choice("}", $.missing_brace)),
      ),

    _parameters: ($) =>
      separated($.parameter, ",", alias($._missing_parameter_comma, $.missing_comma)),

    parameter: ($) =>
      seq(
        field("name", choice($.identifier, alias($._missing_parameter, $.missing_name))),
        optional(seq("=", field("default", $._operand_or_missing))),
      ),

    _operand_or_missing: ($) => choice($.expression, $.missing_operand),

    expression: ($) =>
      choice(
        $.identifier,
        $.number,
        $.string,
        $.unclosed_string,
        $.boolean,
        $.variable,
        $.parenthesized,
        $.record,
        $.array_literal,
        $.array_constructor,
        $.new,
        $.if,
        $.lambda,
        $.unary,
        $.binary,
        $.call,
        $.index,
        $.select,
      ),

    boolean: (_) => choice("true", "false"),

    // `$name$`: replaced in a configuration before BrainScript sees the text.
    variable: (_) => new RustRegex(`\\$[A-Za-z_][^${NOT_IN_VARIABLES}]*\\$`),

    parenthesized: ($) =>
      seq("(", separated($._operand_or_missing, ","), choice(")", $.missing_parenthesis)),

    record: ($) =>
      choice(
        prec(
          POSTFIX + 2,
          seq(
            // A number is never called: `2 { ... }`.
            optional(alias($.number, $.stray)),
            "{",
            repeat(choice($._entry, alias($._loose, $.stray), alias($._loose_bracket, $.stray))),
            choice("}", $.missing_brace),
          ),
        ),
        seq(
          "[",
          repeat(choice($._entry, alias($._loose, $.stray))),
          choice("]", $.missing_bracket),
        ),
      ),

    array_literal: ($) =>
      seq(
        "[|",
        optional(separated($._operand_or_missing, choice(";", alias(",", $.stray)))),
        choice("|]", $.missing_bar),
      ),

    array_constructor: ($) =>
      seq(
        "array",
        choice(
          seq(
            "[",
            $._bounds,
            choice("]", $.missing_bracket),
            field("element", choice($.parenthesized, $.missing_operand)),
          ),
          field("element", $.missing_operand),
        ),
      ),

    _bounds: ($) =>
      seq(
        field("first", $._operand_or_missing),
        choice("..", $.missing_range),
        field("last", $._operand_or_missing),
        repeat(seq(alias(",", $.stray), $._operand_or_missing)),
      ),

    new: ($) =>
      prec(
        POSTFIX + 1,
        seq(
          "new",
          field("class", choice($.identifier, $.missing_name)),
          field(
            "arguments",
            choice(
              $.record,
              $.parenthesized,
              $.if,
              $.identifier,
              $.string,
              $.number,
              $.variable,
              $.array_literal,
              $.missing_operand,
              $._doubled,
            ),
          ),
        ),
      ),

    // `new X X { ... }`: an object is never called.
    _doubled: ($) => prec(POSTFIX + 2, seq(alias($.identifier, $.stray), $.record)),

    if: ($) =>
      prec.right(
        seq(
          "if",
          field("condition", $._operand_or_missing),
          choice("then", $.missing_then),
          field("consequence", $._operand_or_missing),
          choice("else", $.missing_else),
          field("alternative", $._operand_or_missing),
        ),
      ),

    lambda: ($) =>
      prec.right(
        1,
        seq(field("parameter", $.identifier), "=>", field("body", $._operand_or_missing)),
      ),

    unary: ($) =>
      prec(
        UNARY,
        seq(field("operator", choice("+", "-", "!")), field("operand", $._operand_or_missing)),
      ),

    binary: ($) =>
      choice(
        ...BINARY.map(([level, operators]) =>
          prec.left(
            level,
            seq(
              field("left", choice($.expression, alias($._missing_left, $.missing_operand))),
              field("operator", operators.length > 1 ? choice(...operators) : operators[0]),
              field("right", $._operand_or_missing),
            ),
          ),
        ),
      ),

    call: ($) =>
      prec(POSTFIX, seq(field("function", $.expression), field("arguments", $.arguments))),

    arguments: ($) =>
      choice(
        seq("(", optional($._arguments), choice(")", $.missing_parenthesis)),
        seq("{", optional($._arguments), choice("}", $.missing_brace)),
      ),

    _arguments: ($) => separated($._argument, ",", $.missing_comma),

    _argument: ($) =>
      choice($.expression, $.named_argument, alias($._missing_argument, $.missing_operand)),

    named_argument: ($) =>
      seq(field("name", $.expression), "=", field("value", $._operand_or_missing)),

    index: ($) =>
      prec(
        POSTFIX,
        seq(
          field("target", $.expression),
          "[",
          separated(field("position", $._operand_or_missing), ","),
          choice("]", $.missing_bracket),
        ),
      ),

    select: ($) =>
      prec(
        POSTFIX,
        seq(
          field("object", $.expression),
          ".",
          field("name", choice($.identifier, $.missing_name)),
        ),
      ),

    // What stands where nothing can, by the record it may stand in.
    _loose_bracket: (_) => prec(-2, "]"),
    _loose_brace: (_) => prec(-2, "}"),
    _loose: ($) =>
      prec(
        -2,
        choice(
          $.stray_word,
          $.unexpected,
          $.number,
          $.string,
          $.unclosed_string,
          $.boolean,
          $.variable,
          ...";,=.:*/%+-!<>)".split(""),
          ..."|] [| .* ** with == != <= >= && || << >> => ..".split(" "),
          ...["then", "else", "array", "if"],
        ),
      ),

    identifier: (_) => new RustRegex(`[${LETTERS}][${LETTERS}0-9]*`),

    comment: (_) => token(choice(seq("#", /[^\r\n]*/), seq("//", /[^\r\n]*/))),
  },
});
