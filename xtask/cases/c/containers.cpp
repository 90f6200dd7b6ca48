#include <algorithm>
#include <deque>
#include <functional>
#include <iomanip>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <queue>
#include <random>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>
using namespace std;
template<class T> T mx(T a,T b){return a>b?a:b;}
struct S{virtual ~S(){cout<<"~S\n";} virtual int area()=0;}; struct Q:S{int a;Q(int a):a(a){} int area()override{return a*a;}};
int main(){vector<int>v{3,1,2};sort(v.begin(),v.end(),greater<>());for(int x:v)cout<<x<<' ';cout<<endl;map<string,int>m{{"b",2},{"a",1}};for(auto&[k,w]:m)cout<<k<<w<<'\n';set<int>s(v.begin(),v.end());unordered_map<string,int>u;u["x"]++;cout<<s.size()<<u["x"]<<'\n';string t="hello";t+=" world";cout<<t.substr(6)<<t.find("lo")<<'\n';stringstream ss("1 2 x");int a,b;string c;ss>>a>>b>>c;cout<<a+b<<c<<'\n';unique_ptr<S>p=make_unique<Q>(4);cout<<p->area()<<'\n';auto f=[&](int k){return k+a;};cout<<f(5)<<mx(2,3)<<'\n';cout<<fixed<<setprecision(3)<<3.14159<<hex<<255<<'\n';priority_queue<int>q;q.push(1);q.push(9);cout<<dec<<q.top()<<'\n';optional<int>o;cout<<o.value_or(7)<<'\n';cout<<accumulate(v.begin(),v.end(),0)<<'\n';regex r("(\\w+)@");smatch mm;string e="me@x";if(regex_search(e,mm,r))cout<<mm[1]<<'\n';tuple<int,string>tp{1,"z"};cout<<get<1>(tp)<<'\n';mt19937 g(1);cout<<g()<<'\n';variant<int,string>va="s";cout<<va.index()<<'\n';shared_ptr<int>sp(new int(3));cout<<sp.use_count()<<*sp<<'\n';deque<int>d{1,2};d.push_front(0);list<int>l{3,2};l.sort();cout<<d[0]<<l.front()<<'\n';}
