/* Before main: relative paths start in $PWD. WASI has no working directory of its own, and whoever starts
 * a program says in this variable where it is. Linked into every program (-u drydock_start). */
#include <stdlib.h>
#include <unistd.h>

void drydock_start(void);

__attribute__((constructor(101))) void drydock_start(void) {
    const char *place = getenv("PWD");
    if (place && place[0] == '/')
        (void)chdir(place);
}
