#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
static volatile sig_atomic_t seen;
static void on(int number) { seen = number; }
int main(void) {
    signal(SIGUSR1, on);
    raise(SIGUSR1);
    printf("%d\n", seen == SIGUSR1);
    signal(SIGTERM, SIG_IGN);
    raise(SIGTERM);
    puts("still here");
    fflush(stdout);
    raise(SIGINT);
    return 0;
}
