#include <assert.h>
#include <stdio.h>
int main(void) {
    setvbuf(stdout, NULL, _IONBF, 0);
    puts("before");
    int two = 2;
    assert(two + two == 5);
    puts("after");
}
