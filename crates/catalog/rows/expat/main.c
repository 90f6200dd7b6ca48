/* xmlwf: says whether XML is well-formed; -o prints its outline: elements, attributes and text. Ours, over expat. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expat.h"

enum { BUFFER = 1 << 16 };

static void indent(int depth) { printf("%*s", depth * 2, ""); }

static void XMLCALL begin(void *data, const XML_Char *name, const XML_Char **attributes) {
    int *depth = data;
    indent(*depth);
    fputs(name, stdout);
    for (; *attributes; attributes += 2)
        printf(" %s=\"%s\"", attributes[0], attributes[1]);
    putchar('\n');
    ++*depth;
}

static void XMLCALL end(void *data, const XML_Char *name) {
    (void)name;
    --*(int *)data;
}

static void XMLCALL text(void *data, const XML_Char *bytes, int length) {
    while (length > 0 && isspace((unsigned char)*bytes))
        bytes++, length--;
    while (length > 0 && isspace((unsigned char)bytes[length - 1]))
        length--;
    if (length <= 0)
        return;
    indent(*(int *)data);
    printf("\"%.*s\"\n", length, bytes);
}

/* As xmlwf does, what is wrong goes to stdout, and the status says whether anything was. */
static int parse(FILE *in, const char *name, int outline) {
    int depth = 0, status = 0, last = 0;
    XML_Parser parser = XML_ParserCreate(NULL);
    if (!parser)
        return 1;
    XML_SetUserData(parser, &depth);
    if (outline) {
        XML_SetElementHandler(parser, begin, end);
        XML_SetCharacterDataHandler(parser, text);
    }
    while (!last && !status) {
        void *buffer = XML_GetBuffer(parser, BUFFER);
        size_t count = buffer ? fread(buffer, 1, BUFFER, in) : 0;
        last = count < BUFFER;
        if (!buffer || XML_ParseBuffer(parser, (int)count, last) == XML_STATUS_ERROR) {
            printf("%s:%lu:%lu: %s\n", name, (unsigned long)XML_GetCurrentLineNumber(parser),
                   (unsigned long)XML_GetCurrentColumnNumber(parser), XML_ErrorString(XML_GetErrorCode(parser)));
            status = 2;
        }
    }
    XML_ParserFree(parser);
    return status;
}

int main(int argc, char **argv) {
    int outline = 0, next = 1, status = 0;
    for (; next < argc && argv[next][0] == '-' && argv[next][1]; next++) {
        if (!strcmp(argv[next], "-v")) {
            printf("xmlwf using %s\n", XML_ExpatVersion());
            return 0;
        }
        if (strcmp(argv[next], "-o")) {
            fprintf(stderr, "usage: xmlwf [-o] [-v] [FILE...]\n");
            return 4;
        }
        outline = 1;
    }
    if (next == argc)
        return parse(stdin, "STDIN", outline);
    for (; next < argc; next++) {
        FILE *in = strcmp(argv[next], "-") ? fopen(argv[next], "rb") : stdin;
        if (!in) {
            fprintf(stderr, "%s: no such file\n", argv[next]);
            status = 3;
            continue;
        }
        int found = parse(in, argv[next], outline);
        status = found ? found : status;
        if (in != stdin)
            fclose(in);
    }
    return status;
}
