/* Keeps a count in kv, signs it with a secret that it cannot read, and serves it: drydock serve-guest counter.wasm */
#include "../drydock_host.h"

static void handle(const drydock_http *request)
{
    char text[16];
    uint32_t count = 0, at = sizeof text - 1;
    int32_t len = drydock_host_kv_get(DRYDOCK_LITERAL("visits"), text, sizeof text);
    if (len < 0 && !drydock_refused_as("not_found")) {
        drydock_respond(503, "", DRYDOCK_LITERAL("there is no kv\n"));
        return;
    }
    for (int32_t digit = 0; digit < len && text[digit] >= '0' && text[digit] <= '9'; digit++)
        count = count * 10 + (uint32_t)(text[digit] - '0');
    count++;
    text[at] = '\n';
    do
        text[--at] = (char)('0' + count % 10);
    while (count /= 10);
    uint32_t digits = sizeof text - 1 - at;
    if (drydock_host_kv_put(DRYDOCK_LITERAL("visits"), text + at, digits) < 0) {
        drydock_respond(503, "", DRYDOCK_LITERAL("it cannot be kept\n"));
        return;
    }
    unsigned char signature[32];
    static char headers[16 + 64 + 2] = "x-signature: ";
    uint32_t end = 13;
    int32_t signed_len = drydock_host_sign(DRYDOCK_LITERAL("COUNTER"), text + at, digits, signature, sizeof signature);
    for (int32_t byte = 0; byte < signed_len; byte++) {
        headers[end++] = "0123456789abcdef"[signature[byte] >> 4];
        headers[end++] = "0123456789abcdef"[signature[byte] & 15];
    }
    headers[end] = '\n';
    drydock_host_log(request->path.at, request->path.len);
    drydock_respond(200, headers, text + at, digits + 1);
}

DRYDOCK_SERVE(handle)
