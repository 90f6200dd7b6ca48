#include <stdio.h>
static int deeper(int n) { volatile char room[1024]; room[0] = (char)n; return deeper(n + 1) + room[0]; }
int main(void) { puts("down"); fflush(stdout); return deeper(0); }
