/**
 * CNTK configurations, and NDL and MEL, which are written in the same tokens: an NDL section
 * cannot be told from a configuration section by its text.
 *
 * A record ends with its line, at `,` or `;`, or behind the closing bracket or quote of its value;
 * what follows on the line is a record of its own.  What a word is (a key, a function, a value)
 * depends on what stands behind it, so every token comes from the external scanner.  Lists with
 * `:` outside of parentheses stay one leaf: what they hold depends on who reads them.  The value of
 * a BrainScript builder is one leaf, into which the other grammar is injected.
 */

const newline = ($) => alias($._newline, "\n");
const comma = ($) => alias($._comma, ",");
const semicolon = ($) => alias($._semicolon, ";");
const colon = ($) => alias($._colon, ":");
const equals = ($) => alias($._equals, "=");
const valueText = ($) => alias($._value_text, $.text);
const moreText = ($) => alias($._more_text, $.text);
const listText = ($) => alias($._list_text, $.text);

module.exports = grammar({
  name: "cntk",

  extras: ($) => [/[ \t\f\v\ufeff]/, $.comment],

  externals: ($) => [
    $.comment,
    $.key,
    $._builder_key,
    $._call_name,
    $._argument_name,
    $.text,
    $._value_text,
    $._more_text,
    $._list_text,
    $.string,
    $.unclosed_string,
    $.brainscript,
    $._open_bracket,
    $._open_brace,
    $._open_parenthesis,
    $._close_bracket,
    $._close_brace,
    $._close_parenthesis,
    $.wrong_closer,
    $.missing_bracket,
    $.missing_brace,
    $.missing_parenthesis,
    $._stray_closer,
    $._newline,
    $._comma,
    $._semicolon,
    $._colon,
    $._equals,
    $._error_sentinel,
  ],

  rules: {
    source_file: ($) => repeat(choice($._record, $._separator, alias($._stray_closer, $.stray))),

    _separator: ($) => choice(newline($), comma($), semicolon($)),

    _record: ($) =>
      choice($.assignment, $.builder, $.macro, $.call, $.flag, alias($._loose, $.stray)),

    // Where a value is missing, none stands here: `stderr=`.
    assignment: ($) =>
      prec.right(
        choice(
          seq(field("name", $.key), equals($), optional(field("value", $._value))),
          seq(field("name", $.key), field("value", choice($.block, $.string, $.unclosed_string))),
        ),
      ),

    // `BrainScriptNetworkBuilder = { ... }`, in any case, and its older name.
    builder: ($) =>
      prec.right(
        seq(
          field("name", alias($._builder_key, $.key)),
          optional(
            seq(
              optional(alias($._value_text, $.stray)),
              equals($),
              repeat(alias($._equals, $.stray)),
            ),
          ),
          optional(
            choice(
              field("value", choice(valueText($), $.string, $.unclosed_string)),
              seq(optional(alias($._value_text, $.stray)), field("value", $.brainscript)),
            ),
          ),
        ),
      ),

    // `FF(x, W, b) = Plus(Times(W, x), b)`; before a block the `=` may be left out.
    macro: ($) =>
      prec.right(
        1,
        seq(
          field("name", alias($._call_name, $.function_name)),
          field("parameters", $.list),
          choice(
            seq(equals($), optional(field("body", choice($._value, $.macro)))),
            field("body", $.block),
          ),
        ),
      ),

    call: ($) =>
      prec.right(
        seq(field("function", alias($._call_name, $.function_name)), field("arguments", $.list)),
      ),

    // A key alone is true; a block alone gives its records to the block around it.
    flag: ($) =>
      prec.right(choice($.text, $.string, $.block, $.list, alias($._joined_flag, $.joined))),

    _value: ($) =>
      choice(
        valueText($),
        $.string,
        $.unclosed_string,
        $.block,
        $.list,
        $.call,
        alias($._joined_value, $.joined),
      ),

    // Words, and the bracket or quote behind them, up to its partner, are one value: `a b[1]`.
    _joined_flag: ($) => prec(1, seq($.text, $._rest)),
    _joined_value: ($) => prec(1, seq(valueText($), $._rest)),
    _rest: ($) => prec.right(choice(repeat1(moreText($)), seq(repeat(moreText($)), $._nested))),
    _nested: ($) => choice($.block, $.list, $.string, $.unclosed_string),

    block: ($) =>
      choice(
        seq(
          alias($._open_bracket, "["),
          repeat(choice($._record, $._separator)),
          choice(alias($._close_bracket, "]"), $.missing_bracket, $.wrong_closer),
        ),
        seq(
          alias($._open_brace, "{"),
          repeat(choice($._record, $._separator)),
          choice(alias($._close_brace, "}"), $.missing_brace, $.wrong_closer),
        ),
      ),

    // `(a:b)`, `(;c:\x;d:\y)` and the arguments of a call.
    list: ($) =>
      seq(
        alias($._open_parenthesis, "("),
        repeat(choice($._element, $._separator, colon($), equals($))),
        choice(alias($._close_parenthesis, ")"), $.missing_parenthesis, $.wrong_closer),
      ),

    _element: ($) => choice($._item, $.named),

    _item: ($) => choice(listText($), $.string, $.unclosed_string, $.block, $.list, $.call),

    named: ($) =>
      prec.right(
        seq(
          field("name", alias($._argument_name, $.argument_name)),
          equals($),
          optional(field("value", $._item)),
        ),
      ),

    _loose: ($) => prec(-1, choice(equals($), $.unclosed_string)),
  },
});
