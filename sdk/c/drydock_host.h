/* The host calls of Drydock (`env.host_*`) for modules in C: kv, queue, secrets, sockets, HTTP, commands, files, and serving
 * requests.
 *
 *     #include "drydock_host.h"
 *
 *     static void handle(const drydock_http *request)
 *     {
 *         drydock_host_kv_put(DRYDOCK_LITERAL("last"), request->path.at, request->path.len);
 *         drydock_respond(200, "content-type: text/plain\n", DRYDOCK_LITERAL("hello\n"));
 *     }
 *
 *     DRYDOCK_SERVE(handle)
 *
 *     clang --target=wasm32 -O2 -nostdlib -ffreestanding -fno-builtin -Wl,--no-entry -o hello.wasm hello.c
 *     drydock serve-guest hello.wasm
 *
 * One header, no library, with a libc or without: include it in one source. Every call answers n >= 0 (bytes written, or 0),
 * or -1 where it was refused; drydock_host_error then tells the host's code. An answer that does not fit is -1 with
 * `reply_too_large`, never cut. An import is there only where its power was granted, and only what is used is imported.
 */
#ifndef DRYDOCK_HOST_H
#define DRYDOCK_HOST_H

#include <stdbool.h>
#include <stdint.h>

#define DRYDOCK_IMPORT(name) __attribute__((import_module("env"), import_name(name))) extern

/* Two arguments: where a text in quotes is, and how long it is. */
#define DRYDOCK_LITERAL(text) (text), (uint32_t)(sizeof(text) - 1)

/* ---- the host ---------------------------------------------------------------------------------------------------- */

/* No power: the time in milliseconds since 1970 by the run's own clock, a line for whoever runs it, the last code. */
DRYDOCK_IMPORT("host_now") int64_t drydock_host_now(void);
DRYDOCK_IMPORT("host_log") int32_t drydock_host_log(const void *, uint32_t);
DRYDOCK_IMPORT("host_error") int32_t drydock_host_error(void *out, uint32_t cap);

/* kv: values by key, kept for the tenant. */
DRYDOCK_IMPORT("host_kv_put") int32_t drydock_host_kv_put(const void *key, uint32_t, const void *value, uint32_t);
DRYDOCK_IMPORT("host_kv_get") int32_t drydock_host_kv_get(const void *key, uint32_t, void *out, uint32_t cap);

/* Every operation of a power, as JSON: ("kv.list", "{\"prefix\":\"app/\"}"). It answers how long the answer is, which waits until
 * drydock_host_reply fetches it: one that does not fit stays. After -1 that has {"error": {"code", "message"}}, if anything. */
DRYDOCK_IMPORT("host_kv_call") int32_t drydock_host_kv_call(const void *operation, uint32_t, const void *json, uint32_t);
DRYDOCK_IMPORT("host_queue_call") int32_t drydock_host_queue_call(const void *operation, uint32_t, const void *json, uint32_t);
DRYDOCK_IMPORT("host_llm_call") int32_t drydock_host_llm_call(const void *operation, uint32_t, const void *json, uint32_t);
DRYDOCK_IMPORT("host_browse_call") int32_t drydock_host_browse_call(const void *operation, uint32_t, const void *json, uint32_t);
DRYDOCK_IMPORT("host_reply") int32_t drydock_host_reply(void *out, uint32_t cap);

/* secrets: a signature by a secret that nobody here can read: 32 bytes of HMAC-SHA256, or 64 of Ed25519 where it is such a
 * key. */
DRYDOCK_IMPORT("host_sign")
int32_t drydock_host_sign(const void *name, uint32_t, const void *data, uint32_t, void *out, uint32_t cap);

/* queue: messages of a topic, first in, first out. */
DRYDOCK_IMPORT("host_publish") int32_t drydock_host_publish(const void *topic, uint32_t, const void *message, uint32_t);
DRYDOCK_IMPORT("host_poll") int32_t drydock_host_poll(const void *topic, uint32_t, void *out, uint32_t cap);

/* vfs: whole files of the session. */
DRYDOCK_IMPORT("host_vfs_write") int32_t drydock_host_vfs_write(const void *path, uint32_t, const void *data, uint32_t);
DRYDOCK_IMPORT("host_vfs_read") int32_t drydock_host_vfs_read(const void *path, uint32_t, void *out, uint32_t cap);

/* exec: [name_len:u32][name][argc:u32][(len:u32)(arg)]*[stdin_len:u32][stdin], little-endian; output comes back.
 * parallel: the same up to the arguments, then [n:u32][(len:u32)(input)]*; [n:i32][(len:i32, -1 = failed)(body)]* comes
 * back. */
DRYDOCK_IMPORT("host_exec") int32_t drydock_host_exec(const void *request, uint32_t, void *out, uint32_t cap);
DRYDOCK_IMPORT("host_status") int32_t drydock_host_status(void);
/* commands: the names that this session may run, one a line. */
DRYDOCK_IMPORT("host_commands") int32_t drydock_host_commands(void *out, uint32_t cap);
DRYDOCK_IMPORT("host_parallel_map") int32_t drydock_host_parallel_map(const void *request, uint32_t, void *out, uint32_t cap);
DRYDOCK_IMPORT("host_parallel_status") int32_t drydock_host_parallel_status(uint32_t index);

/* net, tcp, udp, tls: one request to a host that a grant names, one answer. */
DRYDOCK_IMPORT("host_http_get") int32_t drydock_host_http_get(const void *url, uint32_t, void *out, uint32_t cap);
/* Headers are lines of `name: value`. */
DRYDOCK_IMPORT("host_http")
int32_t drydock_host_http(const void *method, uint32_t, const void *url, uint32_t, const void *headers, uint32_t, const void *body,
                          uint32_t, void *out, uint32_t cap);
/* URLs, one a line; [n:u32][(len:i32, -1 = none)(body)]* comes back. */
DRYDOCK_IMPORT("host_http_get_many") int32_t drydock_host_http_get_many(const void *urls, uint32_t, void *out, uint32_t cap);
DRYDOCK_IMPORT("host_tcp")
int32_t drydock_host_tcp(const void *host, uint32_t, uint32_t port, const void *data, uint32_t, void *out, uint32_t cap);
DRYDOCK_IMPORT("host_udp")
int32_t drydock_host_udp(const void *host, uint32_t, uint32_t port, const void *data, uint32_t, void *out, uint32_t cap);
DRYDOCK_IMPORT("host_tls")
int32_t drydock_host_tls(const void *host, uint32_t, uint32_t port, const void *data, uint32_t, void *out, uint32_t cap);

/* Guests that serve alone: the request as text, and the response, of which the last one that is set is sent. */
DRYDOCK_IMPORT("host_request_len") int32_t drydock_host_request_len(void);
DRYDOCK_IMPORT("host_request_get") int32_t drydock_host_request_get(void *out, uint32_t cap);
DRYDOCK_IMPORT("host_response_set") int32_t drydock_host_response_set(const void *, uint32_t);

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

/* Whether the last refusal had this code, such as "not_found". */
static inline bool drydock_refused_as(const char *code)
{
    char last[128];
    int32_t len = drydock_host_error(last, sizeof last), at = 0;
    while (at < len && code[at] && code[at] == last[at])
        at++;
    return len > 0 && at == len && !code[at];
}

/* ---- serving ----------------------------------------------------------------------------------------------------- */

/* Bytes somewhere in memory. */
typedef struct {
    const char *at;
    uint32_t len;
} drydock_span;

/* METHOD PATH, headers a line each, a blank line, the body. Behind --tcp there is no head, and bytes that happen to have a
 * blank line in them would be taken apart at it: there, export `handle` without DRYDOCK_SERVE, and read the bytes with
 * drydock_host_request_get. */
typedef struct {
    drydock_span method, path, headers, body;
} drydock_http;

/* The longest request, and the longest response. */
#ifndef DRYDOCK_SERVE_ROOM
#define DRYDOCK_SERVE_ROOM (1 << 18)
#endif

__attribute__((unused)) static char drydock_serve_in[DRYDOCK_SERVE_ROOM], drydock_serve_out[DRYDOCK_SERVE_ROOM];

/* Reads the text of a request. */
static inline drydock_http drydock_http_parse(const char *at, uint32_t len)
{
    drydock_http request = {{at, 0}, {at, 0}, {at, 0}, {at, len}};
    uint32_t line = 0, head = 0, blank = 0;
    while (head + 1 < len && !(at[head] == '\n' && at[head + 1] == '\n'))
        head++;
    if (head + 1 >= len)
        return request;
    while (line < head && at[line] != '\n')
        line++;
    while (blank < line && at[blank] != ' ')
        blank++;
    uint32_t path = blank < line ? blank + 1 : line, headers = line < head ? line + 1 : head;
    request.method = (drydock_span){at, blank};
    request.path = (drydock_span){at + path, line - path};
    request.headers = (drydock_span){at + headers, head - headers};
    request.body = (drydock_span){at + head + 2, len - head - 2};
    return request;
}

/* Sets a response: a status, header lines that each end with \n, a body. -1 where it has no room or was refused. */
static inline int32_t drydock_respond(uint32_t status, const char *headers, const void *body, uint32_t body_len)
{
    uint32_t len = 0;
    for (uint32_t unit = 100; unit; unit /= 10)
        drydock_serve_out[len++] = (char)('0' + status / unit % 10);
    drydock_serve_out[len++] = '\n';
    while (*headers && len + 1 < DRYDOCK_SERVE_ROOM)
        drydock_serve_out[len++] = *headers++;
    if (*headers || body_len > DRYDOCK_SERVE_ROOM - len - 1)
        return -1;
    drydock_serve_out[len++] = '\n';
    for (uint32_t byte = 0; byte < body_len; byte++)
        drydock_serve_out[len++] = ((const char *)body)[byte];
    return drydock_host_response_set(drydock_serve_out, len);
}

/* Exports what the host calls. */
#define DRYDOCK_SERVE(function)                                                                                        \
    __attribute__((export_name("handle"))) int32_t drydock_serve_handle(void)                                          \
    {                                                                                                                  \
        int32_t len = drydock_host_request_get(drydock_serve_in, sizeof drydock_serve_in);                             \
        if (len < 0)                                                                                                   \
            return 1;                                                                                                  \
        drydock_http request = drydock_http_parse(drydock_serve_in, (uint32_t)len);                                    \
        function(&request);                                                                                            \
        return 0;                                                                                                      \
    }

#endif
