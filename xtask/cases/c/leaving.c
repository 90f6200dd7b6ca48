#include <stdlib.h>
#include <stdio.h>
void a(){puts("a");}void b(){puts("b");}int main(){atexit(a);atexit(b);printf("no newline");exit(300);}
