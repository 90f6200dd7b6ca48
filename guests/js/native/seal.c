/* The image is complete: what a program makes lies side by side from here on, not in the gaps of the image.
 *
 * Every page that a run writes to is put right again after it, and looked for before that. A small program
 * needs a handful of pages if its values lie together, and three times as many if they fill the gaps that
 * making the image has left all over it.
 *
 * Part of engine.c.
 */

/* Room for the first blocks of each small size. */
#define NURSERY_BYTES 640
#define NURSERY_BLOCKS_MIN 3

/* More than any gap, and less than what is left. */
#define BEYOND_GAPS_BYTES (128 * 1024)

/* How many times the image's shapes the table of shapes has room for. QuickJS doubles it when it is half full,
   and then writes to every shape there is. */
#define SHAPES_ROOM 8

/* Drops the texts of the functions there are: all are ours, and `toString` calls them native code then, as it
   does those of C. The texts of functions within functions would be there twice. */
static void drop_texts(JSRuntime *rt)
{
    struct list_head *at;

    list_for_each(at, &rt->gc_obj_list) {
        JSGCObjectHeader *header = list_entry(at, JSGCObjectHeader, link);
        if (JS_GC_TYPE(header) == JS_GC_OBJ_TYPE_FUNCTION_BYTECODE) {
            JSFunctionBytecode *code = (JSFunctionBytecode *)header;
            js_free_rt(rt, code->source);
            code->source = NULL;
            code->source_len = 0;
        }
    }
}

/* Takes what free blocks there are of each size. They are never used, and zeros take no place in the module. */
static void fill_arenas(JSRuntime *rt)
{
    int index;

    for (index = 0; index < JS_ARENA_BLOCK_SIZE_COUNT; index++) {
        size_t bytes = arena_block_sizes[index] - sizeof(JSMallocBlockHeader);
        while (!list_empty(&rt->arena_state.free_arena_list[index]))
            memset(js_arena_malloc(rt, bytes), 0, bytes);
    }
}

/* Takes whatever libc would give before it gives what lies behind everything. */
static void fill_heap(void)
{
    char *end = malloc(BEYOND_GAPS_BYTES), *block;
    size_t size;

    free(end);
    for (size = BEYOND_GAPS_BYTES / 2; size >= 8; size -= 8) {
        while ((block = malloc(size)) && block < end)
            memset(block, 0, size);
        free(block);
    }
}

/* A few blocks of each size, one of them taken: QuickJS gives back what is empty, and would have to ask again. */
static void make_nursery(JSRuntime *rt)
{
    size_t usual_bytes = arena_bytes;
    int index;

    for (index = 0; index < JS_ARENA_BLOCK_SIZE_COUNT; index++) {
        size_t block_bytes = arena_block_sizes[index];
        size_t bytes = NURSERY_BLOCKS_MIN * block_bytes;
        arena_bytes = sizeof(JSArena) + (bytes > NURSERY_BYTES ? bytes : NURSERY_BYTES);
        js_arena_malloc(rt, block_bytes - sizeof(JSMallocBlockHeader));
    }
    arena_bytes = usual_bytes;
}

/* Moves the table of shapes behind the image, where the first shapes of a program write to it. */
static void move_shape_table(JSRuntime *rt)
{
    size_t bytes = sizeof(*rt->shape_hash) << rt->shape_hash_bits;
    JSShape **moved = js_malloc_rt(rt, bytes);

    if (!moved)
        return;
    memcpy(moved, rt->shape_hash, bytes);
    memset(rt->shape_hash, 0, bytes);
    rt->shape_hash = moved;
}

void engine_seal(JSContext *ctx)
{
    JSRuntime *rt = ctx->rt;

    while (rt->shape_hash_size < SHAPES_ROOM * rt->shape_hash_count)
        if (resize_shape_hash(rt, rt->shape_hash_bits + 1))
            break;
    drop_texts(rt);
    fill_arenas(rt);
    fill_heap();
    make_nursery(rt);
    move_shape_table(rt);
    /* Never freed: the list of objects ends behind the image too, and goes on there. */
    JS_NewObject(ctx);
}
