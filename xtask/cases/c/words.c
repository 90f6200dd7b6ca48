#include <string.h>
#include <stdio.h>
#include <ctype.h>
#include <strings.h>
#include <wchar.h>
#include <locale.h>
int main(){char s[50]="one,two;three";for(char*t=strtok(s,",;");t;t=strtok(0,",;"))puts(t);printf("%s %s %d %zu %d %d\n",strchr("hello",'l'),strstr("haystack","st"),strcmp("a","b")<0,strspn("aab","a"),strncasecmp("ABC","abd",2),memcmp("a","a",1));char b[20]="xx";strcat(b,"yy");strncat(b,"zzz",2);memmove(b+1,b,4);puts(b);printf("%c %d %d %d\n",toupper('q'),isalpha('1')!=0,isspace('\t')!=0,isxdigit('f')!=0);char*d=strdup("dup");puts(d);setlocale(LC_ALL,"C.UTF-8");wchar_t w[9];printf("%zu\n",mbstowcs(w,"h\xc3\xa9",9));printf("%s\n",strrchr("a/b/c",'/'));return 0;}
