/* qsort that keeps equal elements in their order, as glibc's does: a merge sort with room of its own. */
#include <stdlib.h>
#include <string.h>

#define WEAK __attribute__((weak))

typedef int (*compare_with)(const void *, const void *, void *);

struct order {
    size_t width;
    compare_with compare;
    void *context;
};

static void merge_sort(char *base, size_t count, char *room, const struct order *order) {
    if (count <= 1)
        return;
    size_t left = count / 2, right = count - left, width = order->width;
    char *a = base, *b = base + left * width, *out = room;
    merge_sort(a, left, room, order);
    merge_sort(b, right, room, order);
    while (left > 0 && right > 0) {
        if (order->compare(a, b, order->context) <= 0) {
            memcpy(out, a, width);
            a += width;
            left--;
        } else {
            memcpy(out, b, width);
            b += width;
            right--;
        }
        out += width;
    }
    if (left > 0)
        memcpy(out, a, left * width);
    memcpy(base, room, (count - right) * width);
}

/* Without room: slower, and still in place and stable. */
static void insertion_sort(char *base, size_t count, const struct order *order) {
    size_t width = order->width;
    for (size_t i = 1; i < count; i++)
        for (char *at = base + i * width; at > base && order->compare(at - width, at, order->context) > 0; at -= width)
            for (size_t byte = 0; byte < width; byte++) {
                char kept = at[byte];
                at[byte] = at[byte - width];
                at[byte - width] = kept;
            }
}

WEAK void qsort_r(void *base, size_t count, size_t width, compare_with compare, void *context) {
    struct order order = {width, compare, context};
    if (count < 2 || width == 0)
        return;
    char *room = count <= (size_t)-1 / width ? malloc(count * width) : NULL;
    if (!room) {
        insertion_sort(base, count, &order);
        return;
    }
    merge_sort(base, count, room, &order);
    free(room);
}

static int call_plain(const void *a, const void *b, void *plain) {
    return (*(int (**)(const void *, const void *))plain)(a, b);
}

WEAK void qsort(void *base, size_t count, size_t width, int (*compare)(const void *, const void *)) {
    qsort_r(base, count, width, call_plain, &compare);
}
