#include <stdlib.h>
static void last(void) { extern int puts(const char *); puts("at exit"); }
int main(void) { atexit(last); exit(300); }
