/* Signals within one process: handlers that raise and abort call. What nobody handles ends the program with
 * the status that a shell shows for it, 128 and the number of the signal. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum { COUNT = 65, WEAKEST = 128 };
#define WEAK __attribute__((weak))

void __SIG_IGN(int number);
void __SIG_ERR(int number);

typedef void (*handler)(int);

static handler handlers[COUNT];

/* What libc's header makes of SIG_IGN and SIG_ERR: addresses to compare with. Its own ones lie in an object with
 * another `raise`, which must not be linked beside this one. */
WEAK void __SIG_IGN(int number) { (void)number; }
WEAK void __SIG_ERR(int number) { (void)number; }

/* Which signals do nothing where nobody handles them. */
static int is_harmless(int number) {
    return number == SIGCHLD || number == SIGURG || number == SIGWINCH || number == SIGCONT;
}

WEAK handler signal(int number, handler next) {
    if (number <= 0 || number >= COUNT || number == SIGKILL || number == SIGSTOP) {
        errno = EINVAL;
        return SIG_ERR;
    }
    handler before = handlers[number];
    handlers[number] = next;
    return before ? before : SIG_DFL;
}

WEAK handler bsd_signal(int number, handler next) { return signal(number, next); }
WEAK handler __sysv_signal(int number, handler next) { return signal(number, next); }

WEAK int raise(int number) {
    if (number < 0 || number >= COUNT) {
        errno = EINVAL;
        return -1;
    }
    handler here = handlers[number];
    if (number == 0 || here == SIG_IGN)
        return 0;
    if (here && here != SIG_DFL) {
        here(number);
        return 0;
    }
    if (!is_harmless(number))
        _Exit(WEAKEST + number);
    return 0;
}

WEAK _Noreturn void abort(void) {
    raise(SIGABRT);
    _Exit(WEAKEST + SIGABRT);
}

/* What clang calls where a check fails that -O0 asked for (see jobs.rs): the signals that a processor with
 * memory protection would have sent. */
void __ubsan_handle_type_mismatch_minimal_abort(void) {
    raise(SIGSEGV);
    _Exit(WEAKEST + SIGSEGV);
}

void __ubsan_handle_divrem_overflow_minimal_abort(void) {
    raise(SIGFPE);
    _Exit(WEAKEST + SIGFPE);
}
