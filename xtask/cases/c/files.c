#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void) {
    char name[] = "numbers.txt", line[64];
    FILE *out = fopen(name, "w");
    for (int i = 1; i <= 5; i++) fprintf(out, "%d %d\n", i, i * i);
    fclose(out);
    FILE *in = fopen(name, "r");
    int sum = 0, a, b;
    while (fscanf(in, "%d %d", &a, &b) == 2) sum += b;
    rewind(in);
    fgets(line, sizeof line, in);
    line[strcspn(line, "\n")] = 0;
    fseek(in, 0, SEEK_END);
    printf("%d [%s] %ld\n", sum, line, ftell(in));
    fclose(in);
    struct stat facts;
    int found = stat(name, &facts);
    printf("%d %d\n", found, (int)facts.st_size);
    remove(name);
    if (!fopen(name, "r")) printf("%s\n", strerror(errno));
    mkdir("d", 0755);
    found = access("d", F_OK);
    printf("%d %d\n", found, rmdir("d"));
    return 0;
}
