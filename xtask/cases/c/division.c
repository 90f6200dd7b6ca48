#include <stdio.h>
int main(int argc, char **argv) {
    (void)argv;
    puts("about to"); fflush(stdout);
    return 10 / (argc - 1);
}
