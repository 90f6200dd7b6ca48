/* QuickJS as one translation unit with the few doors that its public header does not have.
 *
 * The program text is not wrapped in other text: `program_compile` hands it to QuickJS's own parser as
 * the body of an async function, and decides statement by statement what is returned. So there is
 * one grammar, lines and columns are the user's own, and no text can break out of a wrapper.
 *
 * quickjs.c comes from the crate rquickjs-sys, with a few lines put in by build.rs; nothing of it is kept here.
 */
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
#include <sys/time.h>

/* Before a run begins there is no host to ask for the time: the image is made without one. */
static int session_is_open;

static int session_gettimeofday(struct timeval *now, void *zone)
{
    if (session_is_open)
        return gettimeofday(now, zone);
    now->tv_sec = 0;
    now->tv_usec = 0;
    return 0;
}

#define gettimeofday session_gettimeofday

/* Most programs need no randomness, so it is asked for when the first one does; build.rs puts it to use. */
#ifdef __wasm__
__attribute__((import_module("wasi_snapshot_preview1"), import_name("random_get")))
int session_random_get(void *bytes, size_t count);
#else
static int session_random_get(void *bytes, size_t count)
{
    memset(bytes, 1, count);
    return 0;
}
#endif

static uint64_t session_random(void)
{
    uint64_t seed = 0;
    session_random_get(&seed, sizeof(seed));
    return seed ? seed : 1;
}

#include "cutils.h"

#include "heap.c"

/* QuickJS guards against deep recursion by the stack in memory. In wasm a frame may take none of that,
   but always some of the machine's own, where an overflow is a trap. So every function that looks
   takes some of both, and the first limit is reached long before the second. */
#define FRAME_BYTES_MIN 320

/* The parsers of programs and of regular expressions take four times as much of the machine's stack as of
   the one in memory, the interpreter about as much. So a parser has to stop this much earlier; build.rs
   puts both names to use. */
#define PARSER_RESERVE_BYTES (280 * 1024)
#define PARSER_GUARD(s) \
    { \
        volatile char level[128]; \
        level[0] = 0; \
        if (js_check_stack_overflow((s)->ctx->rt, PARSER_RESERVE_BYTES)) { \
            JS_ThrowStackOverflow((s)->ctx); \
            return -1; \
        } \
    }
#define __builtin_frame_address(level) \
    ({ volatile char frame[FRAME_BYTES_MIN]; frame[0] = 0; (uintptr_t)&frame; })
/* What import.c does in the place of QuickJS's loader; build.rs puts it to use. */
#define THROW_NO_EXPORT 5
#include "quickjs.h"
static char *import_resolve(JSContext *ctx, const char *base, const char *specifier);
static void import_throw_no_export(JSContext *ctx, JSAtom name);
static JSModuleDef *import_load(JSContext *ctx, const char *name, JSValueConst attributes);
JSValue value_own_data(JSContext *ctx, JSValue object, const char *name);
/* QuickJS turns its stack check off for WASI. Ours has a stack whose size is known. */
#undef __wasi__
#include "quickjs.c"
#undef gettimeofday
#undef __builtin_frame_address
#include "import.c"

/* ---- memory ---- */

static const JSMallocFunctions heap_functions = {
    heap_calloc, heap_malloc, heap_free, heap_realloc, heap_usable_size,
};

/* With one thread and no other runtime, nothing is ever shared but the name. */
static void *shared_alloc(void *opaque, size_t size)
{
    return noted(calloc(1, size ? size : 1));
}

static void shared_dup(void *opaque, void *block)
{
}

static const JSSharedArrayBufferFunctions shared_functions = { shared_alloc, heap_free, shared_dup, NULL };

/* Ends the program in a way it cannot catch. */
static int out_of_memory_interrupts(JSRuntime *rt, void *opaque)
{
    return memory_ran_out;
}

bool engine_memory_ran_out(void)
{
    return memory_ran_out;
}

/* ---- the engine ---- */

/* A context with the language's own objects and nothing of a host's. */
JSContext *engine_new(void)
{
    JSRuntime *rt = JS_NewRuntime2(&heap_functions, NULL);
    JSContext *ctx = rt ? JS_NewContextRaw(rt) : NULL;
    if (!ctx)
        return NULL;
    if (JS_AddIntrinsicBaseObjects(ctx) || JS_AddIntrinsicDate(ctx) || JS_AddIntrinsicEval(ctx)
        || JS_AddIntrinsicRegExp(ctx) || JS_AddIntrinsicJSON(ctx) || JS_AddIntrinsicProxy(ctx)
        || JS_AddIntrinsicMapSet(ctx) || JS_AddIntrinsicTypedArrays(ctx) || JS_AddIntrinsicPromise(ctx))
        return NULL;
    JS_SetInterruptHandler(rt, out_of_memory_interrupts, NULL);
    JS_SetSharedArrayBufferFunctions(rt, &shared_functions);
    return ctx;
}

/* A run begins: there is a host now, randomness is the session's, and the stack starts here. Without a seed
   the first program that wants randomness asks the host. */
void engine_open(JSContext *ctx, uint64_t seed, size_t stack_bytes_max)
{
    JSRuntime *rt = ctx->rt;
    session_is_open = 1;
    ctx->random_state = seed;
    rt->stack_size = stack_bytes_max;
    JS_UpdateStackTop(rt);
}

/* ---- the program ---- */

/* Whether the current token begins an expression statement; -1 if the text is wrong.
   The complement of the cases of js_parse_statement_or_decl. */
static int begins_expression(JSParseState *s)
{
    JSParsePos pos;
    int found;

    switch (s->token.val) {
    case '{': case ';': case TOK_RETURN: case TOK_THROW: case TOK_LET: case TOK_CONST: case TOK_VAR:
    case TOK_IF: case TOK_WHILE: case TOK_DO: case TOK_FOR: case TOK_BREAK: case TOK_CONTINUE:
    case TOK_SWITCH: case TOK_TRY: case TOK_WITH: case TOK_FUNCTION: case TOK_CLASS:
    case TOK_DEBUGGER: case TOK_ENUM: case TOK_EXPORT: case TOK_EXTENDS:
        return 0;
    case TOK_AWAIT:
        js_parse_get_pos(s, &pos);
        if (next_token(s))
            return -1;
        found = is_using(s, false);
        if (found < 0 || js_parse_seek_token(s, &pos))
            return -1;
        return !found;
    case TOK_IDENT:
        if (s->token.u.ident.is_reserved || is_label(s))
            return 0;
        found = is_let(s, DECL_MASK_ALL);
        if (found == 0)
            found = is_using(s, false);
        return found < 0 ? -1 : !found;
    default:
        return 1;
    }
}

static int begins_function(JSParseState *s)
{
    return s->token.val == TOK_FUNCTION
        || (token_is_pseudo_keyword(s, JS_ATOM_async) && peek_token(s, true) == TOK_FUNCTION);
}

/* Whether what was emitted since `start` is one async arrow function and nothing else. */
static int is_async_arrow(JSFunctionDef *fd, size_t start)
{
    const uint8_t *code = fd->byte_code.buf;
    size_t at = start, end = fd->byte_code.size;
    struct list_head *el;
    int index;

    while (at < end && code[at] == OP_source_loc)
        at += opcode_info[OP_source_loc].size;
    if (at >= end || code[at] != OP_fclosure)
        return 0;
    index = get_u32(code + at + 1);
    at += opcode_info[OP_fclosure].size;
    if (at < end && code[at] == OP_set_name)
        at += opcode_info[OP_set_name].size;
    if (at != end)
        return 0;
    list_for_each(el, &fd->child_list) {
        JSFunctionDef *child = list_entry(el, JSFunctionDef, link);
        if (child->parent_cpool_idx == index)
            return child->func_type == JS_PARSE_FUNC_ARROW && child->func_kind == JS_FUNC_ASYNC;
    }
    return 0;
}

/* Whether the program itself says `return` in what was emitted before `end`. */
static int has_return(JSFunctionDef *fd, size_t end)
{
    const uint8_t *code = fd->byte_code.buf;
    size_t at;

    for (at = 0; at < end; at += opcode_info[code[at]].size)
        if (code[at] == OP_return_async)
            return 1;
    return 0;
}

static int skip_semicolons(JSParseState *s)
{
    while (s->token.val == ';')
        if (next_token(s))
            return -1;
    return 0;
}

/* A function declaration. Standing alone, it is called. */
static int parse_function(JSParseState *s, int is_first)
{
    JSFunctionDef *child = NULL;
    JSAtom name;

    if (js_parse_function_decl2(s, JS_PARSE_FUNC_STATEMENT, JS_FUNC_NORMAL, JS_ATOM_NULL, s->token.ptr,
                                s->token.line_num, s->token.col_num, JS_PARSE_EXPORT_NONE, &child))
        return -1;
    if (skip_semicolons(s))
        return -1;
    if (!is_first || s->token.val != TOK_EOF)
        return 0;
    name = child->func_name;
    emit_op(s, OP_scope_get_var);
    emit_atom(s, name);
    emit_u16(s, s->cur_func->scope_level);
    emit_op(s, OP_call);
    emit_u16(s, 0);
    emit_return(s, true);
    return 0;
}

/* An expression statement. The last one is what the program returns, unless it says `return` itself;
   an async arrow standing alone is called. */
static int parse_expression(JSParseState *s, int is_first)
{
    JSFunctionDef *fd = s->cur_func;
    size_t start = fd->byte_code.size;
    int is_arrow;

    emit_source_loc(s);
    if (js_parse_expr(s))
        return -1;
    is_arrow = is_first && is_async_arrow(fd, start);
    if (js_parse_expect_semi(s) || skip_semicolons(s))
        return -1;
    if (s->token.val != TOK_EOF || has_return(fd, start)) {
        emit_op(s, OP_drop);
        return 0;
    }
    if (is_arrow) {
        emit_op(s, OP_call);
        emit_u16(s, 0);
    }
    emit_return(s, true);
    return 0;
}

#include "import_statement.c"

static int parse_body(JSParseState *s)
{
    JSFunctionDef *fd = s->cur_func;
    BlockEnv using_env;
    int is_first = 1, has_using = 0;

    if (next_token(s) || js_parse_directives(s) || skip_semicolons(s))
        return -1;
    while (s->token.val != TOK_EOF) {
        int failed, expression = 0, was_import = 0;
        if (begins_function(s)) {
            failed = parse_function(s, is_first);
        } else if (begins_import(s)) {
            was_import = 1;
            failed = parse_import(s) || skip_semicolons(s);
        } else if ((expression = begins_expression(s)) < 0) {
            failed = 1;
        } else if (expression) {
            failed = parse_expression(s, is_first);
        } else {
            failed = js_parse_source_element(s) || skip_semicolons(s);
        }
        if (failed)
            return -1;
        is_first = is_first && was_import;
        if (!has_using && fd->scopes[fd->body_scope].has_using) {
            has_using = 1;
            push_break_entry(fd, &using_env, JS_ATOM_NULL, -1, -1, 1);
            using_env.has_using = true;
            using_env.using_scope_level = fd->body_scope;
        }
    }
    /* The end of a function body, as js_parse_function_decl2 writes it. */
    if (has_using)
        pop_break_entry(fd);
    if (js_is_live_code(s)) {
        if (has_using) {
            emit_op(s, OP_drop);
            emit_op(s, OP_using_dispose_init);
            emit_op(s, OP_dispose_scope);
            emit_u16(s, fd->body_scope);
            emit_op(s, OP_using_dispose_end);
        }
        emit_return(s, false);
    }
    if (has_using) {
        emit_label(s, fd->scopes[fd->body_scope].using_label_catch);
        emit_op(s, OP_dispose_scope);
        emit_u16(s, fd->body_scope);
        emit_op(s, OP_throw);
        emit_label(s, fd->scopes[fd->body_scope].using_label_end);
    }
    return 0;
}

/* The program as an async function without parameters, or an exception. `text[length]` must be 0. */
JSValue program_compile(JSContext *ctx, const char *text, size_t length, const char *name, int first_line)
{
    JSParseState state, *s = &state;
    JSFunctionDef *fd;
    JSValue code;

    js_parse_init(ctx, s, text, length, name, first_line);
    skip_shebang(&s->buf_ptr, s->buf_end);
    fd = js_new_function_def(ctx, NULL, false, false, name, first_line, 1);
    if (!fd)
        return JS_EXCEPTION;
    s->cur_func = fd;
    s->allow_html_comments = true;
    fd->func_kind = JS_FUNC_ASYNC;
    fd->func_type = JS_PARSE_FUNC_STATEMENT;
    fd->has_this_binding = true;
    fd->has_arguments_binding = true;
    fd->arguments_allowed = true;
    fd->new_target_allowed = true;
    fd->has_simple_parameter_list = true;
    fd->in_function_body = true;
    push_scope(s);
    fd->body_scope = fd->scope_level;
    if (parse_body(s)) {
        free_token(s, &s->token);
        js_free_function_def(ctx, fd);
        return JS_EXCEPTION;
    }
    code = js_create_function(ctx, fd);
    if (JS_IsException(code))
        return code;
    return js_closure(ctx, code, NULL, NULL);
}

/* ---- what quickjs.h has as inline functions and macros only ---- */

void value_free(JSContext *ctx, JSValue value)
{
    JS_FreeValue(ctx, value);
}

JSValue value_dup(JSContext *ctx, JSValue value)
{
    return JS_DupValue(ctx, value);
}

/* The kinds that the harness tells apart; see `Kind` in value.rs. */
int value_kind(JSValue value)
{
    switch (JS_VALUE_GET_NORM_TAG(value)) {
    case JS_TAG_EXCEPTION: return 0;
    case JS_TAG_UNDEFINED: return 1;
    case JS_TAG_STRING:
    case JS_TAG_STRING_ROPE: return 2;
    case JS_TAG_SYMBOL: return 3;
    case JS_TAG_BIG_INT:
    case JS_TAG_SHORT_BIG_INT: return 4;
    case JS_TAG_OBJECT: return 5;
    default: return 6;
    }
}

bool value_is_same_object(JSValue one, JSValue other)
{
    return JS_IsObject(one) && JS_IsObject(other) && JS_VALUE_GET_PTR(one) == JS_VALUE_GET_PTR(other);
}

JSValue value_undefined(void)
{
    return JS_UNDEFINED;
}

JSValue value_exception(void)
{
    return JS_EXCEPTION;
}

JSValue value_int(int32_t number)
{
    return JS_MKVAL(JS_TAG_INT, number);
}

/* A small integer from zero on, however it is kept; else -1. */
int32_t value_as_int(JSValue value)
{
    double number;
    if (JS_VALUE_GET_TAG(value) == JS_TAG_INT)
        return JS_VALUE_GET_INT(value);
    if (!JS_TAG_IS_FLOAT64(JS_VALUE_GET_TAG(value)))
        return -1;
    number = JS_VALUE_GET_FLOAT64(value);
    return number >= 0 && number <= INT32_MAX && number == (int32_t)number ? (int32_t)number : -1;
}

JSValue value_float(double number)
{
    return __JS_NewFloat64(number);
}

void throw_type_error(JSContext *ctx, const char *text)
{
    JS_ThrowTypeError(ctx, "%s", text);
}

void throw_range_error(JSContext *ctx, const char *text)
{
    JS_ThrowRangeError(ctx, "%s", text);
}

/* Runs a script of our own, when the image is made. */
JSValue script_run(JSContext *ctx, const char *text, size_t length, const char *name)
{
    return JS_Eval(ctx, text, length, name, JS_EVAL_TYPE_GLOBAL);
}

/* The stack text that QuickJS wrote when the error was made; undefined if it is no error. */
JSValue value_error_stack(JSContext *ctx, JSValue value)
{
    return JS_IsError(value) ? js_error_get_stack(ctx, value) : JS_UNDEFINED;
}

/* An own property that is plain data; undefined if there is none. Runs no code of the program. */
JSValue value_own_data(JSContext *ctx, JSValue object, const char *name)
{
    JSPropertyDescriptor found;
    JSAtom atom = JS_NewAtom(ctx, name);
    JSValue value = JS_UNDEFINED;

    if (!JS_IsProxy(object) && JS_GetOwnProperty(ctx, &found, object, atom) > 0) {
        if (found.flags & JS_PROP_GETSET) {
            JS_FreeValue(ctx, found.getter);
            JS_FreeValue(ctx, found.setter);
        } else {
            value = found.value;
        }
    }
    JS_FreeAtom(ctx, atom);
    return value;
}

/* ---- promises that only the harness settles: no functions for it that nobody else could hold ---- */

JSValue promise_new(JSContext *ctx)
{
    JSPromiseData *data;
    JSValue promise = JS_NewObjectClass(ctx, JS_CLASS_PROMISE);

    if (JS_IsException(promise))
        return promise;
    data = js_mallocz(ctx, sizeof(*data));
    if (!data) {
        JS_FreeValue(ctx, promise);
        return JS_EXCEPTION;
    }
    data->promise_state = JS_PROMISE_PENDING;
    init_list_head(&data->promise_reactions[0]);
    init_list_head(&data->promise_reactions[1]);
    data->promise_result = JS_UNDEFINED;
    JS_SetOpaqueInternal(promise, data);
    return promise;
}

/* Settles it with a value that is no promise itself: an answer is data, a failure an error. */
void promise_settle(JSContext *ctx, JSValueConst promise, JSValueConst value, bool is_reject)
{
    fulfill_or_reject_promise(ctx, promise, value, is_reject);
}

#include "globals.c"
#include "plain_json.c"
#include "seal.c"
