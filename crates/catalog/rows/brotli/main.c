/* brotli: compresses and decompresses files and streams. Ours, over the library's streaming interface. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <brotli/decode.h>
#include <brotli/encode.h>

enum { BUFFER = 1 << 16, QUALITY = 11, WINDOW = 22 };

struct options {
    int quality, window, decompress, to_stdout, force, remove;
    const char *output;
};

static uint8_t from[BUFFER], to[BUFFER];

static int fail(const char *name, const char *problem) {
    fprintf(stderr, "brotli: %s: %s\n", name, problem);
    return 1;
}

static int compress(FILE *in, FILE *out, const struct options *options, const char *name) {
    BrotliEncoderState *state = BrotliEncoderCreateInstance(NULL, NULL, NULL);
    if (!state)
        return fail(name, "not enough memory");
    BrotliEncoderSetParameter(state, BROTLI_PARAM_QUALITY, (uint32_t)options->quality);
    BrotliEncoderSetParameter(state, BROTLI_PARAM_LGWIN, (uint32_t)options->window);
    for (int last = 0; !BrotliEncoderIsFinished(state);) {
        size_t available = last ? 0 : fread(from, 1, BUFFER, in);
        const uint8_t *next = from;
        last = last || available < BUFFER;
        do {
            size_t room = BUFFER;
            uint8_t *at = to;
            BrotliEncoderOperation what = last ? BROTLI_OPERATION_FINISH : BROTLI_OPERATION_PROCESS;
            if (!BrotliEncoderCompressStream(state, what, &available, &next, &room, &at, NULL))
                return fail(name, "could not compress");
            if (fwrite(to, 1, BUFFER - room, out) != BUFFER - room)
                return fail(name, "could not write");
        } while (available > 0 || BrotliEncoderHasMoreOutput(state));
    }
    BrotliEncoderDestroyInstance(state);
    return ferror(in) ? fail(name, "could not read") : 0;
}

static int decompress(FILE *in, FILE *out, const char *name) {
    BrotliDecoderState *state = BrotliDecoderCreateInstance(NULL, NULL, NULL);
    if (!state)
        return fail(name, "not enough memory");
    BrotliDecoderResult result = BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT;
    size_t available = 0;
    const uint8_t *next = from;
    while (result != BROTLI_DECODER_RESULT_SUCCESS) {
        if (result == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT) {
            if (!(available = fread(from, 1, BUFFER, in)))
                return fail(name, "corrupt input: it ends too early");
            next = from;
        }
        size_t room = BUFFER;
        uint8_t *at = to;
        result = BrotliDecoderDecompressStream(state, &available, &next, &room, &at, NULL);
        if (result == BROTLI_DECODER_RESULT_ERROR)
            return fail(name, "corrupt input");
        if (fwrite(to, 1, BUFFER - room, out) != BUFFER - room)
            return fail(name, "could not write");
    }
    BrotliDecoderDestroyInstance(state);
    if (available > 0 || fgetc(in) != EOF)
        return fail(name, "corrupt input: bytes after its end");
    return 0;
}

static int one(const char *path, const struct options *options) {
    char name[4096];
    int stream = !strcmp(path, "-"), to_stdout = options->to_stdout || (stream && !options->output);
    size_t length = strlen(path);
    if (length + 4 > sizeof name)
        return fail(path, "the name is too long");
    if (options->output)
        snprintf(name, sizeof name, "%s", options->output);
    else if (!options->decompress)
        snprintf(name, sizeof name, "%s.br", path);
    else if (length > 3 && !strcmp(path + length - 3, ".br"))
        snprintf(name, sizeof name, "%.*s", (int)(length - 3), path);
    else if (!to_stdout)
        return fail(path, "the name does not end with .br");
    FILE *in = stream ? stdin : fopen(path, "rb");
    if (!in)
        return fail(path, "no such file");
    if (!to_stdout && !options->force && access(name, F_OK) == 0)
        return fail(name, "already exists; not overwritten without -f");
    FILE *out = to_stdout ? stdout : fopen(name, "wb");
    if (!out)
        return fail(name, "could not be created");
    int status = options->decompress ? decompress(in, out, path) : compress(in, out, options, path);
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
    struct options options = {.quality = QUALITY, .window = WINDOW};
    int status = 0, files = 0;
    for (int i = 1; i < argc; i++) {
        char *word = argv[i];
        if (word[0] != '-' || !word[1])
            continue;
        argv[i] = NULL;
        if (!strcmp(word, "-d") || !strcmp(word, "--decompress")) options.decompress = 1;
        else if (!strcmp(word, "-c") || !strcmp(word, "--stdout")) options.to_stdout = 1;
        else if (!strcmp(word, "-dc") || !strcmp(word, "-cd")) options.decompress = options.to_stdout = 1;
        else if (!strcmp(word, "-f") || !strcmp(word, "--force")) options.force = 1;
        else if (!strcmp(word, "-j") || !strcmp(word, "--rm")) options.remove = 1;
        else if (!strcmp(word, "-k") || !strcmp(word, "--keep")) options.remove = 0;
        else if (!strcmp(word, "-Z") || !strcmp(word, "--best")) options.quality = QUALITY;
        else if (!strncmp(word, "--quality=", 10)) options.quality = atoi(word + 10);
        else if (!strncmp(word, "--output=", 9)) options.output = word + 9;
        else if (word[1] >= '0' && word[1] <= '9') options.quality = atoi(word + 1);
        else if ((!strcmp(word, "-q") || !strcmp(word, "-o")) && i + 1 < argc) {
            if (word[1] == 'q') options.quality = atoi(argv[++i]);
            else options.output = argv[++i];
            argv[i] = NULL;
        } else
            return fail(word, "unknown option; usage: brotli [-d] [-0..-11] [-c] [-f] [-j] [-o FILE] [FILE...]");
    }
    if (options.quality < 0 || options.quality > QUALITY)
        return fail("-q", "a quality is 0 to 11");
    for (int i = 1; i < argc; i++)
        if (argv[i])
            files++, status |= one(argv[i], &options);
    return files ? status : one("-", &options);
}
