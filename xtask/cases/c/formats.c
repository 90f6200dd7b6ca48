#include <stdio.h>
#include <math.h>
#include <inttypes.h>
int main(void) {
    printf("%5d|%-5d|%05d|%+d|%x|%#o|%c|%%\n", 42, 42, 42, 42, 255, 8, 'z');
    printf("%8.3f|%e|%g|%g|%a\n", 3.14159, 12345.678, 0.0001, 1e20, 1.0);
    printf("%.10s|%10.3s|%s\n", "truncated here", "abcdef", "plain");
    printf("%Lf %.3Le\n", 1.5L, 12345.0L);
    printf("%lld %" PRIu64 " %zu %hhd\n", -9000000000LL, UINT64_MAX, sizeof(int), 300);
    printf("%.15g %.17g %g %g\n", sqrt(2), 0.1, INFINITY, -NAN);
    return 0;
}
