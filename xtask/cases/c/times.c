#include <time.h>
#include <stdio.h>
#include <string.h>
int main(){time_t t=86400*365+3661; struct tm*g=gmtime(&t); char b[99]; strftime(b,99,"%Y-%m-%d %H:%M:%S %a %b %j %U %p",g); puts(b); struct tm x={0}; x.tm_year=124;x.tm_mon=1;x.tm_mday=30; time_t m=mktime(&x); printf("%d %d %lld\n",x.tm_mon,x.tm_mday,(long long)m); printf("%s",asctime(g)); printf("%.0f %d\n",difftime(10,4),clock()>=0); struct timespec s; printf("%d\n",clock_gettime(CLOCK_MONOTONIC,&s)); struct timespec ns={0,1000000}; nanosleep(&ns,0); return 0;}
