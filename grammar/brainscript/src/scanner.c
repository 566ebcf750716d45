/* What BrainScript's words need more than a pattern for, and what a text leaves out.
 *
 * Numbers stop before `..`, strings run over lines, and a block comment does not end at an even
 * number of stars before its slash.  All other tokens are empty: the mark, operand or word that is
 * missing here, decided only by what follows, so that a fault stays inside its own member.  The
 * scanner keeps no state, which makes an incremental parse as good as a fresh one.
 */
#include "tree_sitter/parser.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum Token {
    NUMBER,
    STRING,
    UNCLOSED_STRING,
    BLOCK_COMMENT,
    UNCLOSED_COMMENT,
    MISSING_EQUALS,
    MISSING_OPERAND,
    MISSING_ARGUMENT,
    MISSING_LEFT,
    MISSING_NAME,
    MISSING_HEAD,
    MISSING_PARAMETER,
    MISSING_PATH,
    MISSING_COMMA,
    MISSING_PARAMETER_COMMA,
    MISSING_PARENTHESIS,
    MISSING_BRACKET,
    MISSING_BRACE,
    MISSING_BAR,
    MISSING_THEN,
    MISSING_ELSE,
    MISSING_RANGE,
    STRAY_WORD,
    UNEXPECTED,
    ERROR_SENTINEL,
};

enum { WORD_SIZE = 12, READ_LIMIT = 2000 };

/* What comes next, as far as a decision needs it. */
enum Next {
    NOTHING,  /* the end of the text */
    CLOSER,   /* ) ] } |] */
    COMMA,
    SEMICOLON,
    EQUALS,   /* a lone = */
    ARROW,    /* => */
    RANGE,    /* .. */
    THEN,
    ELSE,
    QUOTE,
    SIGN,     /* + - ! : an operator, or the start of an operand */
    OPENER,   /* ( [ { : an application, or the start of an operand */
    DOT,
    INFIX,    /* any other operator */
    HEAD,     /* a name that an `=` makes a member */
    NAME,     /* any other name */
    OPERAND,  /* a number, new, if, array, true, false, [| */
    OTHER,
};

typedef struct {
    TSLexer *lexer;
    int budget;
} Reader;

/* `mark`: a word ahead may become a token.  `line`: it is the first of its line.  `plain`: the
 * head has no brackets, so that within a call it may be the name of an argument.  `apart`: its
 * `=` stands on a later line, as where the name before that `=` is gone. */
typedef struct {
    bool mark;
    bool line;
    bool plain;
    bool apart;
} Ahead;

static bool at_end(Reader *reader) {
    return reader->budget <= 0 || reader->lexer->eof(reader->lexer);
}

static void advance(Reader *reader) {
    reader->budget--;
    reader->lexer->advance(reader->lexer, false);
}

static int32_t peek(Reader *reader) { return at_end(reader) ? 0 : reader->lexer->lookahead; }

/* What `\s` is in the grammar. */
static bool is_blank(int32_t c) {
    return c == ' ' || (c >= '\t' && c <= '\r') || c == 0x85 || c == 0xa0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f ||
           c == 0x205f || c == 0x3000 || c == 0xfeff;
}

static bool is_digit(int32_t c) { return c >= '0' && c <= '9'; }

/* The letters of the grammar's `identifier`, whatever the locale is. */
static bool is_letter(int32_t c) {
    static const int32_t RANGES[][2] = {
        {'A', 'Z'},       {'_', '_'},       {'a', 'z'},       {0xaa, 0xaa},     {0xb5, 0xb5},
        {0xba, 0xba},     {0xc0, 0xd6},     {0xd8, 0xf6},     {0xf8, 0x2ff},    {0x370, 0x167f},
        {0x1681, 0x1fff}, {0x2c00, 0x2fef}, {0x3005, 0xd7ff}, {0xf900, 0xfdcf}, {0x10000, 0xeffff},
    };
    for (unsigned i = 0; i < sizeof RANGES / sizeof RANGES[0]; i++)
        if (c <= RANGES[i][1]) return c >= RANGES[i][0];
    return false;
}

static bool is_word(int32_t c) { return is_letter(c) || is_digit(c); }

static void skip_line(Reader *reader) {
    while (!at_end(reader) && peek(reader) != '\n' && peek(reader) != '\r') advance(reader);
}

/* Behind the opening star; true where the comment is closed. */
static bool skip_block(Reader *reader) {
    while (!at_end(reader)) {
        bool star = peek(reader) == '*';
        advance(reader);
        if (!star) continue;
        bool slash = peek(reader) == '/';
        if (!at_end(reader)) advance(reader);
        if (slash) return true;
    }
    return false;
}

/* Passes blanks and comments; tells whether a line ended.  A lone `/` is consumed: `slash`. */
static bool skip_trivia(Reader *reader, bool *slash) {
    bool line = false;
    for (;;) {
        int32_t c = peek(reader);
        if (is_blank(c)) {
            line |= c == '\n' || c == '\r';
            advance(reader);
        } else if (c == '#') {
            skip_line(reader);
        } else if (c == '/') {
            advance(reader);
            if (peek(reader) == '/') {
                skip_line(reader);
            } else if (peek(reader) == '*') {
                advance(reader);
                skip_block(reader);
            } else {
                *slash = true;
                return line;
            }
        } else {
            return line;
        }
    }
}

static void read_word(Reader *reader, char *word) {
    int length = 0;
    while (is_word(peek(reader))) {
        int32_t c = peek(reader);
        if (length < WORD_SIZE - 1) word[length++] = (char)(c < 128 ? c : '?');
        advance(reader);
    }
    word[length] = 0;
}

static bool is_one_of(const char *word, const char *const *words) {
    for (; *words; words++)
        if (!strcmp(word, *words)) return true;
    return false;
}

static const char *const OPERAND_WORDS[] = {"new", "if", "array", "true", "false", NULL};
static const char *const RESERVED[] = {"include", "new",  "with", "true",  "false",
                                       "if",      "then", "else", "array", NULL};

/* Passes a bracket and what it holds. */
static void skip_brackets(Reader *reader) {
    int depth = 0;
    while (!at_end(reader)) {
        bool slash = false;
        skip_trivia(reader, &slash);
        int32_t c = peek(reader);
        if (c == '"' || c == '\'') {
            advance(reader);
            while (!at_end(reader) && peek(reader) != c) advance(reader);
        }
        if (c == '(' || c == '[' || c == '{') depth++;
        if (c == ')' || c == ']' || c == '}') depth--;
        if (!at_end(reader)) advance(reader);
        if (depth <= 0) return;
    }
}

/* Whether a lone `=` comes, after blanks and comments; `apart`: on a later line. */
static bool equals_ahead(Reader *reader, bool *apart) {
    bool slash = false;
    *apart = skip_trivia(reader, &slash);
    if (slash || peek(reader) != '=') return false;
    advance(reader);
    return peek(reader) != '=' && peek(reader) != '>';
}

/* Behind a name: whether brackets, if any, and an `=` follow. */
static bool is_head(Reader *reader, Ahead *ahead) {
    bool slash = false;
    bool line = skip_trivia(reader, &slash);
    if (slash) return false;
    ahead->plain = true;
    for (int brackets = 0; brackets < 2; brackets++) {
        int32_t c = peek(reader);
        if (c != '(' && c != '[' && c != '{') break;
        ahead->plain = false;
        skip_brackets(reader);
        line = skip_trivia(reader, &slash);
        if (slash) return false;
    }
    bool later = false;
    bool head = equals_ahead(reader, &later);
    ahead->apart = line || later;
    return head;
}

/* Whether a value stands behind a name on the same line, as where an `=` was forgotten. */
static bool value_ahead(Reader *reader) {
    while (peek(reader) == ' ' || peek(reader) == '\t') advance(reader);
    int32_t c = peek(reader);
    if (is_digit(c) || c == '"' || c == '\'' || c == '$') return true;
    if (!is_letter(c)) return false;
    char word[WORD_SIZE];
    Ahead beyond = {0};
    read_word(reader, word);
    if (is_one_of(word, OPERAND_WORDS)) return true;
    return !is_one_of(word, RESERVED) && !is_head(reader, &beyond);
}

static enum Next classify_word(Reader *reader, Ahead *ahead) {
    char word[WORD_SIZE];
    read_word(reader, word);
    if (ahead->mark) reader->lexer->mark_end(reader->lexer);
    if (!strcmp(word, "then")) return THEN;
    if (!strcmp(word, "else")) return ELSE;
    if (!strcmp(word, "with")) return INFIX;
    if (is_one_of(word, OPERAND_WORDS)) return OPERAND;
    if (!strcmp(word, "include")) return HEAD;
    if (ahead->mark && ahead->line && (peek(reader) == ' ' || peek(reader) == '\t')) {
        /* One look serves both questions: a value behind a name is no `=`. */
        while (peek(reader) == ' ' || peek(reader) == '\t') advance(reader);
        if (peek(reader) != '=' && value_ahead(reader)) return HEAD;
    }
    return is_head(reader, ahead) ? HEAD : NAME;
}

/* Behind a `$`: whether a name and another one follow. */
static bool is_variable(Reader *reader) {
    static const char ENDS[] = ",/<>?;':\"[]{}\\|!@#%^&*()+=~`";
    if (!is_letter(peek(reader)) || peek(reader) >= 128) return false;
    while (peek(reader) > 32 && peek(reader) != '$') {
        if (peek(reader) < 128 && strchr(ENDS, (int)peek(reader))) return false;
        if (is_blank(peek(reader))) return false;
        advance(reader);
    }
    return peek(reader) == '$';
}

static enum Next classify(Reader *reader, Ahead *ahead) {
    int32_t c = peek(reader);
    if (at_end(reader)) return NOTHING;
    if (is_letter(c)) return classify_word(reader, ahead);
    if (is_digit(c)) return OPERAND;
    if (c == '"' || c == '\'') return QUOTE;
    if (c == ')' || c == ']' || c == '}') return CLOSER;
    if (c == '(' || c == '{') return OPENER;
    if (c == ',') return COMMA;
    if (c == ';') return SEMICOLON;
    if (c == '+' || c == '-') return SIGN;
    advance(reader);
    if (ahead->mark && c != '=') reader->lexer->mark_end(reader->lexer);
    if (c == '$') return is_variable(reader) ? OPERAND : OTHER;
    int32_t next = peek(reader);
    if (c == '[') return next == '|' ? OPERAND : OPENER;
    if (c == '|') return next == ']' ? CLOSER : next == '|' ? INFIX : OTHER;
    if (c == '=') return next == '=' ? INFIX : next == '>' ? ARROW : EQUALS;
    if (c == '!') return next == '=' ? INFIX : SIGN;
    if (c == '&') return next == '&' ? INFIX : OTHER;
    return c == '*' || c == '%' || c == '<' || c == '>' || c == ':' ? INFIX : OTHER;
}

/* What a point is, by the character behind it. */
static enum Next after_point(int32_t c) {
    return c == '.' ? RANGE : is_digit(c) ? OPERAND : c == '*' ? INFIX : DOT;
}

static bool scan_string(TSLexer *lexer) {
    int32_t quote = lexer->lookahead;
    lexer->advance(lexer, false);
    bool line = false;
    while (!lexer->eof(lexer) && lexer->lookahead != quote) {
        if (!line && lexer->lookahead == '\n') {
            line = true;
            lexer->mark_end(lexer);
        }
        lexer->advance(lexer, false);
    }
    if (lexer->eof(lexer)) {
        /* What is not closed ends with its line. */
        if (!line) lexer->mark_end(lexer);
        lexer->result_symbol = UNCLOSED_STRING;
        return true;
    }
    lexer->advance(lexer, false);
    lexer->mark_end(lexer);
    lexer->result_symbol = STRING;
    return true;
}

static void scan_digits(TSLexer *lexer, bool hexadecimal) {
    while (is_digit(lexer->lookahead) ||
           (hexadecimal && (lexer->lookahead | 32) >= 'a' && (lexer->lookahead | 32) <= 'f'))
        lexer->advance(lexer, false);
}

static bool scan_exponent(TSLexer *lexer, bool hexadecimal) {
    lexer->mark_end(lexer);
    lexer->result_symbol = NUMBER;
    if ((lexer->lookahead | 32) != (hexadecimal ? 'p' : 'e')) return true;
    lexer->advance(lexer, false);
    if (lexer->lookahead == '+' || lexer->lookahead == '-') lexer->advance(lexer, false);
    if (!is_digit(lexer->lookahead)) return true;
    scan_digits(lexer, false);
    lexer->mark_end(lexer);
    return true;
}

/* Behind the point of a number that begins with one. */
static bool scan_fraction(TSLexer *lexer) {
    scan_digits(lexer, false);
    return scan_exponent(lexer, false);
}

/* As strtod reads it, but for a point that begins `..`. */
static bool scan_number(TSLexer *lexer) {
    bool zero = lexer->lookahead == '0';
    bool hexadecimal = false;
    lexer->advance(lexer, false);
    if (zero && (lexer->lookahead | 32) == 'x') {
        lexer->mark_end(lexer);
        lexer->advance(lexer, false);
        hexadecimal = true;
    }
    scan_digits(lexer, hexadecimal);
    lexer->mark_end(lexer);
    if (lexer->lookahead == '.') {
        lexer->advance(lexer, false);
        if (lexer->lookahead == '.') {
            lexer->result_symbol = NUMBER;
            return true;
        }
        scan_digits(lexer, hexadecimal);
    }
    return scan_exponent(lexer, hexadecimal);
}

static bool scan_block(TSLexer *lexer) {
    Reader reader = {lexer, 1 << 30};
    lexer->advance(lexer, false);
    bool closed = skip_block(&reader);
    lexer->mark_end(lexer);
    lexer->result_symbol = closed ? BLOCK_COMMENT : UNCLOSED_COMMENT;
    return true;
}

/* The bracket that may be closed here; -1 where none may. */
static int open_bracket(const bool *valid) {
    static const enum Token CLOSERS[] = {MISSING_PARENTHESIS, MISSING_BRACKET, MISSING_BRACE,
                                         MISSING_BAR};
    for (int i = 0; i < 4; i++)
        if (valid[CLOSERS[i]]) return (int)CLOSERS[i];
    return -1;
}

static bool closes(int open, int32_t c) {
    return (open == MISSING_PARENTHESIS && c == ')') || (open == MISSING_BRACKET && c == ']') ||
           (open == MISSING_BRACE && c == '}') || (open == MISSING_BAR && c == '|');
}

/* Whether an expression goes on with what comes. */
static bool continues(enum Next next) {
    return next == INFIX || next == SIGN || next == OPENER || next == DOT;
}

/* Where an operand is expected. */
static int for_operand(const bool *valid, enum Next next, const Ahead *ahead, int32_t c) {
    bool argument = valid[MISSING_ARGUMENT];
    int open = open_bracket(valid);
    if (next == SIGN || next == OPENER) return -1;
    if (next == NAME || next == OPERAND || next == QUOTE) return -1;
    /* `a = f (x) = 3`: a name is missing, rather than a value, unless a line begins here. */
    bool called = !ahead->plain && !ahead->line;
    if (next == HEAD && (ahead->apart || called || (argument && ahead->plain))) return -1;
    if (next == INFIX && valid[MISSING_LEFT]) return MISSING_LEFT;
    if (open < 0) return argument ? MISSING_ARGUMENT : MISSING_OPERAND;
    if (closes(open, c)) return -1;
    if (next == NOTHING || next == CLOSER || next == HEAD) return open;
    if (next == SEMICOLON && open != MISSING_BAR) return open;
    return argument ? MISSING_ARGUMENT : MISSING_OPERAND;
}

/* Behind an operand, within brackets. */
static int for_bracket(const bool *valid, enum Next next, const Ahead *ahead, int32_t c) {
    int open = open_bracket(valid);
    if (closes(open, c) || continues(next) || next == ARROW) return -1;
    if (next == SEMICOLON && open == MISSING_BAR) return -1;
    /* Only arguments and parameters have names. */
    if (next == EQUALS) return valid[MISSING_COMMA] || valid[MISSING_PARAMETER_COMMA] ? -1 : open;
    if (next == COMMA) return -1;
    /* A comma is supplied only before what is then read, or there would be no end of commas. */
    bool name = next == NAME || (next == HEAD && !ahead->line && ahead->plain);
    if (name && valid[MISSING_PARAMETER_COMMA]) return MISSING_PARAMETER_COMMA;
    bool operand = name || next == OPERAND || next == QUOTE;
    return operand && valid[MISSING_COMMA] ? MISSING_COMMA : open;
}

/* Where an entry of a file or a record begins, or the one before may go on. */
static int for_entry(const bool *valid, enum Next next, int32_t c) {
    int open = open_bracket(valid);
    if (next == NAME) return STRAY_WORD;
    if (next == OTHER) return UNEXPECTED;
    if (next == EQUALS) return MISSING_HEAD;
    if (open >= 0 && (next == NOTHING || (open == MISSING_BRACKET && c == '}'))) return open;
    return -1;
}

/* The empty token that is to stand here, or a stray word; -1 for none. */
static int decide(const bool *valid, enum Next next, const Ahead *ahead, int32_t c) {
    if (valid[STRAY_WORD]) return for_entry(valid, next, c);
    if (valid[MISSING_PATH]) return MISSING_PATH;
    if (valid[MISSING_EQUALS]) return next == EQUALS || next == OPENER ? -1 : MISSING_EQUALS;
    if (valid[MISSING_NAME]) {
        return next == NAME || (next == HEAD && !ahead->line) ? -1 : MISSING_NAME;
    }
    if (valid[MISSING_PARAMETER]) {
        if (next == NAME || next == HEAD || closes(open_bracket(valid), c)) return -1;
        return MISSING_PARAMETER;
    }
    if (valid[MISSING_OPERAND] || valid[MISSING_ARGUMENT])
        return for_operand(valid, next, ahead, c);
    bool on = continues(next) || next == ARROW;
    if (valid[MISSING_THEN]) return on || next == THEN ? -1 : MISSING_THEN;
    if (valid[MISSING_ELSE]) return on || next == ELSE ? -1 : MISSING_ELSE;
    if (valid[MISSING_RANGE]) return on || next == RANGE ? -1 : MISSING_RANGE;
    if (open_bracket(valid) >= 0) return for_bracket(valid, next, ahead, c);
    return -1;
}

void *tree_sitter_brainscript_external_scanner_create(void) { return NULL; }

void tree_sitter_brainscript_external_scanner_destroy(void *payload) { (void)payload; }

unsigned tree_sitter_brainscript_external_scanner_serialize(void *payload, char *buffer) {
    (void)payload;
    (void)buffer;
    return 0;
}

void tree_sitter_brainscript_external_scanner_deserialize(void *payload, const char *buffer,
                                                          unsigned length) {
    (void)payload;
    (void)buffer;
    (void)length;
}

bool tree_sitter_brainscript_external_scanner_scan(void *payload, TSLexer *lexer,
                                                   const bool *valid) {
    (void)payload;
    Reader reader = {lexer, READ_LIMIT};
    Ahead ahead = {valid[STRAY_WORD], lexer->is_at_included_range_start(lexer), true, false};
    bool recovering = valid[ERROR_SENTINEL];
    bool first = ahead.line;
    lexer->mark_end(lexer);
    while (is_blank(lexer->lookahead) && !lexer->eof(lexer)) {
        ahead.line |= lexer->lookahead == '\n' || lexer->lookahead == '\r';
        lexer->advance(lexer, true);
    }
    int32_t c = lexer->eof(lexer) ? 0 : lexer->lookahead;
    if (c == '#') return false;
    bool head = !recovering && !first && ahead.line && valid[MISSING_HEAD];
    if (head && (c == '(' || c == '[' || c == '{')) {
        /* `(x) = ...` at the start of a line: it would go on with the member above. */
        lexer->result_symbol = MISSING_HEAD;
        return is_head(&reader, &ahead) && !ahead.apart;
    }
    if (valid[NUMBER] && is_digit(c)) return scan_number(lexer);
    if (valid[STRING] && (c == '"' || c == '\'')) return scan_string(lexer);
    enum Next next;
    if (c == '/') {
        lexer->advance(lexer, false);
        if (lexer->lookahead == '*') return scan_block(lexer);
        if (lexer->lookahead == '/') return false;
        next = INFIX;
    } else if (c == '.') {
        lexer->advance(lexer, false);
        if (is_digit(lexer->lookahead) && valid[NUMBER]) return scan_fraction(lexer);
        next = after_point(lexer->lookahead);
    } else if (recovering) {
        return false;
    } else {
        next = classify(&reader, &ahead);
    }
    int token = recovering ? -1 : decide(valid, next, &ahead, c);
    if (token < 0) return false;
    lexer->result_symbol = (TSSymbol)token;
    return true;
}
