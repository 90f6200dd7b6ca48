/* JSON of plain data, without what JSON.stringify needs for everything else: no holder, no list of parents, no
 * array of keys. Plain are small numbers, ASCII text, and objects and arrays of plain values that inherit
 * no `toJSON`. Whatever is not plain is left to QuickJS, and no code of the program runs here.
 *
 * Part of engine.c.
 */

#define PLAIN_LEVELS_MAX 16

typedef struct {
    JSContext *ctx;
    uint8_t *at;
    uint8_t *end;
} PlainOut;

static int plain_put(PlainOut *out, const void *bytes, size_t count)
{
    if ((size_t)(out->end - out->at) < count)
        return -1;
    memcpy(out->at, bytes, count);
    out->at += count;
    return 0;
}

static int plain_number(PlainOut *out, int64_t number)
{
    uint8_t digits[24];
    int at = sizeof(digits);
    uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;

    do {
        digits[--at] = '0' + rest % 10;
        rest /= 10;
    } while (rest);
    if (number < 0)
        digits[--at] = '-';
    return plain_put(out, digits + at, sizeof(digits) - at);
}

static int plain_text(PlainOut *out, JSString *text)
{
    const uint8_t *signs;
    uint32_t at;

    if (text->is_wide_char || (size_t)(out->end - out->at) < (size_t)text->len + 2)
        return -1;
    signs = str8(text);
    *out->at++ = '"';
    for (at = 0; at < text->len; at++) {
        if (signs[at] < 0x20 || signs[at] >= 0x7f || signs[at] == '"' || signs[at] == '\\')
            return -1;
        *out->at++ = signs[at];
    }
    *out->at++ = '"';
    return 0;
}

/* A name that keeps its place: numbers would come first, whenever they were added. */
static int plain_name(PlainOut *out, JSAtom atom)
{
    JSAtomStruct *name;

    if (__JS_AtomIsTaggedInt(atom) || atom == JS_ATOM_toJSON)
        return -1;
    name = out->ctx->rt->atom_array[atom];
    if (name->atom_type != JS_ATOM_TYPE_STRING || name->is_wide_char
        || (name->len && str8(name)[0] >= '0' && str8(name)[0] <= '9'))
        return -1;
    return plain_text(out, name);
}

/* Whether objects with this prototype inherit no `toJSON`: it is the language's own, as are all above it. */
static int plain_prototype(JSContext *ctx, JSObject *proto, JSClassID class_id)
{
    JSProperty *found;
    JSObject *object_proto = JS_VALUE_GET_OBJ(ctx->class_proto[JS_CLASS_OBJECT]);

    if (proto != JS_VALUE_GET_OBJ(ctx->class_proto[class_id]) || find_own_property(&found, proto, JS_ATOM_toJSON))
        return 0;
    return proto == object_proto
        || (proto->shape->proto == object_proto && !find_own_property(&found, object_proto, JS_ATOM_toJSON));
}

static int plain_value(PlainOut *out, JSValueConst value, int levels);

static int plain_array(PlainOut *out, JSObject *array, int levels)
{
    uint32_t at;

    /* The one property is its length. */
    if (!array->fast_array || array->shape->prop_count != 1
        || !plain_prototype(out->ctx, array->shape->proto, JS_CLASS_ARRAY) || plain_put(out, "[", 1))
        return -1;
    if (JS_VALUE_GET_TAG(array->prop[0].u.value) != JS_TAG_INT
        || JS_VALUE_GET_INT(array->prop[0].u.value) != (int32_t)array->u.array.count)
        return -1;
    for (at = 0; at < array->u.array.count; at++)
        if ((at && plain_put(out, ",", 1)) || plain_value(out, array->u.array.u.values[at], levels))
            return -1;
    return plain_put(out, "]", 1);
}

static int plain_object(PlainOut *out, JSObject *object, int levels)
{
    JSShape *shape = object->shape;
    JSShapeProperty *property = get_shape_prop(shape);
    int at, any = 0;

    if (object->is_exotic || !shape->proto || !plain_prototype(out->ctx, shape->proto, JS_CLASS_OBJECT)
        || plain_put(out, "{", 1))
        return -1;
    for (at = 0; at < shape->prop_count; at++, property++) {
        JSValue value = object->prop[at].u.value;
        if (property->atom == JS_ATOM_NULL)
            continue;
        if ((property->flags & (JS_PROP_TMASK | JS_PROP_ENUMERABLE)) != JS_PROP_ENUMERABLE)
            return -1;
        if (JS_IsUndefined(value))
            continue;
        if ((any && plain_put(out, ",", 1)) || plain_name(out, property->atom) || plain_put(out, ":", 1)
            || plain_value(out, value, levels))
            return -1;
        any = 1;
    }
    return plain_put(out, "}", 1);
}

static int plain_value(PlainOut *out, JSValueConst value, int levels)
{
    double number;

    switch (JS_VALUE_GET_NORM_TAG(value)) {
    case JS_TAG_INT:
        return plain_number(out, JS_VALUE_GET_INT(value));
    case JS_TAG_BOOL:
        return JS_VALUE_GET_BOOL(value) ? plain_put(out, "true", 4) : plain_put(out, "false", 5);
    case JS_TAG_NULL:
        return plain_put(out, "null", 4);
    case JS_TAG_STRING:
        return plain_text(out, JS_VALUE_GET_STRING(value));
    case JS_TAG_FLOAT64:
        number = JS_VALUE_GET_FLOAT64(value);
        if (!(number >= -9007199254740991.0 && number <= 9007199254740991.0) || number != (double)(int64_t)number)
            return -1;
        return plain_number(out, (int64_t)number);
    case JS_TAG_OBJECT:
        /* A ring is deeper than any plain value. */
        if (levels == 0)
            return -1;
        switch (JS_VALUE_GET_OBJ(value)->class_id) {
        case JS_CLASS_OBJECT:
            return plain_object(out, JS_VALUE_GET_OBJ(value), levels - 1);
        case JS_CLASS_ARRAY:
            return plain_array(out, JS_VALUE_GET_OBJ(value), levels - 1);
        default:
            return -1;
        }
    default:
        return -1;
    }
}

/* The bytes written, or -1 if the value is not plain or there is too little room. */
int value_plain_json(JSContext *ctx, JSValueConst value, uint8_t *room, size_t count)
{
    PlainOut out = { ctx, room, room + count };

    return plain_value(&out, value, PLAIN_LEVELS_MAX) ? -1 : (int)(out.at - room);
}
