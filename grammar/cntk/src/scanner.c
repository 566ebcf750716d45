/* The tokens of CNTK's configuration language, which have to be told apart by what follows them.
 *
 * State: whether the line has shown a `#` that begins no comment, after which it has none; whether
 * a line begins here; and which brackets are open, so that a wrong closer can be told from a
 * missing one.  Text, strings and blocks of BrainScript are read to their ends, everything else
 * looks no further than its own line, and what a look-ahead finds is always a token, so that no
 * text is read more than a few times.
 */
#include "tree_sitter/alloc.h"
#include "tree_sitter/parser.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum Token {
    COMMENT,
    KEY,
    BUILDER_KEY,
    CALL_NAME,
    ARGUMENT_NAME,
    TEXT,
    VALUE_TEXT,
    MORE_TEXT,
    LIST_TEXT,
    STRING,
    UNCLOSED_STRING,
    BRAINSCRIPT,
    OPEN_BRACKET,
    OPEN_BRACE,
    OPEN_PARENTHESIS,
    CLOSE_BRACKET,
    CLOSE_BRACE,
    CLOSE_PARENTHESIS,
    WRONG_CLOSER,
    MISSING_BRACKET,
    MISSING_BRACE,
    MISSING_PARENTHESIS,
    STRAY_CLOSER,
    NEWLINE,
    COMMA,
    SEMICOLON,
    COLON,
    EQUALS,
    ERROR_SENTINEL,
    TOKENS,
};

enum {
    DEEPEST = 250,  /* brackets that are remembered by kind; those within are only counted */
    NAME_SIZE = 32, /* the longest name asked for is `experimentalnetworkbuilder` */
    READ_LIMIT = 4000, /* characters in which a list must be closed that seems to run on */
};

enum { LINE_START, WITHIN, IN_VALUE };

typedef struct {
    uint8_t hash;    /* this line has shown a `#` that begins no comment */
    uint8_t inside;  /* what stands before this place on its line */
    uint8_t left;    /* the lists that are open here were not closed on their line */
    uint8_t depth;   /* how many brackets are open */
    uint8_t beyond[3]; /* how many more are open within those, low byte first */
    char open[DEEPEST];
} State;

enum { HEAD_SIZE = sizeof(State) - DEEPEST };

/* Reads on, and knows where comments begin. */
typedef struct {
    TSLexer *lexer;
    State *state;
    int32_t before; /* the character read last; 0 at the start of a line */
} Reader;

static bool is_blank(int32_t c) {
    return c == ' ' || c == '\t' || c == '\f' || c == '\v' || c == 0xfeff;
}

static bool is_line_end(int32_t c) { return c == '\n' || c == '\r'; }

static bool is_digit(int32_t c) { return c >= '0' && c <= '9'; }

static bool is_name(int32_t c) {
    return c == '_' || c == '.' || c == '$' || c == '-' || is_digit(c) || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z') || c >= 0x80;
}

static int32_t closer_of(int32_t c) { return c == '[' ? ']' : c == '{' ? '}' : c == '(' ? ')' : 0; }

static bool is_closer(int32_t c) { return c == ']' || c == '}' || c == ')'; }

static bool at_end(Reader *reader) { return reader->lexer->eof(reader->lexer); }

static int32_t peek(Reader *reader) { return at_end(reader) ? 0 : reader->lexer->lookahead; }

static void advance(Reader *reader) {
    int32_t c = reader->lexer->lookahead;
    if (is_line_end(c)) reader->state->hash = 0;
    if (c == '#') reader->state->hash = 1;
    reader->before = c;
    reader->lexer->advance(reader->lexer, false);
}

static void mark(Reader *reader) { reader->lexer->mark_end(reader->lexer); }

/* The first `#` of a line begins a comment where a blank, or nothing, stands before it. */
static bool at_comment(Reader *reader) {
    return peek(reader) == '#' && !reader->state->hash &&
           (reader->before == 0 || is_blank(reader->before) || is_line_end(reader->before));
}

static void skip_line(Reader *reader) {
    while (!at_end(reader) && !is_line_end(peek(reader)))
        reader->lexer->advance(reader->lexer, false);
}

static bool found(Reader *reader, enum Token token) {
    if (token != MORE_TEXT)
        reader->state->inside = token == NEWLINE      ? LINE_START
                                : token == VALUE_TEXT ? IN_VALUE
                                                      : WITHIN;
    reader->lexer->result_symbol = (TSSymbol)token;
    return true;
}

static bool take(Reader *reader, enum Token token) {
    advance(reader);
    mark(reader);
    return found(reader, token);
}

static void skip_quoted(Reader *reader) {
    advance(reader);
    while (!at_end(reader) && peek(reader) != '"') {
        if (at_comment(reader))
            skip_line(reader);
        else
            advance(reader);
    }
}

/* Whether what comes reads as a record of its own: `name =` or `name (`. */
static bool at_record(Reader *reader) {
    while (is_blank(peek(reader)) || is_line_end(peek(reader))) advance(reader);
    if (!is_name(peek(reader)) || is_digit(peek(reader))) return false;
    while (is_name(peek(reader))) advance(reader);
    while (is_blank(peek(reader))) advance(reader);
    return peek(reader) == '=' || peek(reader) == '(';
}

/* Whether the list that is open here is closed by what comes. */
static bool is_closed(Reader *reader) {
    int depth = 0;
    for (int budget = READ_LIMIT; budget > 0 && !at_end(reader); budget--) {
        int32_t c = peek(reader);
        if (at_comment(reader)) {
            skip_line(reader);
            continue;
        }
        if (closer_of(c)) depth++;
        if (is_closer(c) && depth-- == 0) return c == ')';
        if (c == '"') skip_quoted(reader);
        if (!at_end(reader)) advance(reader);
    }
    return false;
}

/* `\r\n` is one line end, and `\r` alone, which the original refuses, is one too.  A list may
 * run over lines; where a record begins within and no bracket closes it, it ends with its line. */
static bool take_newline(Reader *reader, bool list) {
    bool carriage = peek(reader) == '\r';
    advance(reader);
    if (carriage && peek(reader) == '\n') advance(reader);
    mark(reader);
    State before = *reader->state;
    bool left = list && at_record(reader) && !is_closed(reader);
    *reader->state = before;
    reader->state->left = left;
    return found(reader, NEWLINE);
}

/* The brackets of a block of BrainScript; those deeper than the stack are counted only. */
typedef struct {
    int depth;
    long beyond;
    char open[DEEPEST];
} Nest;

static void nest(Nest *nested, int32_t closer) {
    if (nested->depth < DEEPEST)
        nested->open[nested->depth++] = (char)closer;
    else
        nested->beyond++;
}

/* Goes back to before the innermost bracket that `closer` closes; false where it closes none. */
static bool unnest(Nest *nested, int32_t closer) {
    if (nested->beyond > 0) {
        nested->beyond--;
        return true;
    }
    for (int depth = nested->depth; depth > 0; depth--)
        if (nested->open[depth - 1] == closer) {
            nested->depth = depth - 1;
            return true;
        }
    return false;
}

static bool is_open(const State *state, int32_t closer) {
    for (int i = 0; i < state->depth; i++)
        if (state->open[i] == closer) return true;
    return false;
}

/* A bracket with all it holds.  It knows neither `'...'` nor the comments of BrainScript: the
 * original finds the end before it looks at the language.  Without an end, the rest is in it. */
static bool scan_brainscript(Reader *reader) {
    Nest nested = {0, 0, {0}};
    do {
        int32_t c = peek(reader);
        if (at_comment(reader)) {
            skip_line(reader);
            continue;
        }
        if (c == '"') skip_quoted(reader);
        if (closer_of(c)) nest(&nested, closer_of(c));
        if (is_closer(c) && !unnest(&nested, c) && nested.depth == 1 && is_open(reader->state, c))
            break; /* it closes a bracket around this one */
        if (!at_end(reader)) advance(reader);
    } while (nested.depth > 0 && !at_end(reader));
    mark(reader);
    return found(reader, BRAINSCRIPT);
}

/* Quotes have no escapes and are not closed by the end of a line; one that is never closed ends
 * with its line.  Comments are taken out of the text before quotes are looked at. */
static bool scan_string(Reader *reader) {
    State at_mark = *reader->state;
    bool marked = false;
    advance(reader);
    while (!at_end(reader) && peek(reader) != '"') {
        if (!marked && (is_line_end(peek(reader)) || at_comment(reader))) {
            marked = true;
            mark(reader);
            at_mark = *reader->state;
        }
        if (at_comment(reader))
            skip_line(reader);
        else
            advance(reader);
    }
    if (!at_end(reader)) return take(reader, STRING);
    if (marked)
        *reader->state = at_mark;
    else
        mark(reader);
    return found(reader, UNCLOSED_STRING);
}

/* Outside of lists the words of a text are tokens of their own: any of them may be a key, where
 * a separator was left out. */
static bool ends_text(Reader *reader, enum Token token) {
    int32_t c = peek(reader);
    if (is_line_end(c) || c == ',' || c == ';' || c == '"' || closer_of(c) || is_closer(c))
        return true;
    if (token == LIST_TEXT) return c == ':' || at_comment(reader);
    bool value = token == VALUE_TEXT || reader->state->inside == IN_VALUE;
    return is_blank(c) || (c == '=' && !value);
}

/* Whether a bracket begins a section, behind a value that no separator ended. */
static bool is_section(Reader *reader) {
    reader->lexer->advance(reader->lexer, false);
    while (is_blank(peek(reader))) reader->lexer->advance(reader->lexer, false);
    int32_t c = peek(reader);
    if (is_line_end(c) || c == '#') return true;
    while (is_name(peek(reader))) reader->lexer->advance(reader->lexer, false);
    while (is_blank(peek(reader))) reader->lexer->advance(reader->lexer, false);
    return is_name(c) && (peek(reader) == '=' || peek(reader) == '[' || peek(reader) == '{');
}

/* Reads what decides whether the next word goes on with this text: where that is edited, this word
 * is then read again too, as an incremental parse needs it. */
static bool found_word(Reader *reader, enum Token token) {
    TSLexer *lexer = reader->lexer;
    if (token != LIST_TEXT) {
        while (is_blank(peek(reader))) lexer->advance(lexer, false);
        while (is_name(peek(reader))) lexer->advance(lexer, false);
        while (is_blank(peek(reader))) lexer->advance(lexer, false);
        if (peek(reader) == '[' || peek(reader) == '{') is_section(reader);
    }
    return found(reader, token);
}

/* Blanks before the end of a text are not its own.  `any`: some has been read and marked. */
static bool scan_text(Reader *reader, enum Token token, bool any) {
    while (!at_end(reader) && !ends_text(reader, token)) {
        bool blank = is_blank(peek(reader));
        advance(reader);
        if (!blank) {
            mark(reader);
            any = true;
        }
    }
    return any && found_word(reader, token);
}

static bool same(const char *name, const char *lower) {
    for (; *name && *lower; name++, lower++) {
        char c = *name >= 'A' && *name <= 'Z' ? (char)(*name - 'A' + 'a') : *name;
        if (c != *lower) return false;
    }
    return *name == *lower;
}

static bool is_builder(const char *name) {
    return same(name, "brainscriptnetworkbuilder") || same(name, "experimentalnetworkbuilder");
}

static enum Token text_token(const bool *valid) {
    return valid[VALUE_TEXT]  ? VALUE_TEXT
           : valid[MORE_TEXT] ? MORE_TEXT
           : valid[TEXT]      ? TEXT
                              : LIST_TEXT;
}

/* A word, and by what follows it a key, a function, the name of an argument, or text. */
static bool scan_word(Reader *reader, const bool *valid) {
    char name[NAME_SIZE] = {0};
    int length = 0;
    bool digit = is_digit(peek(reader));
    while (is_name(peek(reader))) {
        int32_t c = peek(reader);
        if (length < NAME_SIZE - 1) name[length++] = (char)(c < 0x80 ? c : '?');
        advance(reader);
    }
    mark(reader);
    while (is_blank(peek(reader))) advance(reader);
    int32_t c = peek(reader);
    /* `a = b = 3`: the first word behind an `=` is a value, whatever follows. */
    bool key = valid[KEY] && !valid[VALUE_TEXT];
    if (key && is_builder(name)) return found(reader, BUILDER_KEY);
    if (valid[CALL_NAME] && !valid[BRAINSCRIPT] && c == '(' && !digit)
        return found(reader, CALL_NAME);
    if (key && c == '=') return found(reader, KEY);
    bool open = c == '[' || c == '{';
    if (key && valid[MORE_TEXT] && open && is_section(reader)) return found(reader, KEY);
    if (key && !valid[MORE_TEXT] && (open || c == '"')) return found(reader, KEY);
    if (valid[ARGUMENT_NAME] && c == '=') return found(reader, ARGUMENT_NAME);
    enum Token token = text_token(valid);
    if (token != LIST_TEXT && (is_blank(reader->before) || open))
        return found_word(reader, token);
    return scan_text(reader, token, true);
}

static unsigned beyond(const State *state) {
    return state->beyond[0] | (unsigned)state->beyond[1] << 8 | (unsigned)state->beyond[2] << 16;
}

static void set_beyond(State *state, unsigned count) {
    for (int i = 0; i < 3; i++) state->beyond[i] = (uint8_t)(count >> (8 * i));
}

static bool scan_open(Reader *reader, enum Token token) {
    State *state = reader->state;
    if (state->depth < DEEPEST)
        state->open[state->depth++] = (char)closer_of(peek(reader));
    else
        set_beyond(state, beyond(state) + 1);
    return take(reader, token);
}

static void close_one(State *state) {
    if (beyond(state) > 0)
        set_beyond(state, beyond(state) - 1);
    else if (state->depth > 0)
        state->depth--;
}

/* The closer that the innermost bracket lacks: the parser knows which one that is. */
static bool supply(Reader *reader, const bool *valid) {
    for (enum Token token = MISSING_BRACKET; token <= MISSING_PARENTHESIS; token++)
        if (valid[token]) {
            uint8_t inside = reader->state->inside;
            close_one(reader->state);
            found(reader, token);
            reader->state->inside = inside;
            return true;
        }
    return false;
}

static bool scan_closer(Reader *reader, const bool *valid) {
    static const struct {
        char mark;
        enum Token token;
    } CLOSERS[] = {{']', CLOSE_BRACKET}, {'}', CLOSE_BRACE}, {')', CLOSE_PARENTHESIS}};
    int32_t c = peek(reader);
    State *state = reader->state;
    for (int i = 0; i < 3; i++)
        if (CLOSERS[i].mark == c && valid[CLOSERS[i].token]) {
            close_one(state);
            return take(reader, CLOSERS[i].token);
        }
    if (valid[STRAY_CLOSER]) return take(reader, STRAY_CLOSER);
    /* A bracket further out is meant, or this one is closed by the wrong mark. */
    if (beyond(state) == 0 && is_open(state, c)) return supply(reader, valid);
    if (!valid[WRONG_CLOSER]) return false;
    close_one(state);
    return take(reader, WRONG_CLOSER);
}

static bool scan_bracket(Reader *reader, const bool *valid) {
    if (valid[BRAINSCRIPT]) return scan_brainscript(reader);
    int32_t c = peek(reader);
    enum Token token = c == '[' ? OPEN_BRACKET : c == '{' ? OPEN_BRACE : OPEN_PARENTHESIS;
    return valid[token] && scan_open(reader, token);
}

static bool scan_mark(Reader *reader, const bool *valid) {
    static const struct {
        char mark;
        enum Token token;
    } MARKS[] = {{',', COMMA}, {';', SEMICOLON}, {':', COLON}, {'=', EQUALS}};
    for (int i = 0; i < 4; i++)
        if (MARKS[i].mark == peek(reader) && valid[MARKS[i].token])
            return take(reader, MARKS[i].token);
    return false;
}

/* Behind a builder's key, before its value: `BrainScriptNetworkBuilder , = { ... }`. */
static bool scan_separator(Reader *reader, enum Token separator) {
    take(reader, separator);
    while (is_blank(peek(reader))) reader->lexer->advance(reader->lexer, false);
    int32_t c = peek(reader);
    return found(reader, c == '=' || closer_of(c) ? VALUE_TEXT : separator);
}

static bool scan_token(Reader *reader, const bool *valid) {
    int32_t c = peek(reader);
    if (is_line_end(c)) return valid[NEWLINE] && take_newline(reader, valid[MISSING_PARENTHESIS]);
    if (is_closer(c)) return scan_closer(reader, valid);
    if (closer_of(c)) return scan_bracket(reader, valid);
    if (c == '"') return valid[STRING] && scan_string(reader);
    if (valid[BRAINSCRIPT] && valid[VALUE_TEXT] && (c == ',' || c == ';'))
        return scan_separator(reader, c == ',' ? COMMA : SEMICOLON);
    bool part = c == '=' && valid[MORE_TEXT] && reader->state->inside == IN_VALUE;
    if (!part && scan_mark(reader, valid)) return true;
    if (is_name(c)) return scan_word(reader, valid);
    enum Token token = text_token(valid);
    return valid[token] && scan_text(reader, token, false);
}

void *tree_sitter_cntk_external_scanner_create(void) { return ts_calloc(1, sizeof(State)); }

void tree_sitter_cntk_external_scanner_destroy(void *payload) { ts_free(payload); }

unsigned tree_sitter_cntk_external_scanner_serialize(void *payload, char *buffer) {
    State *state = payload;
    unsigned length = HEAD_SIZE + state->depth;
    memcpy(buffer, state, length);
    return length;
}

void tree_sitter_cntk_external_scanner_deserialize(void *payload, const char *buffer,
                                                   unsigned length) {
    State *state = payload;
    memset(state, 0, HEAD_SIZE);
    if (length) memcpy(state, buffer, length);
}

bool tree_sitter_cntk_external_scanner_scan(void *payload, TSLexer *lexer, const bool *valid) {
    Reader reader = {lexer, payload, 0};
    bool wanted[TOKENS];
    memcpy(wanted, valid, sizeof wanted);
    if (valid[ERROR_SENTINEL]) {
        /* Everything is valid then; these would read on without end or without moving. */
        wanted[VALUE_TEXT] = wanted[MORE_TEXT] = wanted[BRAINSCRIPT] = false;
        wanted[STRAY_CLOSER] = false;
        wanted[MISSING_BRACKET] = wanted[MISSING_BRACE] = wanted[MISSING_PARENTHESIS] = false;
    }
    if (reader.state->inside) reader.before = 'x';
    mark(&reader);
    if (reader.state->left && wanted[MISSING_PARENTHESIS]) return supply(&reader, wanted);
    reader.state->left = 0;
    while (is_blank(lexer->lookahead) && !lexer->eof(lexer)) {
        reader.before = ' ';
        lexer->advance(lexer, true);
    }
    if (lexer->eof(lexer)) return supply(&reader, wanted);
    if (at_comment(&reader)) {
        skip_line(&reader);
        mark(&reader);
        return found(&reader, COMMENT);
    }
    return scan_token(&reader, wanted);
}
