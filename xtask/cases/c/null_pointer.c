#include <stdio.h>
struct node { int value; struct node *next; };
int main(void) {
    struct node *none = NULL;
    puts("about to"); fflush(stdout);
    printf("%d\n", none->next->value);
    return 0;
}
