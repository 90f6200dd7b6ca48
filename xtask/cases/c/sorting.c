/* Equal keys keep their order, as glibc's qsort keeps them. */
#include <stdio.h>
#include <stdlib.h>
struct row { int key; char name; };
static int by_key(const void *a, const void *b) { return ((const struct row *)a)->key - ((const struct row *)b)->key; }
int main(void) {
    struct row rows[26];
    for (int i = 0; i < 26; i++) rows[i] = (struct row){(i * 7) % 5, (char)('a' + i)};
    qsort(rows, 26, sizeof rows[0], by_key);
    for (int i = 0; i < 26; i++) printf("%d%c ", rows[i].key, rows[i].name);
    puts("");
    int want = 3, all[] = {1, 2, 3, 4};
    printf("%d\n", bsearch(&want, all, 4, sizeof(int), by_key) != NULL);
}
