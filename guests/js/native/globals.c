/* Two tables of the global object's properties, made with the image: a run takes one of them, for two pointers.
 *
 * Deleting from one table what the other has, at each run, would write to a dozen pages.
 *
 * Part of engine.c.
 */

static JSShape *other_shape;
static JSProperty *other_properties;
static bool other_is_in_use;

static void dup_property(JSContext *ctx, JSProperty *property, int flags)
{
    switch (flags & JS_PROP_TMASK) {
    case JS_PROP_GETSET:
        if (property->u.getset.getter)
            js_dup(JS_MKPTR(JS_TAG_OBJECT, property->u.getset.getter));
        if (property->u.getset.setter)
            js_dup(JS_MKPTR(JS_TAG_OBJECT, property->u.getset.setter));
        break;
    case JS_PROP_VARREF:
        JS_REF_COUNT(property->u.var_ref)++;
        break;
    case JS_PROP_AUTOINIT:
        JS_DupContext(js_autoinit_get_realm(property));
        break;
    default:
        js_dup(property->u.value);
    }
}

/* Makes the other table, a copy of the one in use. False when there is no memory for it. */
bool globals_copy(JSContext *ctx)
{
    JSObject *global = JS_VALUE_GET_OBJ(ctx->global_obj);
    JSShape *shape = js_clone_shape(ctx, global->shape);
    JSProperty *properties = shape ? js_malloc(ctx, sizeof(*properties) * shape->prop_size) : NULL;
    JSShapeProperty *names;
    int at;

    if (!properties)
        return false;
    memcpy(properties, global->prop, sizeof(*properties) * shape->prop_count);
    names = get_shape_prop(shape);
    for (at = 0; at < shape->prop_count; at++)
        if (names[at].atom != JS_ATOM_NULL)
            dup_property(ctx, &properties[at], names[at].flags);
    other_shape = shape;
    other_properties = properties;
    return true;
}

/* Takes the other table from here on, or the first again. What the one out of use holds is never freed. */
void globals_use(JSContext *ctx, bool other)
{
    JSObject *global = JS_VALUE_GET_OBJ(ctx->global_obj);
    JSShape *shape = global->shape;
    JSProperty *properties = global->prop;

    if (other == other_is_in_use || !other_shape)
        return;
    global->shape = other_shape;
    global->prop = other_properties;
    other_shape = shape;
    other_properties = properties;
    other_is_in_use = other;
}
