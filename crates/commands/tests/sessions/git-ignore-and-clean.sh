export GIT_AUTHOR_NAME='A U Thor' GIT_AUTHOR_EMAIL=author@example.com
export GIT_COMMITTER_NAME='A U Thor' GIT_COMMITTER_EMAIL=author@example.com HOME=/tmp/home
mkdir -p $HOME; export TERM=dumb
export GIT_AUTHOR_DATE='1700000000 +0000' GIT_COMMITTER_DATE='1700000000 +0000'
git init -q
echo "[$?]"
export GIT_AUTHOR_DATE='1700000060 +0000' GIT_COMMITTER_DATE='1700000060 +0000'
printf '*.o\n!keep.o\n/build/\nlogs/**\n# c\nsub/*.tmp\n' > .gitignore; mkdir -p build logs/x sub/deep; touch a.o keep.o build/x logs/x/y sub/1.tmp sub/deep/1.tmp c.c
echo "[$?]"
export GIT_AUTHOR_DATE='1700000120 +0000' GIT_COMMITTER_DATE='1700000120 +0000'
git status -s; git status -s -uall; git status --ignored -s; git status --ignored
echo "[$?]"
export GIT_AUTHOR_DATE='1700000180 +0000' GIT_COMMITTER_DATE='1700000180 +0000'
git add .; git status -s
echo "[$?]"
export GIT_AUTHOR_DATE='1700000240 +0000' GIT_COMMITTER_DATE='1700000240 +0000'
git add a.o
echo "[$?]"
export GIT_AUTHOR_DATE='1700000300 +0000' GIT_COMMITTER_DATE='1700000300 +0000'
git add -f a.o; git status -s
echo "[$?]"
export GIT_AUTHOR_DATE='1700000360 +0000' GIT_COMMITTER_DATE='1700000360 +0000'
git check-ignore -v a.o keep.o build/x sub/1.tmp sub/deep/1.tmp
echo "[$?]"
export GIT_AUTHOR_DATE='1700000420 +0000' GIT_COMMITTER_DATE='1700000420 +0000'
git check-ignore a.o c.c
echo "[$?]"
export GIT_AUTHOR_DATE='1700000480 +0000' GIT_COMMITTER_DATE='1700000480 +0000'
git clean -n; git clean -nd; git clean -ndx; git clean; git commit -qm x; touch u; mkdir v; touch v/w; git clean -f; git clean -fd; git clean -fdx; ls -A
echo "[$?]"
export GIT_AUTHOR_DATE='1700000540 +0000' GIT_COMMITTER_DATE='1700000540 +0000'
cd sub; git status; git status -s; git ls-files; echo q >> deep/1.tmp; git status; git diff --stat; git add .; cd ..; git status -s
echo "[$?]"
