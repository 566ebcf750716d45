/* Supplies what a Net# text leaves out.
 *
 * Every token here is empty: a missing `;`, `{`, `}`, `]`, `)`, or a sign that the
 * word ahead is a name or nothing at all, decided only by what follows, so that a
 * fault stays inside its own declaration.  The scanner keeps no state, which makes
 * an incremental parse as good as a fresh one.  It reads ahead a bounded number of
 * characters, and only as far as a question needs, so that no text is slow.
 */
#include "tree_sitter/parser.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum Token {
    MISSING_CONSTANT_SEMICOLON,
    MISSING_LAYER_SEMICOLON,
    MISSING_BUNDLE_SEMICOLON,
    MISSING_ATTRIBUTE_SEMICOLON,
    MISSING_BLOCK_OPEN,
    MISSING_ATTRIBUTES_CLOSE,
    MISSING_BODY_CLOSE,
    MISSING_GROUP_CLOSE,
    MISSING_SHARE_OPEN,
    MISSING_SHARE_CLOSE,
    MISSING_BRACKET_OPEN,
    MISSING_BRACKET_CLOSE,
    MISSING_PARENTHESIS_CLOSE,
    MISSING_CONSTANT,
    MISSING_LAYER,
    MISSING_CONDITION,
    MISSING_SOURCE,
    STRAY_WORD,
    STRAY_BRACE,
    ORPHAN_NAME,
    KEYWORD_NAME,
    MISSING_PARAMETERS_OPEN,
    MISSING_OPERAND,
    ERROR_SENTINEL,
};

enum {
    WORD_SIZE = 8,     /* the longest word asked for is `biases` */
    AHEAD_SIZE = 8,    /* no question looks further: `is_section` of the second word needs 7 */
    READ_LIMIT = 1024, /* characters read ahead; beyond it nothing is supplied */
    SIZE_LIMIT = 64,   /* tokens within the brackets of a layer's size */
};

/* What a token is: its own character for a mark, one of these for the others. */
enum { END = 0, UNKNOWN = -1, WORD = 'w', NUMBER = '0', ARROW = 'A', EQUAL = 'E' };

typedef struct {
    int32_t kind;
    char word[WORD_SIZE]; /* empty for anything but a word; a longer word is cut */
} Lookahead;

/* The tokens behind the current position, read when they are asked for. */
typedef struct {
    TSLexer *lexer;
    int budget;
    int count;
    Lookahead tokens[AHEAD_SIZE];
} Ahead;

static bool is_letter(int32_t c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(int32_t c) { return c >= '0' && c <= '9'; }

static bool is_blank(int32_t c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f' || c == 0xa0 ||
           c == 0x2028 || c == 0x2029 || c == 0xfeff;
}

/* A full-width form stands 0xfee0 above its ASCII character. */
static int32_t narrow(int32_t c) { return c > 0xff00 && c < 0xff5f ? c - 0xfee0 : c; }

static bool at_end(Ahead *ahead) {
    return ahead->budget <= 0 || ahead->lexer->eof(ahead->lexer);
}

static void advance(Ahead *ahead) {
    ahead->budget--;
    ahead->lexer->advance(ahead->lexer, false);
}

static void skip_line(Ahead *ahead) {
    while (!at_end(ahead) && ahead->lexer->lookahead != '\n' && ahead->lexer->lookahead != '\r')
        advance(ahead);
}

static void skip_block(Ahead *ahead) {
    bool star = false;
    advance(ahead);
    while (!at_end(ahead) && !(star && ahead->lexer->lookahead == '/')) {
        star = ahead->lexer->lookahead == '*';
        advance(ahead);
    }
    if (!at_end(ahead)) advance(ahead);
}

/* Passes blanks and comments; false where a lone `/` stands, which it consumes. */
static bool skip_trivia(Ahead *ahead) {
    for (;;) {
        while (!at_end(ahead) && is_blank(ahead->lexer->lookahead)) advance(ahead);
        if (at_end(ahead)) return true;
        if (ahead->lexer->lookahead == '#') {
            skip_line(ahead);
            continue;
        }
        if (ahead->lexer->lookahead != '/') return true;
        advance(ahead);
        if (ahead->lexer->lookahead == '/') {
            skip_line(ahead);
        } else if (ahead->lexer->lookahead == '*') {
            skip_block(ahead);
        } else {
            return false;
        }
    }
}

/* A word; digits alone, or digits with a point or an exponent, are a number. */
static void read_word(Ahead *ahead, Lookahead *token) {
    int length = 0;
    bool name = is_letter(ahead->lexer->lookahead);
    while (!at_end(ahead) &&
           (is_letter(ahead->lexer->lookahead) || is_digit(ahead->lexer->lookahead))) {
        if (is_letter(ahead->lexer->lookahead)) name = true;
        if (length < WORD_SIZE - 1) token->word[length++] = (char)ahead->lexer->lookahead;
        advance(ahead);
    }
    token->kind = name ? WORD : NUMBER;
    if (!name) token->word[0] = 0;
}

static void read_token(Ahead *ahead, Lookahead *token) {
    if (!skip_trivia(ahead)) {
        token->kind = '/';
        return;
    }
    if (at_end(ahead)) {
        token->kind = ahead->budget > 0 ? END : UNKNOWN;
        return;
    }
    int32_t c = narrow(ahead->lexer->lookahead);
    if (is_letter(c) || is_digit(c)) {
        read_word(ahead, token);
        return;
    }
    advance(ahead);
    token->kind = c;
    if (c != '=' && c != '-') return;
    int32_t next = narrow(ahead->lexer->lookahead);
    if (next == '>') token->kind = ARROW;
    if (next == '=' && c == '=') token->kind = EQUAL;
    if (token->kind != c) advance(ahead);
}

static const Lookahead *token_at(Ahead *ahead, int index) {
    while (ahead->count <= index) {
        Lookahead *token = &ahead->tokens[ahead->count++];
        memset(token, 0, sizeof *token);
        read_token(ahead, token);
    }
    return &ahead->tokens[index];
}

static int32_t kind_at(Ahead *ahead, int index) { return token_at(ahead, index)->kind; }

static bool word_at(Ahead *ahead, int index) { return kind_at(ahead, index) == WORD; }

/* Whether the word at `index` is `lower` in any case. */
static bool spells(Ahead *ahead, int index, const char *lower) {
    const char *word = token_at(ahead, index)->word;
    for (; *word && *lower; word++, lower++) {
        char c = *word;
        if (c >= 'A' && c <= 'Z') c = (char)(c - 'A' + 'a');
        if (c != *lower) return false;
    }
    return *word == *lower;
}

/* `Name [` and `Name auto`: what a layer starts with. */
static bool sized_at(Ahead *ahead, int index) {
    return word_at(ahead, index) &&
           (kind_at(ahead, index + 1) == '[' || spells(ahead, index + 1, "auto"));
}

static bool is_lower_from(Ahead *ahead, int index) {
    return !strcmp(token_at(ahead, index)->word, "from");
}

/* `from`, or `From` before a source; alone, the latter is somebody's name. */
static bool is_from(Ahead *ahead, int index) {
    if (!spells(ahead, index, "from") || kind_at(ahead, index + 1) == '=') return false;
    if (is_lower_from(ahead, index)) return true;
    return word_at(ahead, index + 1) && !sized_at(ahead, index);
}

static bool is_assigned(Ahead *ahead) {
    return word_at(ahead, 0) && (kind_at(ahead, 1) == '=' || kind_at(ahead, 1) == ':');
}

static const char *const KINDS[] = {"all", "where", "max", "mean", NULL};
static const char *const SECTIONS[] = {"const", "input", "hidden", "output", "share", NULL};

/* `{ Name =`, `{ Name [`: a group of items, where a body has `from` or `Biases =`. */
static bool is_group(Ahead *ahead, int index) {
    if (kind_at(ahead, index) != '{') return false;
    int item = kind_at(ahead, index + 1) == ';' ? index + 2 : index + 1;
    if (kind_at(ahead, item + 1) == '=') return !spells(ahead, item, "biases");
    return sized_at(ahead, item) && !is_lower_from(ahead, item);
}

/* `Name =`, `Name [`, `Name auto`. */
static bool is_item(Ahead *ahead, int index) {
    return word_at(ahead, index) && (kind_at(ahead, index + 1) == '=' || sized_at(ahead, index));
}

static bool is_reserved(Ahead *ahead, int index) {
    for (int i = 0; SECTIONS[i]; i++)
        if (!strcmp(token_at(ahead, index)->word, SECTIONS[i])) return true;
    return false;
}

static bool spells_section(Ahead *ahead, int index) {
    for (int i = 0; SECTIONS[i]; i++)
        if (spells(ahead, index, SECTIONS[i])) return true;
    return false;
}

/* A declaration starts here.  A lower-case keyword always starts one; in another
 * case it may be a name, unless a name or a group follows, be it after one token
 * too many. */
static bool is_section(Ahead *ahead, int index) {
    if (!word_at(ahead, index) || !spells_section(ahead, index)) return false;
    if (is_reserved(ahead, index) || kind_at(ahead, index + 1) == '{') return true;
    if (is_group(ahead, index + 2) || is_item(ahead, index + 2)) return true;
    return word_at(ahead, index + 1) && !spells(ahead, index + 1, "auto") &&
           !spells(ahead, index + 1, "from");
}

/* `Name [`, `Name auto`: the next layer of a group. */
static bool starts_layer(Ahead *ahead) { return sized_at(ahead, 0) && !is_from(ahead, 0); }

/* `word Name [`, `word Name auto`: a declaration with a misspelt keyword; `all Name [` ends a
 * connection before the next layer of a group. */
static bool starts_misspelt(Ahead *ahead) {
    if (!word_at(ahead, 0) || !word_at(ahead, 1) || is_from(ahead, 0)) return false;
    if (spells(ahead, 0, "and") || spells(ahead, 0, "or") || spells(ahead, 0, "all")) return false;
    return sized_at(ahead, 1) && !is_from(ahead, 1);
}

/* A token that is kept already, or else the next one, which is not kept. */
static Lookahead take(Ahead *ahead, int index) {
    if (index < ahead->count) return ahead->tokens[index];
    Lookahead token = {0};
    read_token(ahead, &token);
    return token;
}

/* `Name [ ... ]` and then a word or a brace: a layer, no attribute.  The brackets
 * are read past the tokens kept, so this is asked last. */
static bool is_layer_not_attribute(Ahead *ahead) {
    if (!word_at(ahead, 0) || is_lower_from(ahead, 0)) return false;
    if (spells(ahead, 1, "auto")) return true;
    if (kind_at(ahead, 1) != '[') return false;
    int depth = 1, next = 2;
    Lookahead token = {0};
    while (depth && next < SIZE_LIMIT) {
        token = take(ahead, next++);
        if (strchr(";{}=", token.kind < 0x80 ? (int)token.kind : ';')) return false;
        if (token.kind == '[') depth++;
        if (token.kind == ']') depth--;
    }
    token = take(ahead, next);
    return !depth && (token.kind == WORD || token.kind == '{');
}

/* What no declaration can hold stands ahead: its end, or the next one's keyword. */
static bool is_boundary(Ahead *ahead) {
    return kind_at(ahead, 0) == END || is_section(ahead, 0);
}

static bool missing_semicolon(const bool *valid, Ahead *ahead, enum Token *token) {
    if (!valid[MISSING_CONSTANT_SEMICOLON] && !valid[MISSING_LAYER_SEMICOLON] &&
        !valid[MISSING_BUNDLE_SEMICOLON] && !valid[MISSING_ATTRIBUTE_SEMICOLON])
        return false;
    bool boundary = kind_at(ahead, 0) == '}' || is_boundary(ahead);
    if (valid[MISSING_CONSTANT_SEMICOLON] &&
        (boundary || is_assigned(ahead) || starts_misspelt(ahead))) {
        *token = MISSING_CONSTANT_SEMICOLON;
        return true;
    }
    if (valid[MISSING_LAYER_SEMICOLON] &&
        (boundary || starts_layer(ahead) || starts_misspelt(ahead))) {
        *token = MISSING_LAYER_SEMICOLON;
        return true;
    }
    if (valid[MISSING_BUNDLE_SEMICOLON] &&
        (boundary || is_from(ahead, 0) || is_assigned(ahead) || starts_layer(ahead) ||
         starts_misspelt(ahead))) {
        *token = MISSING_BUNDLE_SEMICOLON;
        return true;
    }
    if (valid[MISSING_ATTRIBUTE_SEMICOLON] &&
        (boundary || is_from(ahead, 0) || is_assigned(ahead))) {
        *token = MISSING_ATTRIBUTE_SEMICOLON;
        return true;
    }
    return false;
}

static bool missing_brace(const bool *valid, Ahead *ahead, enum Token *token) {
    bool block = valid[MISSING_ATTRIBUTES_CLOSE] || valid[MISSING_BODY_CLOSE];
    if (!block && !valid[MISSING_GROUP_CLOSE] && !valid[MISSING_SHARE_CLOSE]) return false;
    bool boundary = is_boundary(ahead);
    if (valid[MISSING_GROUP_CLOSE] && boundary) {
        *token = MISSING_GROUP_CLOSE;
        return true;
    }
    if (valid[MISSING_SHARE_CLOSE] && (boundary || starts_layer(ahead) || is_assigned(ahead))) {
        *token = MISSING_SHARE_CLOSE;
        return true;
    }
    if (!block) return false;
    bool attributes = valid[MISSING_ATTRIBUTES_CLOSE];
    bool next = attributes ? is_from(ahead, 0) : starts_layer(ahead);
    if (boundary || next || is_layer_not_attribute(ahead) || starts_misspelt(ahead)) {
        *token = attributes ? MISSING_ATTRIBUTES_CLOSE : MISSING_BODY_CLOSE;
        return true;
    }
    return false;
}

/* `)` that closes something, be it a size; before another value it is a slip of its own. */
static bool ends_parentheses(Ahead *ahead) {
    if (kind_at(ahead, 0) != ')') return false;
    int32_t next = kind_at(ahead, 1);
    if (next == WORD) return is_from(ahead, 1) || is_from(ahead, 2);
    return next != ',' && next != NUMBER && next != ']';
}

/* `{` of a body or of attributes; before a value it is a slip of its own. */
static bool starts_block(Ahead *ahead) {
    if (kind_at(ahead, 0) != '{' || kind_at(ahead, 1) == NUMBER) return false;
    return kind_at(ahead, 2) != ',' && kind_at(ahead, 2) != ']';
}

static bool missing_bracket(const bool *valid, Ahead *ahead, enum Token *token) {
    if (!valid[MISSING_BRACKET_CLOSE] && !valid[MISSING_PARENTHESIS_CLOSE]) return false;
    int32_t mark = kind_at(ahead, 0);
    bool boundary = mark == ';' || mark == '}' || is_boundary(ahead) || is_from(ahead, 0) ||
                    is_assigned(ahead);
    if (valid[MISSING_BRACKET_CLOSE] && (boundary || ends_parentheses(ahead) || starts_block(ahead))) {
        *token = MISSING_BRACKET_CLOSE;
        return true;
    }
    if (valid[MISSING_PARENTHESIS_CLOSE] && (boundary || mark == ']' || mark == ARROW)) {
        *token = MISSING_PARENTHESIS_CLOSE;
        return true;
    }
    return false;
}

static bool missing_open(const bool *valid, Ahead *ahead, enum Token *token) {
    if (valid[MISSING_BLOCK_OPEN] && is_assigned(ahead) && !spells(ahead, 0, "biases")) {
        *token = MISSING_BLOCK_OPEN;
        return true;
    }
    int32_t next = kind_at(ahead, 1);
    if (valid[MISSING_PARAMETERS_OPEN] && word_at(ahead, 0) && (next == ',' || next == ARROW)) {
        *token = MISSING_PARAMETERS_OPEN;
        return true;
    }
    if (valid[MISSING_SHARE_OPEN] && kind_at(ahead, 0) != '{' && kind_at(ahead, 1) != '{') {
        *token = MISSING_SHARE_OPEN;
        return true;
    }
    if (!valid[MISSING_BRACKET_OPEN]) return false;
    bool number = kind_at(ahead, 0) == NUMBER;
    if (number || (word_at(ahead, 0) && (kind_at(ahead, 1) == ',' || kind_at(ahead, 1) == ']'))) {
        *token = MISSING_BRACKET_OPEN;
        return true;
    }
    return false;
}

/* `word Name =`, `word Name [`, `word { Name =`, `word { Name [`: the first word
 * is nothing, and what follows is an item or a group of them. */
static bool precedes_item(Ahead *ahead) {
    return is_group(ahead, 1) || is_item(ahead, 1);
}

/* After `input`, `const` or `from`: `input [`, `const =` or `input all` makes a name
 * of what is a keyword anywhere else. */
static bool keyword_name(const bool *valid, Ahead *ahead) {
    if (!valid[KEYWORD_NAME] || !is_reserved(ahead, 0) || !word_at(ahead, 0)) return false;
    if (valid[MISSING_LAYER]) return sized_at(ahead, 0);
    if (valid[MISSING_CONSTANT]) return kind_at(ahead, 1) == '=';
    if (!valid[MISSING_SOURCE]) return false;
    for (int i = 0; KINDS[i]; i++)
        if (spells(ahead, 1, KINDS[i])) return true;
    return kind_at(ahead, 1) == ';';
}

/* After `from`: the text may stop there, and a source may be called `Hidden`. */
static bool missing_source(const bool *valid, Ahead *ahead) {
    if (!valid[MISSING_SOURCE]) return false;
    int32_t mark = kind_at(ahead, 0);
    return mark == END || mark == ';' || mark == '}' || is_reserved(ahead, 0);
}

/* After `const`, `hidden` or `=>`: nothing of it follows. */
static bool missing_item(const bool *valid, Ahead *ahead, enum Token *token) {
    bool item = valid[MISSING_CONSTANT] || valid[MISSING_LAYER];
    if (!item && !valid[MISSING_CONDITION] && !valid[MISSING_OPERAND]) return false;
    int32_t mark = kind_at(ahead, 0);
    bool missing = mark == ';' || mark == '}' || is_boundary(ahead) || is_from(ahead, 0);
    if (valid[MISSING_CONDITION] && (missing || mark == '{')) {
        *token = MISSING_CONDITION;
        return true;
    }
    if (valid[MISSING_OPERAND] && (missing || mark == ')' || mark == ']' || mark == ',')) {
        *token = MISSING_OPERAND;
        return true;
    }
    if (valid[MISSING_CONSTANT] && mark == WORD)
        missing = missing || (kind_at(ahead, 1) != '=' && !precedes_item(ahead));
    if (valid[MISSING_LAYER] && mark == WORD)
        missing = missing || (kind_at(ahead, 1) == '=' && kind_at(ahead, 2) != '[');
    if (!item || !missing) return false;
    *token = valid[MISSING_CONSTANT] ? MISSING_CONSTANT : MISSING_LAYER;
    return true;
}

/* As `is_section`, where a source called `Hidden` may stand too. */
static bool starts_section_for_sure(Ahead *ahead, int index) {
    if (!is_section(ahead, index)) return false;
    if (is_reserved(ahead, index)) return true;
    if (kind_at(ahead, index + 1) == '{') return true;
    return sized_at(ahead, index + 1) || kind_at(ahead, index + 2) == '=';
}

static bool stray_word(const bool *valid, Ahead *ahead) {
    if (!valid[STRAY_WORD] || !word_at(ahead, 0) || is_section(ahead, 0)) return false;
    if (!valid[ORPHAN_NAME]) return precedes_item(ahead);
    if (is_from(ahead, 0)) return starts_section_for_sure(ahead, 1);
    if (word_at(ahead, 1)) return is_section(ahead, 1) || is_from(ahead, 1);
    int32_t next = kind_at(ahead, 1);
    return next != UNKNOWN && next != '[' && next != '=' && next != '{' && next != ';';
}

/* A layer or a constant without its keyword, named like a keyword. */
static bool orphan_name(const bool *valid, Ahead *ahead) {
    if (!valid[ORPHAN_NAME] || !word_at(ahead, 0)) return false;
    if (kind_at(ahead, 1) != '=' && !sized_at(ahead, 0)) return false;
    if (spells(ahead, 0, "from")) return true;
    return spells_section(ahead, 0) && !is_section(ahead, 0);
}

void *tree_sitter_netsharp_external_scanner_create(void) { return NULL; }

void tree_sitter_netsharp_external_scanner_destroy(void *payload) { (void)payload; }

unsigned tree_sitter_netsharp_external_scanner_serialize(void *payload, char *buffer) {
    (void)payload;
    (void)buffer;
    return 0;
}

void tree_sitter_netsharp_external_scanner_deserialize(void *payload, const char *buffer,
                                                       unsigned length) {
    (void)payload;
    (void)buffer;
    (void)length;
}

bool tree_sitter_netsharp_external_scanner_scan(void *payload, TSLexer *lexer,
                                                const bool *valid_symbols) {
    (void)payload;
    if (valid_symbols[ERROR_SENTINEL]) return false;
    lexer->mark_end(lexer);
    Ahead ahead = {.lexer = lexer, .budget = READ_LIMIT};
    enum Token token;
    if (orphan_name(valid_symbols, &ahead)) {
        token = ORPHAN_NAME;
    } else if (valid_symbols[STRAY_BRACE] && kind_at(&ahead, 0) == '{' &&
               kind_at(&ahead, 1) == '=') {
        token = STRAY_BRACE;
    } else if (keyword_name(valid_symbols, &ahead)) {
        token = KEYWORD_NAME;
    } else if (stray_word(valid_symbols, &ahead)) {
        token = STRAY_WORD;
    } else if (missing_source(valid_symbols, &ahead)) {
        token = MISSING_SOURCE;
    } else if (!(missing_item(valid_symbols, &ahead, &token) ||
                 missing_open(valid_symbols, &ahead, &token) ||
                 missing_bracket(valid_symbols, &ahead, &token) ||
                 missing_semicolon(valid_symbols, &ahead, &token) ||
                 missing_brace(valid_symbols, &ahead, &token))) {
        return false;
    }
    lexer->result_symbol = token;
    return true;
}
