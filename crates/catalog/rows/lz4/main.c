/* lz4: compresses and decompresses files and streams in the frame format. Ours, over the library (BSD); the
 * package's own programs/ are GPL and are not used. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lz4frame.h"

enum { BUFFER = 1 << 16 };

struct options {
    int level, decompress, to_stdout, force, remove;
};

static int fail(const char *name, const char *problem) {
    fprintf(stderr, "lz4: %s: %s\n", name, problem);
    return 1;
}

static int compress(FILE *in, FILE *out, int level, const char *name) {
    LZ4F_preferences_t how = {.compressionLevel = level, .frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled};
    size_t room = LZ4F_compressBound(BUFFER, &how) + LZ4F_HEADER_SIZE_MAX, count;
    char *from = malloc(BUFFER), *to = malloc(room);
    LZ4F_cctx *context;
    if (!from || !to || LZ4F_isError(LZ4F_createCompressionContext(&context, LZ4F_VERSION)))
        return fail(name, "not enough memory");
    size_t made = LZ4F_compressBegin(context, to, room, &how);
    while (!LZ4F_isError(made) && fwrite(to, 1, made, out) == made && (count = fread(from, 1, BUFFER, in)) > 0)
        made = LZ4F_compressUpdate(context, to, room, from, count, NULL);
    if (LZ4F_isError(made))
        return fail(name, LZ4F_getErrorName(made));
    made = LZ4F_compressEnd(context, to, room, NULL);
    if (LZ4F_isError(made) || fwrite(to, 1, made, out) != made || ferror(out))
        return fail(name, "could not write");
    LZ4F_freeCompressionContext(context);
    free(from);
    free(to);
    return ferror(in) ? fail(name, "could not read") : 0;
}

static int decompress(FILE *in, FILE *out, const char *name) {
    char *from = malloc(BUFFER), *to = malloc(BUFFER);
    LZ4F_dctx *context;
    if (!from || !to || LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)))
        return fail(name, "not enough memory");
    size_t count, wanted = 1;
    while ((count = fread(from, 1, BUFFER, in)) > 0)
        for (size_t at = 0; at < count;) {
            size_t room = BUFFER, taken = count - at;
            wanted = LZ4F_decompress(context, to, &room, from + at, &taken, NULL);
            if (LZ4F_isError(wanted))
                return fail(name, LZ4F_getErrorName(wanted));
            if (fwrite(to, 1, room, out) != room)
                return fail(name, "could not write");
            at += taken;
        }
    LZ4F_freeDecompressionContext(context);
    free(from);
    free(to);
    return wanted ? fail(name, "the input ends too early") : 0;
}

static int one(const char *path, const char *output, const struct options *options) {
    char name[4096];
    int stream = !strcmp(path, "-");
    int to_stdout = output ? !strcmp(output, "-") : options->to_stdout || stream;
    size_t length = strlen(path);
    if (length + 5 > sizeof name)
        return fail(path, "the name is too long");
    if (output)
        snprintf(name, sizeof name, "%s", output);
    else if (!options->decompress)
        snprintf(name, sizeof name, "%s.lz4", path);
    else if (length > 4 && !strcmp(path + length - 4, ".lz4"))
        snprintf(name, sizeof name, "%.*s", (int)(length - 4), path);
    else if (!to_stdout)
        return fail(path, "the name does not end with .lz4");
    FILE *in = stream ? stdin : fopen(path, "rb");
    if (!in)
        return fail(path, "no such file");
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

int main(int argc, char **argv) {
    struct options options = {.level = 1};
    const char *files[3];
    int count = 0, several = 0, status = 0;
    const char *called = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
    options.decompress = !strcmp(called, "unlz4") || !strcmp(called, "lz4cat");
    options.to_stdout = !strcmp(called, "lz4cat");
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (word[0] != '-' || !word[1]) {
            if (count < 3)
                files[count++] = word;
            continue;
        }
        if (!strcmp(word, "--rm")) options.remove = 1;
        else if (!strcmp(word, "--decompress")) options.decompress = 1;
        else if (!strcmp(word, "--stdout")) options.to_stdout = 1;
        else
            for (const char *at = word + 1; *at; at++) {
                if (*at >= '0' && *at <= '9') {
                    options.level = (int)strtol(at, (char **)&at, 10);
                    at--;
                } else if (*at == 'd') options.decompress = 1;
                else if (*at == 'z') options.decompress = 0;
                else if (*at == 'c') options.to_stdout = 1;
                else if (*at == 'f') options.force = 1;
                else if (*at == 'm') several = 1;
                else if (!strchr("kqv", *at))
                    return fail(word, "unknown option; usage: lz4 [-d] [-1..-12] [-c] [-f] [-m] [--rm] [FILE [OUTPUT]]");
            }
    }
    if (several) {
        for (int i = 1; i < argc; i++)
            if (argv[i][0] != '-')
                status |= one(argv[i], NULL, &options);
        return status;
    }
    if (count > 2)
        return fail(files[2], "one input and one output; -m takes several inputs");
    return one(count ? files[0] : "-", count > 1 ? files[1] : NULL, &options);
}
