/* stdin: one two */
#include <iostream>
#include <fstream>
#include <string>
#include <algorithm>
#include <filesystem>
int main(){std::string l;int n=0;while(std::getline(std::cin,l)){std::reverse(l.begin(),l.end());std::cout<<++n<<":"<<l<<"\n";}std::ofstream("o.txt")<<"x y\n";std::ifstream f("o.txt");std::string a,b;f>>a>>b;std::cout<<a<<b<<"\n";std::cerr<<"e\n";return 0;}
