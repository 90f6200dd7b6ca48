#include <stdio.h>
#include <stdlib.h>
int main(void) {
    for (int i = 0; i < 5; i++) printf("%d ", rand());
    srand(42);
    for (int i = 0; i < 5; i++) printf("%d ", rand() % 100);
    srandom(7);
    printf("%d %d\n", (int)random(), RAND_MAX);
}
