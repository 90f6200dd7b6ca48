/* pcre2grep: lines that match a Perl-compatible pattern. Ours, over the library; the options are grep's. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pcre2.h"

struct options {
    int invert, count, only, number, names, quiet, list, whole;
    uint32_t compile;
};

static pcre2_code *code;
static pcre2_match_data *match;

static int fail(const char *name, const char *problem) {
    fprintf(stderr, "pcre2grep: %s: %s\n", name, problem);
    return 2;
}

static int compile(const char *pattern, uint32_t how) {
    int error;
    PCRE2_SIZE at;
    PCRE2_UCHAR text[256];
    code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, how, &error, &at, NULL);
    if (code && (match = pcre2_match_data_create_from_pattern(code, NULL)))
        return 0;
    pcre2_get_error_message(error, text, sizeof text);
    fprintf(stderr, "pcre2grep: error in the pattern at %zu: %s\n", (size_t)at, (char *)text);
    return 2;
}

static void head(const char *name, long line, const struct options *options) {
    if (options->names)
        printf("%s:", name);
    if (options->number)
        printf("%ld:", line);
}

/* Prints each match of a line by itself. */
static void print_matches(const char *text, size_t length, const char *name, long line, const struct options *options) {
    for (size_t at = 0; at <= length;) {
        if (pcre2_match(code, (PCRE2_SPTR)text, length, at, 0, match, NULL) < 0)
            return;
        PCRE2_SIZE *ends = pcre2_get_ovector_pointer(match);
        if (ends[1] > ends[0]) {
            head(name, line, options);
            printf("%.*s\n", (int)(ends[1] - ends[0]), text + ends[0]);
        }
        at = ends[1] > at ? ends[1] : at + 1;
    }
}

/* 0 if a line matched, 1 if none did, 2 for trouble. */
static int search(FILE *in, const char *name, const struct options *options) {
    char *text = NULL;
    size_t room = 0;
    long line = 0, found = 0;
    ssize_t length;
    while ((length = getline(&text, &room, in)) >= 0) {
        line++;
        if (length > 0 && text[length - 1] == '\n')
            length--;
        int status = pcre2_match(code, (PCRE2_SPTR)text, (size_t)length, 0, 0, match, NULL);
        if (status < PCRE2_ERROR_NOMATCH && status != PCRE2_ERROR_PARTIAL) {
            PCRE2_UCHAR why[256];
            pcre2_get_error_message(status, why, sizeof why);
            return fail(name, (char *)why);
        }
        if ((status >= 0) == options->invert)
            continue;
        found++;
        if (options->quiet || options->list)
            break;
        if (options->count)
            continue;
        if (options->only && !options->invert) {
            print_matches(text, (size_t)length, name, line, options);
            continue;
        }
        head(name, line, options);
        fwrite(text, 1, (size_t)length, stdout);
        putchar('\n');
    }
    free(text);
    if (options->list && found)
        puts(name);
    if (options->count && !options->quiet) {
        if (options->names)
            printf("%s:", name);
        printf("%ld\n", found);
    }
    return found ? 0 : 1;
}

static int flag(char letter, struct options *options) {
    switch (letter) {
    case 'i': options->compile |= PCRE2_CASELESS; return 1;
    case 'v': options->invert = 1; return 1;
    case 'c': options->count = 1; return 1;
    case 'o': options->only = 1; return 1;
    case 'n': options->number = 1; return 1;
    case 'H': options->names = 1; return 1;
    case 'h': options->names = -1; return 1;
    case 'q': options->quiet = 1; return 1;
    case 'l': options->list = 1; return 1;
    case 'u': options->compile |= PCRE2_UTF | PCRE2_UCP; return 1;
    case 'x': options->compile |= PCRE2_ANCHORED | PCRE2_ENDANCHORED; return 1;
    case 'F': options->compile |= PCRE2_LITERAL; return 1;
    default: return 0;
    }
}

int main(int argc, char **argv) {
    struct options options = {0};
    const char *pattern = NULL;
    int next = 1, status = 1;
    for (; next < argc && argv[next][0] == '-' && argv[next][1]; next++) {
        if (!strcmp(argv[next], "--")) {
            next++;
            break;
        }
        if (!strcmp(argv[next], "-e") && next + 1 < argc) {
            pattern = argv[++next];
            continue;
        }
        for (const char *letter = argv[next] + 1; *letter; letter++)
            if (!flag(*letter, &options))
                return fail(argv[next], "unknown option; usage: pcre2grep [-ivconHhqluxF] [-e] PATTERN [FILE...]");
    }
    if (!pattern && next < argc)
        pattern = argv[next++];
    if (!pattern)
        return fail("usage", "pcre2grep [-ivconHhqluxF] [-e] PATTERN [FILE...]");
    if (compile(pattern, options.compile))
        return 2;
    if (options.names == 0)
        options.names = argc - next > 1;
    if (options.names < 0)
        options.names = 0;
    if (next == argc)
        return search(stdin, "(standard input)", &options);
    for (; next < argc; next++) {
        FILE *in = strcmp(argv[next], "-") ? fopen(argv[next], "rb") : stdin;
        int found = in ? search(in, argv[next], &options) : fail(argv[next], "no such file");
        if (in && in != stdin)
            fclose(in);
        if (found == 2 || (found == 0 && status == 1))
            status = found;
    }
    return status;
}
