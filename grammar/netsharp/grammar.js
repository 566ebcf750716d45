/**
 * Net#, the language of neural network specifications.
 *
 * The grammar accepts more than the language does: what people really write in
 * its place (a misspelt keyword, `(5, 5)`, `Stride: 2`, a missing `;`) has a node
 * of its own, so that a tree keeps its shape around a fault and the checker can
 * say what is wrong.  What may be missing is supplied by the external scanner as
 * a token without text, decided by what follows.
 */

/** A keyword in any case; the lower-case spelling is the one that is reserved. */
function keyword(word) {
  const anyCase = [...word].map((letter) => `[${letter}${letter.toUpperCase()}]`).join("");
  return choice(word, alias(token(new RegExp(anyCase)), word));
}

/** Punctuation and its full-width form from East Asian input methods. */
function mark(ascii, wide) {
  return choice(ascii, alias(wide, ascii));
}

const SEMICOLON = mark(";", "；");
const COMMA = mark(",", "，");
const EQUALS = mark("=", "＝");
const ARROW = choice("=>", "->", alias("＝＞", "=>"));

/** Marks that begin nothing, wherever a declaration or an item may stand. */
const MARKS = [
  ..."=> -> == != < <= > >= + - * / % ^ && || ! : := .".split(" "),
  alias("＝＞", "=>"),
];

/** `s[0] ==` at the end of a declaration. */
const missingOperand = ($) => alias($._missing_operand, $.missing_operand);

const PRECEDENCE = {
  or: 1,
  and: 2,
  equality: 3,
  relation: 4,
  sum: 5,
  product: 6,
  unary: 7,
  power: 8,
  postfix: 9,
};

module.exports = grammar({
  name: "netsharp",

  word: ($) => $.identifier,

  externals: ($) => [
    $._missing_constant_semicolon,
    $._missing_layer_semicolon,
    $._missing_bundle_semicolon,
    $._missing_attribute_semicolon,
    $._missing_block_open,
    $._missing_attributes_close,
    $._missing_body_close,
    $._missing_group_close,
    $._missing_share_open,
    $._missing_share_close,
    $._missing_bracket_open,
    $._missing_bracket_close,
    $._missing_parenthesis_close,
    $._missing_constant,
    $._missing_layer,
    $._missing_condition,
    $._missing_source,
    $._stray_word,
    $._stray_brace,
    $._orphan_name,
    $._keyword_name,
    $._missing_parameters_open,
    $._missing_operand,
    $._error_sentinel,
  ],

  extras: ($) => [
    /\s/,
    $.comment,
    $.block_comment,
    $.unclosed_comment,
    $.hash_comment,
    $.html_comment,
  ],

  reserved: {
    global: ($) => ["const", "input", "hidden", "output", "share"],
    none: ($) => [],
  },

  supertypes: ($) => [$.expression],

  inline: ($) => [$._value],

  rules: {
    source_file: ($) => repeat($._top),

    _top: ($) =>
      choice(
        $.constant_declaration,
        $.layer_declaration,
        $.share_declaration,
        $.unknown_declaration,
        $.orphan,
        $.stray,
      ),

    // What begins no declaration: `;`, a brace too many, a lone word, a mark.
    stray: ($) => choice(SEMICOLON, $._open_brace, $._close_brace, $._junk),

    _junk: ($) => choice($._lone_word, $._mark),

    _lone_word: ($) => seq($._stray_word, $._name),

    _mark: ($) =>
      choice(
        ...MARKS,
        COMMA,
        EQUALS,
        $._open_bracket,
        $._open_parenthesis,
        mark("]", "］"),
        mark(")", "）"),
        $.number,
        $.malformed_number,
        $.placeholder,
      ),

    constant_declaration: ($) =>
      seq(
        field("keyword", keyword("const")),
        repeat(alias($._junk, $.stray)),
        choice(field("item", $.constant), $._group, $._missing_constant),
      ),

    // One rule for all groups, so that a group under the wrong keyword keeps its items.
    _group: ($) =>
      seq(
        $._open_brace,
        repeat(
          choice(
            field("item", choice($.layer, $.constant)),
            $.stray_semicolon,
            alias(choice($._open_brace, $._junk), $.stray),
          ),
        ),
        $._group_close,
      ),

    constant: ($) =>
      seq(
        field("name", $._name),
        optional(seq($._stray_brace, alias($._open_brace, $.stray))),
        EQUALS,
        optional(alias($._open_brace, $.stray)),
        optional(field("value", $._value)),
        choice(SEMICOLON, alias($._missing_constant_semicolon, $.missing_semicolon)),
      ),

    layer_declaration: ($) =>
      seq(
        field("keyword", choice(keyword("input"), keyword("hidden"), keyword("output"))),
        repeat(alias($._junk, $.stray)),
        choice(
          field("item", choice($.layer, alias($._assigned_layer, $.layer))),
          $._group,
          $._missing_layer,
        ),
      ),

    layer: ($) =>
      seq(
        field("name", $._name),
        optional(field("size", $._size)),
        optional(field("activation", $.identifier)),
        $._connections,
      ),

    // `hidden H = [5] from A all;`
    _assigned_layer: ($) =>
      seq(
        field("name", $._name),
        alias(choice(EQUALS, ":", ":="), $.stray),
        field("size", $._size),
        optional(field("activation", $.identifier)),
        $._connections,
      ),

    _connections: ($) =>
      choice(
        SEMICOLON,
        alias($._missing_layer_semicolon, $.missing_semicolon),
        field("bundle", $.bundle),
        field("body", $.body),
      ),

    // A misspelt keyword: `ouput R [1] from H all;`, `hiden { ... }`, `cosnt X = 1;`.
    unknown_declaration: ($) =>
      seq(
        field("keyword", $.identifier),
        choice(
          field("item", choice($.layer, $.constant)),
          $._group,
        ),
      ),

    // An item whose keyword or group is gone; only broken text has it.
    orphan: ($) =>
      choice(
        seq(
          optional($._orphan_name),
          field("item", choice(alias($._orphan_layer, $.layer), $.constant)),
        ),
        seq(field("word", $.identifier), SEMICOLON),
        field("bundle", $.bundle),
      ),

    _orphan_layer: ($) =>
      seq(
        field("name", $._name),
        field("size", $._size),
        optional(field("activation", $.identifier)),
        $._connections,
      ),

    _name: ($) =>
      choice(
        $.identifier,
        $.digit_name,
        // `input input [3];`: the second one can only be meant as a name.
        seq($._keyword_name, reserved("none", $.identifier)),
      ),

    _size: ($) =>
      choice($.auto, $.tuple, alias($._bare_tuple, $.tuple), $.round_tuple, $.parenthesized),

    auto: ($) => keyword("auto"),

    body: ($) =>
      seq(
        $._open_brace,
        repeat(choice($.bundle, $.attribute, $.stray_semicolon)),
        choice($._close_brace, alias($._missing_body_close, $.missing_brace)),
      ),

    stray_semicolon: ($) => SEMICOLON,

    bundle: ($) =>
      seq(
        field("keyword", keyword("from")),
        repeat(alias($._mark, $.stray)),
        choice(
          seq($._missing_source, $._bundle_end),
          seq(
            field("source", $._name),
            choice(
              $._bundle_end,
              field("attributes", $.attributes),
              seq(
                choice(
                  field("kind", $.where),
                  seq(field("kind", $._plain_kind), repeat(alias($._mark, $.stray))),
                ),
                choice(
                  seq(optional(field("misplaced", $.identifier)), $._bundle_end),
                  field("attributes", $.attributes),
                ),
              ),
            ),
          ),
        ),
      ),

    _bundle_end: ($) => choice(SEMICOLON, alias($._missing_bundle_semicolon, $.missing_semicolon)),

    _plain_kind: ($) => choice($.all, $.convolve, $.pool, $.norm, $.unknown_kind),

    all: ($) => keyword("all"),
    convolve: ($) => keyword("convolve"),
    pool: ($) => prec.right(seq(choice(keyword("max"), keyword("mean")), optional(keyword("pool")))),
    norm: ($) => prec.right(seq(keyword("response"), optional(keyword("norm")))),
    unknown_kind: ($) => $.identifier,

    where: ($) =>
      seq(
        keyword("where"),
        optional(
          seq(
            choice(seq($._parameters, optional(ARROW)), ARROW),
            choice(
              seq(
                field("condition", $.expression),
                // `s[0] = d[0]`, `a and b`: what other languages write.
                repeat(seq(alias(choice(EQUALS, "=<", "and", "or"), $.stray), $.expression)),
              ),
              $._missing_condition,
            ),
          ),
        ),
      ),

    // Half-typed ones too: `(s`, `(s, )`, `(, d)`, `(s d)`.
    _parameters: ($) =>
      seq(
        choice($._open_parenthesis, alias($._missing_parameters_open, $.missing_open)),
        choice(
          optional(field("source", $.identifier)),
          seq(
            optional(field("source", $.identifier)),
            COMMA,
            optional(seq(field("destination", $.identifier), optional(COMMA))),
          ),
          seq(field("source", $.identifier), field("destination", $.identifier)),
        ),
        $._parenthesis_close,
      ),

    attributes: ($) =>
      seq(
        choice($._open_brace, alias($._missing_block_open, $.missing_open)),
        repeat(choice($.attribute, $.stray_semicolon, alias($._mark, $.stray))),
        choice($._close_brace, alias($._missing_attributes_close, $.missing_brace)),
      ),

    attribute: ($) =>
      seq(
        field("name", $.identifier),
        optional(field("separator", alias(choice(EQUALS, ":", ":="), $.separator))),
        optional(field("value", $._value)),
        field(
          "terminator",
          choice(
            alias(choice(SEMICOLON, COMMA), $.terminator),
            alias($._missing_attribute_semicolon, $.missing_semicolon),
          ),
        ),
      ),

    share_declaration: ($) =>
      seq(
        field("keyword", keyword("share")),
        choice($._open_brace, alias($._missing_share_open, $.missing_open)),
        optional($._share_list),
        choice($._close_brace, alias($._missing_share_close, $.missing_brace)),
      ),

    _share_list: ($) =>
      seq(
        field("item", $.share_item),
        repeat(seq(field("separator", alias(choice(COMMA, SEMICOLON), $.separator)), optional(field("item", $.share_item)))),
      ),

    share_item: ($) =>
      choice(
        field("name", $.identifier),
        seq(
          field("source", choice($.identifier, $.number)),
          ARROW,
          field("name", $.identifier),
        ),
      ),

    _value: ($) => choice($.expression, $.blob),

    blob: ($) =>
      seq(
        $._open_bracket,
        alias("floats_from_bytes", $.keyword),
        $._open_parenthesis,
        repeat($.float_bytes),
        $._parenthesis_close,
        $._bracket_close,
      ),

    float_bytes: ($) => /[0-9a-fA-F]{8}/,

    expression: ($) =>
      choice(
        $.number,
        $.malformed_number,
        $.boolean,
        $.identifier,
        $.digit_name,
        $.placeholder,
        $.tuple,
        $.parenthesized,
        $.round_tuple,
        $.unary,
        $.binary,
        $.call,
        $.index,
      ),

    tuple: ($) =>
      seq(
        $._open_bracket,
        optional($._items),
        $._bracket_close,
      ),

    // `input A 3];` and `input A 3;`
    _bare_tuple: ($) =>
      seq(alias($._missing_bracket_open, $.missing_open), $._items, $._bracket_close),

    round_tuple: ($) => seq($._open_parenthesis, $._pair, $._parenthesis_close),

    parenthesized: ($) =>
      seq($._open_parenthesis, choice($.expression, missingOperand($)), $._parenthesis_close),

    _items: ($) =>
      choice(
        seq($._item, repeat(seq(COMMA, optional($._item)))),
        repeat1(seq(COMMA, optional($._item))),
      ),

    _item: ($) => seq(optional(alias($._open_brace, $.stray)), $.expression),

    _pair: ($) => seq($.expression, repeat1(seq(COMMA, optional($.expression)))),

    unary: ($) =>
      prec(
        PRECEDENCE.unary,
        seq(
          field("operator", choice("-", "+", "!")),
          field("operand", choice($.expression, missingOperand($))),
        ),
      ),

    binary: ($) => {
      const level = (precedence, ...operators) =>
        prec.left(
          precedence,
          seq(
            field("left", $.expression),
            field("operator", operators.length > 1 ? choice(...operators) : operators[0]),
            field("right", choice($.expression, missingOperand($))),
          ),
        );
      return choice(
        level(PRECEDENCE.or, "||"),
        level(PRECEDENCE.and, "&&"),
        level(PRECEDENCE.equality, "==", "!="),
        level(PRECEDENCE.relation, "<", "<=", ">", ">="),
        level(PRECEDENCE.sum, "+", "-"),
        level(PRECEDENCE.product, "*", "/", "%"),
        prec.right(
          PRECEDENCE.power,
          seq(
            field("left", $.expression),
            field("operator", "^"),
            field("right", choice($.expression, missingOperand($))),
          ),
        ),
      );
    },

    call: ($) =>
      prec(
        PRECEDENCE.postfix,
        seq(
          field("function", $.identifier),
          $._open_parenthesis,
          optional(seq($.expression, repeat(seq(COMMA, $.expression)))),
          $._parenthesis_close,
        ),
      ),

    index: ($) =>
      prec(
        PRECEDENCE.postfix,
        seq(
          field("target", $.expression),
          $._open_bracket,
          field("position", choice($.expression, missingOperand($))),
          $._bracket_close,
        ),
      ),

    boolean: ($) => choice(keyword("true"), keyword("false")),

    placeholder: ($) => choice("...", "…"),

    number: ($) => /[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?|\.[0-9]+([eE][+-]?[0-9]+)?/,

    malformed_number: ($) => /[0-9]*\.[0-9]+\.[0-9.]+|[0-9]+\.[0-9]*\.[0-9.]+/,

    digit_name: ($) => /[0-9]+[A-Za-z_][A-Za-z0-9_]*/,

    identifier: ($) => /[A-Za-z_][A-Za-z0-9_]*/,

    comment: ($) => token(seq("//", /[^\r\n]*/)),

    block_comment: ($) => token(/\/\*([^*]|\*+[^*\/])*\*+\//),

    unclosed_comment: ($) => token(/\/\*([^*]|\*+[^*\/])*\**/),

    hash_comment: ($) => token(seq("#", /[^\r\n]*/)),

    html_comment: ($) => token(/<!--([^-]|-[^-])*-->/),

    _open_brace: ($) => mark("{", "｛"),
    _close_brace: ($) => mark("}", "｝"),
    _open_bracket: ($) => mark("[", "［"),
    _open_parenthesis: ($) => mark("(", "（"),
    _group_close: ($) => choice($._close_brace, alias($._missing_group_close, $.missing_brace)),
    _bracket_close: ($) => choice(mark("]", "］"), alias($._missing_bracket_close, $.missing_bracket)),
    _parenthesis_close: ($) =>
      choice(mark(")", "）"), alias($._missing_parenthesis_close, $.missing_parenthesis)),
  },
});
