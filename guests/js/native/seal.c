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

/* Takes what free blocks there are of each size. They are never used. */
static void fill_arenas(JSRuntime *rt)
{
    int index;

    for (index = 0; index < JS_ARENA_BLOCK_SIZE_COUNT; index++)
        while (!list_empty(&rt->arena_state.free_arena_list[index]))
            js_arena_malloc(rt, arena_block_sizes[index] - sizeof(JSMallocBlockHeader));
}

/* Takes whatever libc would give before it gives what lies behind everything. */
static void fill_heap(void)
{
    char *end = malloc(BEYOND_GAPS_BYTES), *block;
    size_t size;

    free(end);
    for (size = BEYOND_GAPS_BYTES / 2; size >= 8; size -= 8) {
        while ((block = malloc(size)) && block < end)
            ;
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

void engine_seal(JSContext *ctx)
{
    fill_arenas(ctx->rt);
    fill_heap();
    make_nursery(ctx->rt);
}
