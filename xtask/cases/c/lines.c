/* stdin: abc def */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(){char*l=0;size_t n=0;ssize_t r;while((r=getline(&l,&n,stdin))>0)printf("%zd %s",r,l);free(l);char*s;if(asprintf(&s,"%d",5)>0)puts(s);char x[9];sscanf("k=v","%*[^=]=%8s",x);puts(x);return 0;}
