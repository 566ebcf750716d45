/* Supplies what a Net# text leaves out.
 *
 * Every token here is empty: a missing `;`, `{`, `}`, `]`, `)`, decided only by what
 * follows, so that a fault stays inside its own declaration.  The scanner keeps
 * no state, which makes an incremental parse as good as a fresh one.
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
    MISSING_SHARE_CLOSE,
    MISSING_BRACKET_OPEN,
    MISSING_BRACKET_CLOSE,
    MISSING_PARENTHESIS_CLOSE,
    ERROR_SENTINEL,
};

enum { WORD_SIZE = 20 };

/* What stands after the current token: up to two words and the marks behind them. */
typedef struct {
    int32_t mark;             /* first character; 0 at the end of the text */
    char first[WORD_SIZE];    /* the first word, empty if `mark` starts none */
    int32_t after_first;
    bool assigned;            /* a single `=` or a `:` follows the first word */
    char second[WORD_SIZE];
    int32_t after_second;
    char third[WORD_SIZE];
    bool sized;               /* `word [...] word`: the first word names a layer */
    bool arrow;               /* the text starts with `=>` */
} Ahead;

static bool starts_word(int32_t c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(int32_t c) { return c >= '0' && c <= '9'; }

static bool is_blank(int32_t c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f' || c == 0xa0 ||
           c == 0x2028 || c == 0x2029 || c == 0xfeff;
}

static void skip_line(TSLexer *lexer) {
    while (!lexer->eof(lexer) && lexer->lookahead != '\n' && lexer->lookahead != '\r')
        lexer->advance(lexer, false);
}

/* Passes blanks and comments; false where a lone `/` stands, which it consumes. */
static bool skip_trivia(TSLexer *lexer) {
    for (;;) {
        while (!lexer->eof(lexer) && is_blank(lexer->lookahead)) lexer->advance(lexer, false);
        if (lexer->lookahead == '#') {
            skip_line(lexer);
            continue;
        }
        if (lexer->lookahead != '/') return true;
        lexer->advance(lexer, false);
        if (lexer->lookahead == '/') {
            skip_line(lexer);
        } else if (lexer->lookahead == '*') {
            bool star = false;
            lexer->advance(lexer, false);
            while (!lexer->eof(lexer) && !(star && lexer->lookahead == '/')) {
                star = lexer->lookahead == '*';
                lexer->advance(lexer, false);
            }
            if (!lexer->eof(lexer)) lexer->advance(lexer, false);
        } else {
            return false;
        }
    }
}

static void read_word(TSLexer *lexer, char *word) {
    int length = 0;
    while (starts_word(lexer->lookahead) || is_digit(lexer->lookahead)) {
        if (length < WORD_SIZE - 1) word[length++] = (char)lexer->lookahead;
        lexer->advance(lexer, false);
    }
    word[length] = 0;
}

static int32_t next_mark(TSLexer *lexer) {
    if (!skip_trivia(lexer)) return '/';
    return lexer->eof(lexer) ? 0 : lexer->lookahead;
}

static bool same_word(const char *word, const char *lower) {
    for (; *word && *lower; word++, lower++) {
        char c = *word;
        if (c >= 'A' && c <= 'Z') c = (char)(c - 'A' + 'a');
        if (c != *lower) return false;
    }
    return *word == *lower;
}

/* `word [ ... ]` and then a word or a brace: a layer, no attribute. */
static bool size_then_word(TSLexer *lexer) {
    int depth = 0;
    while (!lexer->eof(lexer)) {
        int32_t c = next_mark(lexer);
        if (c == '[') depth++;
        if (c == ';' || c == '}' || c == '{' || c == 0 || c == '=') return false;
        if (c != '/') lexer->advance(lexer, false);
        if (c == ']' && --depth == 0) break;
    }
    int32_t c = next_mark(lexer);
    return starts_word(c) || c == '{';
}

static Ahead look_ahead(TSLexer *lexer) {
    Ahead ahead = {0};
    ahead.mark = next_mark(lexer);
    if (ahead.mark == '=') {
        lexer->advance(lexer, false);
        ahead.arrow = lexer->lookahead == '>';
    }
    if (!starts_word(ahead.mark)) return ahead;
    read_word(lexer, ahead.first);
    ahead.after_first = next_mark(lexer);
    if (ahead.after_first == '=') {
        lexer->advance(lexer, false);
        ahead.assigned = lexer->lookahead != '=' && lexer->lookahead != '>';
    } else if (ahead.after_first == ':') {
        ahead.assigned = true;
    } else if (ahead.after_first == '[') {
        ahead.sized = size_then_word(lexer);
    } else if (starts_word(ahead.after_first)) {
        read_word(lexer, ahead.second);
        ahead.after_second = next_mark(lexer);
        if (starts_word(ahead.after_second)) read_word(lexer, ahead.third);
    }
    return ahead;
}

static const char *const SECTIONS[] = {"const", "input", "hidden", "output", "share", NULL};

/* A declaration starts here.  A lower-case keyword always starts one; in another
 * case it may be a name, unless a name or a group follows. */
static bool starts_section(const Ahead *ahead) {
    for (int i = 0; SECTIONS[i]; i++) {
        if (!strcmp(ahead->first, SECTIONS[i])) return true;
        if (!same_word(ahead->first, SECTIONS[i])) continue;
        if (ahead->after_first == '{') return true;
        return ahead->second[0] && !same_word(ahead->second, "auto") &&
               !same_word(ahead->second, "from");
    }
    return false;
}

static bool is_from(const Ahead *ahead) {
    return same_word(ahead->first, "from") && ahead->after_first != '=' && ahead->after_first != '[';
}

/* `Name [`, `Name auto`: the next layer of a group. */
static bool starts_layer(const Ahead *ahead) {
    if (!ahead->first[0] || is_from(ahead)) return false;
    return ahead->after_first == '[' || same_word(ahead->second, "auto");
}

/* `word Name [`, `word Name auto`: a declaration with a misspelt keyword. */
static bool starts_misspelt(const Ahead *ahead) {
    if (!ahead->second[0] || is_from(ahead) || same_word(ahead->second, "from")) return false;
    return ahead->after_second == '[' || same_word(ahead->third, "auto");
}

static bool ends_text(const Ahead *ahead) { return ahead->mark == 0; }

static bool missing_semicolon(const bool *valid, const Ahead *ahead, enum Token *token) {
    bool boundary = ends_text(ahead) || ahead->mark == '}' || starts_section(ahead);
    if (valid[MISSING_CONSTANT_SEMICOLON] &&
        (boundary || ahead->assigned || starts_misspelt(ahead))) {
        *token = MISSING_CONSTANT_SEMICOLON;
        return true;
    }
    if (valid[MISSING_LAYER_SEMICOLON] &&
        (boundary || starts_layer(ahead) || starts_misspelt(ahead))) {
        *token = MISSING_LAYER_SEMICOLON;
        return true;
    }
    if (valid[MISSING_BUNDLE_SEMICOLON] &&
        (boundary || is_from(ahead) || ahead->assigned || starts_layer(ahead) ||
         starts_misspelt(ahead))) {
        *token = MISSING_BUNDLE_SEMICOLON;
        return true;
    }
    if (valid[MISSING_ATTRIBUTE_SEMICOLON] && (boundary || is_from(ahead) || ahead->assigned)) {
        *token = MISSING_ATTRIBUTE_SEMICOLON;
        return true;
    }
    return false;
}

static bool missing_brace(const bool *valid, const Ahead *ahead, enum Token *token) {
    bool boundary = ends_text(ahead) || starts_section(ahead);
    bool layer = ahead->sized || (ahead->first[0] && same_word(ahead->second, "auto"));
    if (valid[MISSING_ATTRIBUTES_CLOSE] &&
        (boundary || is_from(ahead) || layer || starts_misspelt(ahead))) {
        *token = MISSING_ATTRIBUTES_CLOSE;
        return true;
    }
    if (valid[MISSING_BODY_CLOSE] && (boundary || layer || starts_misspelt(ahead))) {
        *token = MISSING_BODY_CLOSE;
        return true;
    }
    if (valid[MISSING_GROUP_CLOSE] && boundary) {
        *token = MISSING_GROUP_CLOSE;
        return true;
    }
    if (valid[MISSING_SHARE_CLOSE] && boundary) {
        *token = MISSING_SHARE_CLOSE;
        return true;
    }
    return false;
}

static bool missing_bracket(const bool *valid, const Ahead *ahead, enum Token *token) {
    bool boundary = ends_text(ahead) || ahead->mark == ';' || ahead->mark == '}' ||
                    starts_section(ahead) || is_from(ahead) || ahead->assigned;
    if (valid[MISSING_BRACKET_CLOSE] && (boundary || ahead->mark == ')' || ahead->mark == '{')) {
        *token = MISSING_BRACKET_CLOSE;
        return true;
    }
    if (valid[MISSING_PARENTHESIS_CLOSE] && (boundary || ahead->mark == ']' || ahead->arrow)) {
        *token = MISSING_PARENTHESIS_CLOSE;
        return true;
    }
    return false;
}

static bool missing_open(const bool *valid, const Ahead *ahead, enum Token *token) {
    if (valid[MISSING_BLOCK_OPEN] && ahead->assigned && !same_word(ahead->first, "biases")) {
        *token = MISSING_BLOCK_OPEN;
        return true;
    }
    bool number = is_digit(ahead->mark);
    bool item = ahead->after_first == ',' || ahead->after_first == ']';
    if (valid[MISSING_BRACKET_OPEN] && (number || (ahead->first[0] && item))) {
        *token = MISSING_BRACKET_OPEN;
        return true;
    }
    return false;
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
    Ahead ahead = look_ahead(lexer);
    enum Token token;
    if (missing_open(valid_symbols, &ahead, &token) ||
        missing_bracket(valid_symbols, &ahead, &token) ||
        missing_semicolon(valid_symbols, &ahead, &token) ||
        missing_brace(valid_symbols, &ahead, &token)) {
        lexer->result_symbol = token;
        return true;
    }
    return false;
}
