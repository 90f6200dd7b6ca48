/* system: a line of the shell, run by the host as any command is, if the program may run commands. Linked only into
 * programs that call it. The request is the exec wire: see crates/abi/src/exec/command.rs. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

__attribute__((import_module("env"), import_name("host_command"))) int32_t
host_command(const uint8_t *request, size_t bytes, uint32_t stdin_from);

enum { VERSION = 1, STDIN_OURS = 1, REFUSED = -1, NOT_FOUND = 127 };

struct wire {
    uint8_t *bytes;
    size_t length;
};

static void put_number(struct wire *wire, uint32_t number) {
    memcpy(wire->bytes + wire->length, &number, sizeof number);
    wire->length += sizeof number;
}

static void put_text(struct wire *wire, const char *text) {
    size_t length = strlen(text);
    put_number(wire, (uint32_t)length);
    memcpy(wire->bytes + wire->length, text, length);
    wire->length += length;
}

int system(const char *line);

__attribute__((weak)) int system(const char *line) {
    if (!line)
        return 1;
    size_t room = 64 + strlen(line), count = 0;
    for (char **entry = environ; entry && *entry; entry++, count++)
        room += 4 + strlen(*entry);
    struct wire wire = {malloc(room), 0};
    if (!wire.bytes)
        return -1;
    put_number(&wire, VERSION);
    put_number(&wire, (uint32_t)count);
    for (size_t i = 0; i < count; i++)
        put_text(&wire, environ[i]);
    put_text(&wire, "sh");
    put_number(&wire, 2);
    put_text(&wire, "-c");
    put_text(&wire, line);
    put_text(&wire, "");
    put_number(&wire, 0);
    int32_t status = host_command(wire.bytes, wire.length, STDIN_OURS);
    free(wire.bytes);
    return (status == REFUSED ? NOT_FOUND : status & 0xff) << 8;
}
