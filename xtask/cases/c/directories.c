#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <dirent.h>
#include <unistd.h>
#include <stdlib.h>
#include <fcntl.h>
int cmp(const void*a,const void*b){return strcmp((char*)a,(char*)b);}
int main(){FILE*f=fopen("t.txt","w+");fprintf(f,"%d %s\n%f",5,"word",2.5);rewind(f);int a;char s[9];double d;printf("%d\n",fscanf(f,"%d %8s %lf",&a,s,&d));printf("%d %s %g %d\n",a,s,d,feof(f)!=0);fseek(f,-3,SEEK_END);long at=ftell(f);printf("%ld %c\n",at,fgetc(f));fclose(f);struct stat st;stat("t.txt",&st);printf("%d %d\n",(int)st.st_size,S_ISREG(st.st_mode));mkdir("dd",0755);fclose(fopen("dd/b","w"));fclose(fopen("dd/a","w"));DIR*q=opendir("dd");struct dirent*e;char n[9][9];int k=0;while((e=readdir(q)))if(e->d_name[0]!='.')strcpy(n[k++],e->d_name);closedir(q);qsort(n,k,9,cmp);for(int i=0;i<k;i++)puts(n[i]);rename("dd/a","dd/c");printf("%d %d\n",access("dd/c",F_OK),remove("dd/zz"));unlink("dd/b");unlink("dd/c");printf("%d\n",rmdir("dd"));int fd=open("raw",O_CREAT|O_RDWR|O_TRUNC,0644);write(fd,"abcdef",6);lseek(fd,2,SEEK_SET);char b[3]={0};read(fd,b,2);puts(b);close(fd);char line[20];f=fopen("t.txt","a");fputs("\nmore\n",f);fclose(f);f=fopen("t.txt","r");while(fgets(line,20,f))printf("<%s>",line);puts("");char cw[100];printf("%d\n",getcwd(cw,100)!=0);return 0;}
