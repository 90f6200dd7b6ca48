/* Where a module comes from: the harness finds its path and reads its text, QuickJS does the rest.
 *
 * Part of engine.c.
 */

#define IMPORT_REFUSED "import is not available here"

/* QuickJS resolves what a module imports while it loads the module: each level takes stack. */
#define IMPORT_DEPTH_MAX 48

static bool imports_are_allowed;

void engine_allow_imports(bool allowed)
{
    imports_are_allowed = allowed;
}

/* The harness's: the path as a string, and the text of a file; or an exception. */
#ifdef __wasm__
JSValue import_path(JSContext *ctx, const char *base, const char *specifier);
JSValue import_read(JSContext *ctx, const char *path);
#else
static JSValue import_path(JSContext *ctx, const char *base, const char *specifier)
{
    return JS_NewString(ctx, specifier);
}

static JSValue import_read(JSContext *ctx, const char *path)
{
    return JS_ThrowTypeError(ctx, "there is no host");
}
#endif

static void import_throw_no_export(JSContext *ctx, JSAtom name)
{
    char text[ATOM_GET_STR_BUF_SIZE];
    JS_ThrowSyntaxError(ctx, "the module has no export '%s'", JS_AtomGetStr(ctx, text, sizeof(text), name));
}

static char *import_resolve(JSContext *ctx, const char *base, const char *specifier)
{
    JSValue path;
    const char *text;
    char *own;

    if (!imports_are_allowed) {
        JS_ThrowTypeError(ctx, IMPORT_REFUSED);
        return NULL;
    }
    path = import_path(ctx, base, specifier);
    if (JS_IsException(path))
        return NULL;
    text = JS_ToCString(ctx, path);
    JS_FreeValue(ctx, path);
    if (!text)
        return NULL;
    own = js_strdup(ctx, text);
    JS_FreeCString(ctx, text);
    return own;
}

static int json_module_init(JSContext *ctx, JSModuleDef *m)
{
    return JS_SetModuleExport(ctx, m, "default", JS_GetModulePrivateValue(ctx, m));
}

static JSModuleDef *json_module(JSContext *ctx, const char *name, const char *text, size_t length)
{
    JSModuleDef *m;
    JSValue value = JS_ParseJSON(ctx, text, length, name);

    if (JS_IsException(value))
        return NULL;
    m = JS_NewCModule(ctx, name, json_module_init);
    if (!m) {
        JS_FreeValue(ctx, value);
        return NULL;
    }
    JS_AddModuleExport(ctx, m, "default");
    JS_SetModulePrivateValue(ctx, m, value);
    return m;
}

/* Whether the attributes say JSON; -1 with an exception if they say something else. */
static int wants_json(JSContext *ctx, const char *name, JSValueConst attributes)
{
    size_t length = strlen(name);
    int is_json_file = length > 5 && !strcmp(name + length - 5, ".json");
    JSPropertyEnum *names;
    uint32_t count;
    JSValue type;
    const char *text;
    int wanted;

    if (!JS_IsObject(attributes)) {
        if (!is_json_file)
            return 0;
        JS_ThrowTypeError(ctx, "a JSON file is imported with {type: 'json'}");
        return -1;
    }
    if (JS_GetOwnPropertyNames(ctx, &names, &count, attributes, JS_GPN_STRING_MASK))
        return -1;
    JS_FreePropertyEnum(ctx, names, count);
    type = value_own_data(ctx, attributes, "type");
    text = JS_IsString(type) ? JS_ToCString(ctx, type) : NULL;
    wanted = count == 1 && text && !strcmp(text, "json");
    JS_FreeCString(ctx, text);
    JS_FreeValue(ctx, type);
    if (count > 0 && !wanted) {
        JS_ThrowTypeError(ctx, "the only import attribute is {type: 'json'}");
        return -1;
    }
    return wanted;
}

static JSModuleDef *import_load(JSContext *ctx, const char *name, JSValueConst attributes)
{
    static int depth;
    JSModuleDef *m = NULL;
    JSValue text, module;
    const char *bytes;
    size_t length;
    int json = wants_json(ctx, name, attributes);

    if (json < 0)
        return NULL;
    if (depth >= IMPORT_DEPTH_MAX) {
        JS_ThrowRangeError(ctx, "modules import each other %d levels deep; that is the limit", depth);
        return NULL;
    }
    text = import_read(ctx, name);
    if (JS_IsException(text))
        return NULL;
    bytes = JS_ToCStringLen(ctx, &length, text);
    JS_FreeValue(ctx, text);
    if (!bytes)
        return NULL;
    if (json) {
        m = json_module(ctx, name, bytes, length);
    } else {
        depth++;
        module = JS_Eval(ctx, bytes, length, name, JS_EVAL_TYPE_MODULE | JS_EVAL_FLAG_COMPILE_ONLY);
        depth--;
        if (!JS_IsException(module)) {
            m = JS_VALUE_GET_PTR(module);
            JS_FreeValue(ctx, module);
        }
    }
    JS_FreeCString(ctx, bytes);
    return m;
}
