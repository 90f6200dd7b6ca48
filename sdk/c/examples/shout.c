/* Needs no power at all: answers what it was sent, in capitals: drydock serve-guest shout.wasm */
#include "../drydock_host.h"

static char capitals[1 << 16];

static void handle(const drydock_http *request)
{
    uint32_t len = request->body.len < sizeof capitals ? request->body.len : sizeof capitals;
    for (uint32_t at = 0; at < len; at++) {
        char c = request->body.at[at];
        capitals[at] = c >= 'a' && c <= 'z' ? (char)(c - 32) : c;
    }
    drydock_respond(200, "content-type: text/plain\n", capitals, len);
}

DRYDOCK_SERVE(handle)
