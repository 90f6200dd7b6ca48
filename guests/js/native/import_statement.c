/* `import` at the top of a program: the same as `const {name: local} = await import(specifier)` in its place,
 * but for names that the module does not have, which are an error. Nothing is rewritten, so lines and columns
 * stay. Modules that are imported are modules of QuickJS's own, with bindings that live and cycles.
 *
 * Part of engine.c.
 */

typedef struct {
    JSAtom name;
    JSAtom local;
} ImportBinding;

typedef struct {
    ImportBinding *bindings;
    int count;
} ImportList;

static int begins_import(JSParseState *s)
{
    int next;

    if (s->token.val != TOK_IMPORT)
        return 0;
    next = peek_token(s, false);
    return next != '(' && next != '.';
}

/* Adds a binding of the current token's name. Takes `name`. */
static int import_bind(JSParseState *s, ImportList *list, JSAtom name, JSAtom local)
{
    ImportBinding *grown =
        js_realloc(s->ctx, list->bindings, (list->count + 1) * sizeof(*list->bindings));

    if (!grown) {
        JS_FreeAtom(s->ctx, name);
        return -1;
    }
    list->bindings = grown;
    list->bindings[list->count].name = name;
    list->bindings[list->count].local = JS_DupAtom(s->ctx, local);
    list->count++;
    return js_define_var(s, local, TOK_CONST);
}

/* The identifier that the current token must be, bound to the export `name`, which is taken. */
static int import_bind_token(JSParseState *s, ImportList *list, JSAtom name)
{
    if (s->token.val != TOK_IDENT || s->token.u.ident.is_reserved) {
        JS_FreeAtom(s->ctx, name);
        return js_parse_error(s, "identifier expected");
    }
    if (import_bind(s, list, name, s->token.u.ident.atom))
        return -1;
    return next_token(s);
}

static int parse_import_names(JSParseState *s, ImportList *list)
{
    while (s->token.val != '}') {
        JSAtom name;
        int is_string = s->token.val == TOK_STRING;
        int is_plain = s->token.val == TOK_IDENT && !s->token.u.ident.is_reserved;

        if (!is_string && !token_is_ident(s->token.val))
            return js_parse_error(s, "identifier or string expected");
        name = is_string ? JS_ValueToAtom(s->ctx, s->token.u.str.str)
                         : JS_DupAtom(s->ctx, s->token.u.ident.atom);
        if (name == JS_ATOM_NULL)
            return -1;
        if (next_token(s)) {
            JS_FreeAtom(s->ctx, name);
            return -1;
        }
        if (token_is_pseudo_keyword(s, JS_ATOM_as)) {
            if (next_token(s)) {
                JS_FreeAtom(s->ctx, name);
                return -1;
            }
            if (import_bind_token(s, list, name))
                return -1;
        } else if (is_plain) {
            if (import_bind(s, list, name, name))
                return -1;
        } else {
            JS_FreeAtom(s->ctx, name);
            return js_parse_error(s, "expecting 'as'");
        }
        if (s->token.val != ',')
            break;
        if (next_token(s))
            return -1;
    }
    return js_parse_expect(s, '}');
}

static int parse_import_clause(JSParseState *s, ImportList *list)
{
    if (s->token.val == TOK_IDENT) {
        if (import_bind_token(s, list, JS_ATOM_default))
            return -1;
        if (s->token.val != ',')
            return 0;
        if (next_token(s))
            return -1;
    }
    if (s->token.val == '{')
        return next_token(s) || parse_import_names(s, list) ? -1 : 0;
    if (s->token.val != '*')
        return js_parse_error(s, "names to import expected");
    if (next_token(s))
        return -1;
    if (!token_is_pseudo_keyword(s, JS_ATOM_as))
        return js_parse_error(s, "expecting 'as'");
    return next_token(s) || import_bind_token(s, list, JS_ATOM__star_) ? -1 : 0;
}

/* Pushes the specifier and the options, `{with: {type: …}}` or undefined. */
static int emit_import_request(JSParseState *s)
{
    JSValue attributes = JS_UNDEFINED, type;
    JSAtom type_name;
    int failed;

    if (s->token.val != TOK_STRING)
        return js_parse_error(s, "string expected");
    if (emit_push_const(s, s->token.u.str.str, 1) || next_token(s))
        return -1;
    if (js_parse_with_clause(s, &attributes)) {
        JS_FreeValue(s->ctx, attributes);
        return -1;
    }
    if (JS_IsUndefined(attributes)) {
        emit_op(s, OP_undefined);
        return 0;
    }
    type = value_own_data(s->ctx, attributes, "type");
    JS_FreeValue(s->ctx, attributes);
    emit_op(s, OP_object);
    emit_op(s, OP_object);
    failed = emit_push_const(s, type, 1);
    JS_FreeValue(s->ctx, type);
    if (failed)
        return -1;
    type_name = JS_NewAtom(s->ctx, "type");
    if (type_name == JS_ATOM_NULL)
        return -1;
    emit_op(s, OP_define_field);
    emit_atom(s, type_name);
    JS_FreeAtom(s->ctx, type_name);
    emit_op(s, OP_define_field);
    emit_atom(s, JS_ATOM_with);
    return 0;
}

/* Takes what is wanted out of the module's namespace, which is on the stack. */
static void emit_import_bindings(JSParseState *s, const ImportList *list)
{
    int at, label;

    for (at = 0; at < list->count; at++) {
        const ImportBinding *it = &list->bindings[at];
        emit_op(s, OP_dup);
        if (it->name != JS_ATOM__star_) {
            emit_op(s, OP_push_atom_value);
            emit_atom(s, it->name);
            emit_op(s, OP_swap);
            emit_op(s, OP_in);
            label = emit_goto(s, OP_if_true, -1);
            emit_op(s, OP_throw_error);
            emit_atom(s, it->name);
            emit_u8(s, THROW_NO_EXPORT);
            emit_label(s, label);
            emit_op(s, OP_dup);
            emit_op(s, OP_get_field);
            emit_atom(s, it->name);
        }
        emit_op(s, OP_scope_put_var_init);
        emit_atom(s, it->local);
        emit_u16(s, s->cur_func->scope_level);
    }
    emit_op(s, OP_drop);
}

static int parse_import(JSParseState *s)
{
    ImportList list = { NULL, 0 };
    int failed, at;

    if (!imports_are_allowed)
        return js_parse_error(s, "%s", IMPORT_REFUSED);
    emit_source_loc(s);
    failed = next_token(s);
    if (!failed && s->token.val != TOK_STRING) {
        failed = parse_import_clause(s, &list);
        if (!failed && !token_is_pseudo_keyword(s, JS_ATOM_from))
            failed = js_parse_error(s, "from clause expected");
        failed = failed || next_token(s);
    }
    if (!failed && !emit_import_request(s)) {
        emit_op(s, OP_import);
        emit_op(s, OP_await);
        emit_import_bindings(s, &list);
        failed = js_parse_expect_semi(s);
    } else {
        failed = -1;
    }
    for (at = 0; at < list.count; at++) {
        JS_FreeAtom(s->ctx, list.bindings[at].name);
        JS_FreeAtom(s->ctx, list.bindings[at].local);
    }
    js_free(s->ctx, list.bindings);
    return failed;
}
