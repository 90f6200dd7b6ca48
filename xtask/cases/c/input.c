/* stdin: the quick brown fox jumps over the lazy dog the end */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
    char word[64];
    int words = 0, the = 0;
    while (scanf("%63s", word) == 1) {
        words++;
        the += !strcmp(word, "the");
        word[0] = (char)toupper((unsigned char)word[0]);
        fputs(word, stdout);
    }
    printf("\n%d %d %d %s\n", words, the, argc, strrchr(argv[0], '/') + 1);
    const char *home = getenv("NO_SUCH_VARIABLE");
    printf("%s\n", home ? home : "(unset)");
    fprintf(stderr, "done\n");
    return words;
}
