/* A failed assertion, told in glibc's words. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wasi/api.h>

enum { ARGUMENT_BYTES = 4096, ARGUMENTS = 256 };

/* The program's own name, from its first argument. */
static const char *program(void) {
    static uint8_t text[ARGUMENT_BYTES];
    static uint8_t *words[ARGUMENTS];
    size_t count = 0, bytes = 0;
    if (__wasi_args_sizes_get(&count, &bytes) || count == 0 || count > ARGUMENTS || bytes > sizeof text)
        return "a.out";
    if (__wasi_args_get(words, text))
        return "a.out";
    const char *slash = strrchr((const char *)words[0], '/');
    return slash ? slash + 1 : (const char *)words[0];
}

__attribute__((weak)) _Noreturn void __assert_fail(const char *what, const char *file, int line, const char *function) {
    fflush(stdout);
    fprintf(stderr, "%s: %s:%d: %s: Assertion `%s' failed.\n", program(), file, line, function, what);
    fflush(stderr);
    abort();
}
