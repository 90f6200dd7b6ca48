/* zstd: compresses and decompresses files and streams. Ours, over the library's streaming interface. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "zstd.h"

enum { LEVEL = 3 };

struct options {
    int level, decompress, to_stdout, keep, force, quiet, remove;
    const char *output;
};

static int fail(const char *name, const char *problem) {
    fprintf(stderr, "zstd: %s: %s\n", name, problem);
    return 1;
}

static int compress(FILE *in, FILE *out, int level, const char *name) {
    size_t in_size = ZSTD_CStreamInSize(), out_size = ZSTD_CStreamOutSize();
    char *from = malloc(in_size), *to = malloc(out_size);
    ZSTD_CCtx *context = ZSTD_createCCtx();
    if (!from || !to || !context)
        return fail(name, "not enough memory");
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    for (int last = 0; !last;) {
        size_t count = fread(from, 1, in_size, in);
        last = count < in_size;
        ZSTD_inBuffer input = {from, count, 0};
        for (size_t left = 1; last ? left : input.pos < input.size;) {
            ZSTD_outBuffer output = {to, out_size, 0};
            left = ZSTD_compressStream2(context, &output, &input, last ? ZSTD_e_end : ZSTD_e_continue);
            if (ZSTD_isError(left))
                return fail(name, ZSTD_getErrorName(left));
            if (fwrite(to, 1, output.pos, out) != output.pos)
                return fail(name, "could not write");
        }
    }
    ZSTD_freeCCtx(context);
    free(from);
    free(to);
    return ferror(in) ? fail(name, "could not read") : 0;
}

static int decompress(FILE *in, FILE *out, const char *name) {
    size_t in_size = ZSTD_DStreamInSize(), out_size = ZSTD_DStreamOutSize();
    char *from = malloc(in_size), *to = malloc(out_size);
    ZSTD_DCtx *context = ZSTD_createDCtx();
    if (!from || !to || !context)
        return fail(name, "not enough memory");
    size_t count, wanted = 1;
    int any = 0;
    while ((count = fread(from, 1, in_size, in)) > 0) {
        ZSTD_inBuffer input = {from, count, 0};
        any = 1;
        while (input.pos < input.size) {
            ZSTD_outBuffer output = {to, out_size, 0};
            wanted = ZSTD_decompressStream(context, &output, &input);
            if (ZSTD_isError(wanted))
                return fail(name, any ? ZSTD_getErrorName(wanted) : "unsupported format");
            if (fwrite(to, 1, output.pos, out) != output.pos)
                return fail(name, "could not write");
        }
    }
    ZSTD_freeDCtx(context);
    free(from);
    free(to);
    if (!any || wanted)
        return fail(name, any ? "unexpected end of file" : "unexpected end of file: the input is empty");
    return ferror(in) ? fail(name, "could not read") : 0;
}

static int one(const char *path, const struct options *options) {
    char name[4096];
    int stream = !strcmp(path, "-"), to_stdout = options->to_stdout || (stream && !options->output);
    size_t length = strlen(path);
    if (options->output)
        snprintf(name, sizeof name, "%s", options->output);
    else if (!options->decompress)
        snprintf(name, sizeof name, "%s.zst", path);
    else if (length > 4 && length < sizeof name && !strcmp(path + length - 4, ".zst"))
        snprintf(name, sizeof name, "%.*s", (int)(length - 4), path);
    else if (!to_stdout)
        return fail(path, "unknown suffix (.zst expected)");
    if (length + 5 > sizeof name)
        return fail(path, "the name is too long");
    FILE *in = stream ? stdin : fopen(path, "rb");
    if (!in)
        return fail(path, "can't stat or open: no such file");
    if (!to_stdout && !options->force && access(name, F_OK) == 0)
        return fail(name, "already exists; not overwritten without -f");
    FILE *out = to_stdout ? stdout : fopen(name, "wb");
    if (!out)
        return fail(name, "could not be created");
    int status = options->decompress ? decompress(in, out, path) : compress(in, out, options->level, path);
    if ((to_stdout ? fflush(out) : fclose(out)) && !status)
        status = fail(name, "could not write");
    if (!stream)
        fclose(in);
    if (status && !to_stdout)
        remove(name);
    if (!status && options->remove && !stream && !to_stdout)
        remove(path);
    return status;
}

/* One word that begins with a dash; the number of further words it took, or -1. */
static int option(const char *word, const char *next, struct options *options) {
    if (!strcmp(word, "--decompress") || !strcmp(word, "--uncompress")) options->decompress = 1;
    else if (!strcmp(word, "--stdout")) options->to_stdout = 1;
    else if (!strcmp(word, "--rm")) options->remove = 1;
    else if (!strcmp(word, "--keep")) options->remove = 0;
    else if (!strcmp(word, "--force")) options->force = 1;
    else if (!strcmp(word, "--quiet")) options->quiet = 1;
    else if (!strcmp(word, "--ultra") || !strncmp(word, "--threads", 9)) return 0;
    else if (word[1] == '-') return -1;
    else
        for (const char *at = word + 1; *at; at++) {
            if (*at >= '0' && *at <= '9') {
                options->level = (int)strtol(at, (char **)&at, 10);
                at--;
            } else if (*at == 'd') options->decompress = 1;
            else if (*at == 'z') options->decompress = 0;
            else if (*at == 'c') options->to_stdout = 1;
            else if (*at == 'k' || *at == 'q' || *at == 'v') continue;
            else if (*at == 'f') options->force = 1;
            else if (*at == 'T') return 0;
            else if (*at == 'o') {
                options->output = at[1] ? at + 1 : next;
                return options->output ? !at[1] : -1;
            } else return -1;
        }
    return 0;
}

int main(int argc, char **argv) {
    struct options options = {.level = LEVEL};
    const char *called = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
    options.decompress = !strcmp(called, "unzstd") || !strcmp(called, "zstdcat");
    options.to_stdout = !strcmp(called, "zstdcat");
    int status = 0, files = 0;
    /* Options count wherever they stand, so they are all read first. */
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-' || !argv[i][1])
            continue;
        if (!strcmp(argv[i], "--version") || !strcmp(argv[i], "-V")) {
            printf("zstd %s (library), a command line of Drydock\n", ZSTD_versionString());
            return 0;
        }
        int took = option(argv[i], i + 1 < argc ? argv[i + 1] : NULL, &options);
        if (took < 0)
            return fail(argv[i], "unknown option; usage: zstd [-d] [-1..-19] [-c] [-f] [--rm] [-o FILE] [FILE...]");
        for (argv[i] = NULL; took > 0; took--)
            argv[++i] = NULL;
    }
    if (options.level < 1 || options.level > ZSTD_maxCLevel())
        return fail("-#", "a level is 1 to 22");
    for (int i = 1; i < argc; i++)
        if (argv[i])
            files++, status |= one(argv[i], &options);
    return files ? status : one("-", &options);
}
