/* An HTTP extension of Drydock, or of any host of the Runner ABI, as one function in C.
 *
 *     #include "drydock.h"
 *
 *     static drydock_response handle(const drydock_request *request)
 *     {
 *         drydock_log_info("asked");
 *         drydock_response answer = drydock_answer(200);
 *         drydock_add_header(&answer, "content-type", "application/json");
 *         answer.body = drydock_text_of("{\"ok\":true}");
 *         return answer;
 *     }
 *
 *     DRYDOCK_EXTENSION(handle)
 *
 *     clang --target=wasm32 -O2 -nostdlib -ffreestanding -fno-builtin -Wl,--no-entry -o ok.wasm ok.c
 *
 * One header, no library: include it in one source. Each request gets an instance of its own, so nothing is ever freed:
 * memory is taken from one end and gone with the instance. Texts have a length and need not end with a zero. What the
 * extension may reach is for the host to say: drydock_fetch is told no where it was not allowed.
 */
#ifndef DRYDOCK_H
#define DRYDOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes somewhere in memory. */
typedef struct {
    const char *at;
    uint32_t len;
} drydock_text;

/* A request as the host shows it. `context`, `query` and `headers` are objects in JSON; see drydock_get and
 * drydock_get_header. */
typedef struct {
    drydock_text method, path, body;
    drydock_text context, query, headers;
} drydock_request;

/* An answer: the handler's own, made by drydock_answer, or that of a fetch. */
typedef struct {
    int status;
    drydock_text headers; /* an object in JSON */
    drydock_text body;
} drydock_response;

/* Why a fetch has no answer. */
enum {
    DRYDOCK_OK = 0,
    DRYDOCK_DENIED = 1,
    DRYDOCK_INVALID = 2,
    DRYDOCK_TRANSPORT = 3,
    DRYDOCK_TOO_LARGE = 4,
    DRYDOCK_TIMEOUT = 5,
    DRYDOCK_QUOTA = 6,
};

/* ---- the host ---------------------------------------------------------------------------------------------------- */

__attribute__((import_module("alga"), import_name("log_info"))) extern void drydock_host_log_info(const char *, uint32_t);
__attribute__((import_module("alga"), import_name("log_error"))) extern void drydock_host_log_error(const char *, uint32_t);
__attribute__((import_module("alga"), import_name("http.fetch"))) extern int32_t
drydock_host_fetch(const char *, uint32_t, uint32_t *);

/* ---- memory ------------------------------------------------------------------------------------------------------ */

extern unsigned char __heap_base;
static uint32_t drydock_next;

/* Room for so many bytes, or a null pointer. */
static inline void *drydock_alloc(uint32_t size)
{
    uint64_t at = ((uint64_t)(drydock_next ? drydock_next : (uint32_t)(uintptr_t)&__heap_base) + 7) & ~(uint64_t)7;
    uint64_t end = at + size, have = (uint64_t)__builtin_wasm_memory_size(0) << 16;
    if (end > UINT32_MAX)
        return 0;
    if (end > have && __builtin_wasm_memory_grow(0, (uint32_t)((end - have + 65535) >> 16)) == (__SIZE_TYPE__)-1)
        return 0;
    drydock_next = (uint32_t)end;
    return (void *)(uintptr_t)at;
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

static inline drydock_text drydock_text_of(const char *zero_ended)
{
    uint32_t len = 0;
    while (zero_ended[len])
        len++;
    return (drydock_text){zero_ended, len};
}

static inline char drydock_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

/* Whether they are the same, but for the case of letters. */
static inline bool drydock_same(drydock_text one, drydock_text other)
{
    if (one.len != other.len)
        return false;
    for (uint32_t at = 0; at < one.len; at++)
        if (drydock_lower(one.at[at]) != drydock_lower(other.at[at]))
            return false;
    return true;
}

/* A text that grows. Where there is no memory for it the call ends, as it does in any language that has no other way. */
typedef struct {
    char *at;
    uint32_t len, room;
} drydock_buffer;

static inline void drydock_push(drydock_buffer *buffer, drydock_text text)
{
    if (text.len > buffer->room - buffer->len) {
        uint64_t room = ((uint64_t)buffer->len + text.len) * 2 + 64;
        char *at = room > UINT32_MAX ? 0 : drydock_alloc((uint32_t)room);
        if (!at)
            __builtin_trap();
        for (uint32_t byte = 0; byte < buffer->len; byte++)
            at[byte] = buffer->at[byte];
        buffer->at = at;
        buffer->room = (uint32_t)room;
    }
    for (uint32_t byte = 0; byte < text.len; byte++)
        buffer->at[buffer->len + byte] = text.at[byte];
    buffer->len += text.len;
}

static inline void drydock_push_text(drydock_buffer *buffer, const char *zero_ended)
{
    drydock_push(buffer, drydock_text_of(zero_ended));
}

static inline void drydock_push_byte(drydock_buffer *buffer, char byte)
{
    drydock_push(buffer, (drydock_text){&byte, 1});
}

static inline void drydock_push_number(drydock_buffer *buffer, uint32_t number)
{
    char digits[10];
    uint32_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + number % 10);
    while (number /= 10);
    drydock_push(buffer, (drydock_text){digits + at, (uint32_t)sizeof digits - at});
}

static inline drydock_text drydock_pushed(const drydock_buffer *buffer)
{
    return (drydock_text){buffer->at, buffer->len};
}

/* As a string in JSON, with its quotes. The text is UTF-8. */
static inline void drydock_push_string(drydock_buffer *buffer, drydock_text text)
{
    static const char hex[] = "0123456789abcdef";
    drydock_push_byte(buffer, '"');
    for (uint32_t at = 0; at < text.len; at++) {
        unsigned char c = (unsigned char)text.at[at];
        if (c == '"' || c == '\\') {
            drydock_push_byte(buffer, '\\');
            drydock_push_byte(buffer, (char)c);
        } else if (c < 0x20) {
            drydock_push_text(buffer, "\\u00");
            drydock_push_byte(buffer, hex[c >> 4]);
            drydock_push_byte(buffer, hex[c & 15]);
        } else {
            drydock_push_byte(buffer, (char)c);
        }
    }
    drydock_push_byte(buffer, '"');
}

/* ---- base64 ------------------------------------------------------------------------------------------------------ */

static inline void drydock_push_base64(drydock_buffer *buffer, drydock_text bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (uint32_t at = 0; at < bytes.len; at += 3) {
        uint32_t left = bytes.len - at, three = 0;
        for (uint32_t byte = 0; byte < 3; byte++)
            three = three << 8 | (byte < left ? (unsigned char)bytes.at[at + byte] : 0);
        char four[4] = {digits[three >> 18], digits[three >> 12 & 63], left > 1 ? digits[three >> 6 & 63] : '=',
                        left > 2 ? digits[three & 63] : '='};
        drydock_push(buffer, (drydock_text){four, 4});
    }
}

static inline int drydock_digit(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static inline drydock_text drydock_from_base64(drydock_text text)
{
    drydock_buffer bytes = {0};
    uint32_t bits = 0, have = 0;
    for (uint32_t at = 0; at < text.len && drydock_digit(text.at[at]) >= 0; at++) {
        bits = bits << 6 | (uint32_t)drydock_digit(text.at[at]);
        have += 6;
        if (have >= 8)
            drydock_push_byte(&bytes, (char)(bits >> (have -= 8)));
    }
    return drydock_pushed(&bytes);
}

/* ---- JSON that the host wrote, and that is therefore well formed ---------------------------------------------------- */

static inline uint32_t drydock_blank(drydock_text json, uint32_t at)
{
    while (at < json.len && (json.at[at] == ' ' || json.at[at] == '\n' || json.at[at] == '\r' || json.at[at] == '\t'))
        at++;
    return at;
}

/* Where the string that begins at `at` ends, behind its quote. */
static inline uint32_t drydock_after_string(drydock_text json, uint32_t at)
{
    for (at++; at < json.len && json.at[at] != '"'; at++)
        if (json.at[at] == '\\')
            at++;
    return at < json.len ? at + 1 : json.len;
}

/* Where the value that begins at `at` ends. */
static inline uint32_t drydock_after_value(drydock_text json, uint32_t at)
{
    uint32_t depth = 0;
    while (at < json.len) {
        char c = json.at[at];
        if (c == '"') {
            at = drydock_after_string(json, at);
        } else {
            if (c == '{' || c == '[')
                depth++;
            else if (depth == 0 && (c == ',' || c == '}' || c == ']'))
                return at;
            else if (c == '}' || c == ']')
                depth--;
            at++;
        }
        if (depth == 0 && at < json.len && (c == '"' || c == '}' || c == ']'))
            return at;
    }
    return at;
}

/* The four hexadecimal digits of an escape. */
static inline uint32_t drydock_unit(drydock_text json, uint32_t at)
{
    uint32_t unit = 0;
    for (uint32_t end = at + 4; at < end && at < json.len; at++) {
        char digit = drydock_lower(json.at[at]);
        unit = unit << 4 | (uint32_t)(digit >= 'a' ? digit - 'a' + 10 : digit - '0');
    }
    return unit;
}

/* The text that a string in JSON stands for. */
static inline drydock_text drydock_unquoted(drydock_text json)
{
    drydock_buffer text = {0};
    for (uint32_t at = 1; at + 1 < json.len; at++) {
        char c = json.at[at];
        if (c != '\\') {
            drydock_push_byte(&text, c);
            continue;
        }
        c = json.at[++at];
        if (c != 'u') {
            drydock_push_byte(&text, c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c == 'b' ? '\b' : c == 'f' ? '\f' : c);
            continue;
        }
        uint32_t point = drydock_unit(json, at + 1), low;
        at += 4;
        if (point >= 0xd800 && point < 0xdc00 && at + 6 < json.len && json.at[at + 1] == '\\') {
            low = drydock_unit(json, at + 3);
            point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
            at += 6;
        }
        if (point < 0x80) {
            drydock_push_byte(&text, (char)point);
        } else if (point < 0x800) {
            drydock_push_byte(&text, (char)(0xc0 | point >> 6));
            drydock_push_byte(&text, (char)(0x80 | (point & 63)));
        } else if (point < 0x10000) {
            drydock_push_byte(&text, (char)(0xe0 | point >> 12));
            drydock_push_byte(&text, (char)(0x80 | (point >> 6 & 63)));
            drydock_push_byte(&text, (char)(0x80 | (point & 63)));
        } else {
            drydock_push_byte(&text, (char)(0xf0 | point >> 18));
            drydock_push_byte(&text, (char)(0x80 | (point >> 12 & 63)));
            drydock_push_byte(&text, (char)(0x80 | (point >> 6 & 63)));
            drydock_push_byte(&text, (char)(0x80 | (point & 63)));
        }
    }
    return drydock_pushed(&text);
}

/* The value of a member of an object, as JSON; no text where there is none. */
static inline drydock_text drydock_member(drydock_text object, const char *name)
{
    drydock_text wanted = drydock_text_of(name);
    uint32_t at = drydock_blank(object, 0) + 1;
    while (at < object.len && object.at[at = drydock_blank(object, at)] == '"') {
        uint32_t end = drydock_after_string(object, at);
        drydock_text key = drydock_unquoted((drydock_text){object.at + at, end - at});
        at = drydock_blank(object, drydock_blank(object, end) + 1);
        end = drydock_after_value(object, at);
        if (drydock_same(key, wanted))
            return (drydock_text){object.at + at, end - at};
        at = drydock_blank(object, end) + 1;
    }
    return (drydock_text){0, 0};
}

/* ---- what a handler uses ------------------------------------------------------------------------------------------- */

/* The string that a member of an object is: drydock_get(request->query, "page", &page). The case of names does not matter.
 * False where there is none, or where it is no string. */
static inline bool drydock_get(drydock_text object, const char *name, drydock_text *value)
{
    drydock_text found = drydock_member(object, name);
    if (found.len < 2 || found.at[0] != '"')
        return false;
    *value = drydock_unquoted(found);
    return true;
}

/* The header of that name. */
static inline bool drydock_get_header(const drydock_request *request, const char *name, drydock_text *value)
{
    return drydock_get(request->headers, name, value);
}

static inline void drydock_log_info(const char *line)
{
    drydock_text text = drydock_text_of(line);
    drydock_host_log_info(text.at, text.len);
}

static inline void drydock_log_error(const char *line)
{
    drydock_text text = drydock_text_of(line);
    drydock_host_log_error(text.at, text.len);
}

/* An answer without headers and body. */
static inline drydock_response drydock_answer(int status)
{
    return (drydock_response){status, {"{}", 2}, {0, 0}};
}

/* With one more header; another of the same name is replaced where the host reads it. */
static inline void drydock_add_header(drydock_response *answer, const char *name, const char *value)
{
    drydock_buffer headers = {0};
    drydock_push(&headers, (drydock_text){answer->headers.at, answer->headers.len - 1});
    if (answer->headers.len > 2)
        drydock_push_byte(&headers, ',');
    drydock_push_string(&headers, drydock_text_of(name));
    drydock_push_byte(&headers, ':');
    drydock_push_string(&headers, drydock_text_of(value));
    drydock_push_byte(&headers, '}');
    answer->headers = drydock_pushed(&headers);
}

/* A request to be sent; `headers` is made as those of an answer are, and may be empty. */
typedef struct {
    drydock_text url, method, headers, body;
} drydock_fetch_request;

/* Sends it and waits. 0 and the answer, or one of the codes above. Redirects are answers. */
static inline int drydock_fetch(const drydock_fetch_request *request, drydock_response *answer)
{
    drydock_buffer json = {0};
    drydock_push_text(&json, "{\"url\":");
    drydock_push_string(&json, request->url);
    if (request->method.len) {
        drydock_push_text(&json, ",\"method\":");
        drydock_push_string(&json, request->method);
    }
    if (request->headers.len) {
        drydock_push_text(&json, ",\"headers\":");
        drydock_push(&json, request->headers);
    }
    if (request->body.len) {
        drydock_push_text(&json, ",\"body_b64\":\"");
        drydock_push_base64(&json, request->body);
        drydock_push_byte(&json, '"');
    }
    drydock_push_byte(&json, '}');
    uint32_t place[2] = {0, 0};
    int code = drydock_host_fetch(json.at, json.len, place);
    if (code != DRYDOCK_OK)
        return code;
    drydock_text told = {(const char *)(uintptr_t)place[0], place[1]};
    drydock_text status = drydock_member(told, "status"), body;
    answer->status = 0;
    for (uint32_t at = 0; at < status.len && status.at[at] >= '0' && status.at[at] <= '9'; at++)
        answer->status = answer->status * 10 + (status.at[at] - '0');
    answer->headers = drydock_member(told, "headers");
    answer->body = drydock_get(told, "body_b64", &body) ? drydock_from_base64(body) : (drydock_text){0, 0};
    return DRYDOCK_OK;
}

/* One request, from bytes to bytes. */
static inline int32_t drydock_handle(const char *at, uint32_t len, uint32_t *out,
                                     drydock_response (*handle)(const drydock_request *))
{
    drydock_text json = {at, len}, http = drydock_member(json, "http"), body;
    drydock_request request = {{0, 0}, {0, 0}, {0, 0}, drydock_member(json, "context"), drydock_member(http, "query"),
                               drydock_member(http, "headers")};
    if (!drydock_get(http, "method", &request.method) || !drydock_get(http, "path", &request.path))
        return DRYDOCK_INVALID;
    if (drydock_get(http, "body_b64", &body))
        request.body = drydock_from_base64(body);
    drydock_response answer = handle(&request);
    drydock_buffer written = {0};
    drydock_push_text(&written, "{\"status\":");
    drydock_push_number(&written, (uint32_t)answer.status);
    drydock_push_text(&written, ",\"headers\":");
    drydock_push(&written, answer.headers);
    drydock_push_text(&written, ",\"body_b64\":\"");
    drydock_push_base64(&written, answer.body);
    drydock_push_text(&written, "\"}");
    out[0] = (uint32_t)(uintptr_t)written.at;
    out[1] = written.len;
    return 0;
}

/* Makes the function the extension's handler: exports what the host calls. */
#define DRYDOCK_EXTENSION(handle)                                                                                      \
    __attribute__((export_name("alloc"))) void *drydock_export_alloc(uint32_t size)                                    \
    {                                                                                                                  \
        return drydock_alloc(size);                                                                                    \
    }                                                                                                                  \
    __attribute__((export_name("handler"))) int32_t drydock_export_handler(const char *at, uint32_t len, uint32_t *out) \
    {                                                                                                                  \
        return drydock_handle(at, len, out, handle);                                                                   \
    }

#endif
