/* Before main: relative paths start in $PWD. WASI has no working directory of its own, and whoever starts
 * a program says in this variable where it is. Linked into every program (-u drydock_start). */
#include <stdlib.h>
#include <unistd.h>

void drydock_start(void);

/* By its export the host knows that the program does this, and opens no second directory for it. */
__attribute__((export_name("drydock_starts_in_pwd"))) void drydock_starts_in_pwd(void) {}

__attribute__((constructor(101))) void drydock_start(void) {
    const char *place = getenv("PWD");
    if (place && place[0] == '/')
        (void)chdir(place);
}
