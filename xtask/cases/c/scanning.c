/* stdin: 5 3 rest of it */
#include <stdio.h>
int main(){int a,b,n=0,c;if(scanf("%d %d",&a,&b)==2)printf("%d\n",a+b);while((c=getchar())!=EOF)n++;printf("%d\n",n);return 0;}
