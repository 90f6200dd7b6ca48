#include <stdlib.h>
#include <stdio.h>
#include <string.h>
int c(const void*a,const void*b){return *(int*)a-*(int*)b;} int s(const void*a,const void*b){return strcmp(*(char**)a,*(char**)b);}
int main(){int a[]={3,1,2,9,-4};qsort(a,5,sizeof(int),c);for(int i=0;i<5;i++)printf("%d ",a[i]);int k=9;int*f=bsearch(&k,a,5,sizeof(int),c);printf("%ld\n",(long)(f-a));char*w[]={"pear","apple","fig"};qsort(w,3,sizeof(char*),s);puts(w[0]);return 0;}
