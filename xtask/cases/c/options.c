#include <unistd.h>
#include <getopt.h>
#include <stdio.h>
int main(){char*v[]={"p","-a","-b","val","--long=3","rest",0};int c;struct option o[]={{"long",1,0,'l'},{0}};while((c=getopt_long(6,v,"ab:",o,0))!=-1)printf("%c %s\n",c,optarg?optarg:"-");printf("%s\n",v[optind]);return 0;}
