#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
    char text[] = "a,b,,c", *save = NULL;
    for (char *part = strtok_r(text, ",", &save); part; part = strtok_r(NULL, ",", &save)) printf("[%s]", part);
    char *end;
    long hexadecimal = strtol("0x1fz", &end, 16);
    printf(" %ld %s %.2f %lld\n", hexadecimal, end, atof("2.50x"), strtoll("9007199254740993", NULL, 10));
    char copy[8];
    snprintf(copy, sizeof copy, "%s", "cut off at seven");
    printf("%s %d %d %s\n", copy, memcmp("ab", "ac", 2) < 0, (int)strspn("aabc", "a"), strstr("haystack", "sta"));
    uint64_t big = 1;
    for (int i = 2; i <= 20; i++) big *= (uint64_t)i;
    printf("%llu %.6f\n", (unsigned long long)big, 1e6 / 7);
    int **grid = malloc(3 * sizeof *grid);
    for (int i = 0; i < 3; i++) { grid[i] = calloc(3, sizeof **grid); grid[i][i] = i + 1; }
    for (int i = 0; i < 3; i++) { for (int j = 0; j < 3; j++) printf("%d", grid[i][j]); free(grid[i]); }
    free(grid);
    puts("");
    return 0;
}
