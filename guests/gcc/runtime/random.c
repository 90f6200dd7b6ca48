/* rand and random with the numbers that glibc gives for a seed: an additive feedback generator over 31
 * words, x[i] = x[i-3] + x[i-31], started by the minimal standard generator. */
#include <stdint.h>
#include <stdlib.h>

enum { WORDS = 31, APART = 3, DISCARDED = 310 };
#define WEAK __attribute__((weak))

static uint32_t words[WORDS];
static int next;
static int seeded;

static uint32_t step(void) {
    uint32_t value = words[next] += words[(next + WORDS - APART) % WORDS];
    next = (next + 1) % WORDS;
    return value >> 1;
}

WEAK void srandom(unsigned seed) {
    int64_t value = seed ? (int32_t)seed : 1;
    for (int i = 0; i < WORDS; i++) {
        words[i] = (uint32_t)value;
        value = value * 16807 % 2147483647;
        if (value < 0)
            value += 2147483647;
    }
    next = APART;
    seeded = 1;
    for (int i = 0; i < DISCARDED; i++)
        (void)step();
}

WEAK long random(void) {
    if (!seeded)
        srandom(1);
    return (long)step();
}

WEAK void srand(unsigned seed) { srandom(seed); }

WEAK int rand(void) { return (int)random(); }
