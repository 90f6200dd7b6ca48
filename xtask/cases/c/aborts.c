#include <stdio.h>
#include <stdlib.h>
int main(void) { puts("lost or not"); fflush(stdout); abort(); }
