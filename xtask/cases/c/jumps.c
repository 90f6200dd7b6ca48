#include <setjmp.h>
#include <stdio.h>
static jmp_buf back;
static void deep(int n) { if (n == 0) longjmp(back, 7); deep(n - 1); }
int main(void) {
    int how = setjmp(back);
    if (how == 0) { puts("going"); deep(100); }
    printf("back with %d\n", how);
    return how;
}
