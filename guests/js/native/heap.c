/* QuickJS's memory: libc's, and what cannot be had is remembered, whatever the program does with the error.
 *
 * Part of engine.c, before quickjs.c, which build.rs makes call these directly.
 */
#include <malloc.h>

/* How much QuickJS takes at a time for blocks of one small size. */
static size_t arena_bytes = 4096;

static int memory_ran_out;

static inline void *noted(void *block)
{
    if (!block)
        memory_ran_out = 1;
    return block;
}

static void *heap_calloc(void *opaque, size_t count, size_t size)
{
    return noted(calloc(count, size));
}

static void *heap_malloc(void *opaque, size_t size)
{
    return noted(malloc(size));
}

static void heap_free(void *opaque, void *block)
{
    free(block);
}

static void *heap_realloc(void *opaque, void *block, size_t size)
{
    return noted(realloc(block, size));
}

static size_t heap_usable_size(const void *block)
{
    return malloc_usable_size((void *)block);
}
