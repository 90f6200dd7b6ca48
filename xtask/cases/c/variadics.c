#include <stdarg.h>
#include <stdio.h>
#include <stdint.h>
int sum(int n,...){va_list a;va_start(a,n);int s=0;while(n--)s+=va_arg(a,int);va_end(a);return s;} void lg(const char*f,...){va_list a;va_start(a,f);vprintf(f,a);va_end(a);}
union U{float f;uint32_t u;}; struct B{unsigned a:3,b:5;}; enum E{A=5,B2}; typedef int(*F)(int,int); int add(int a,int b){return a+b;}
int main(){printf("%d\n",sum(3,1,2,3));lg("%s %d\n","x",1);union U u={1.5f};printf("%x\n",u.u);struct B b={5,17};printf("%d %d %zu\n",b.a,b.b,sizeof b);printf("%d %d %d %d\n",~5,1<<10,-8>>1,0xF0^0xFF);printf("%d %d\n",__builtin_popcount(255),__builtin_clz(1));F f[]={add};printf("%d %d\n",f[0](1,2),B2);unsigned char c=250;c+=10;printf("%d %u\n",c,0u-1);int a[2][3]={{1,2,3},{4}};printf("%d %zu\n",a[1][0],sizeof a);struct{int x;double y;}s={.y=2};printf("%g %zu\n",s.y,sizeof s);int n=4;int vla[n];vla[3]=2;printf("%zu\n",sizeof vla);printf("%s %d\n",__func__,_Generic(1.0,double:1,default:2));return 0;}
