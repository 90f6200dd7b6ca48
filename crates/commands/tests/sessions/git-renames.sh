export GIT_AUTHOR_NAME='A U Thor' GIT_AUTHOR_EMAIL=author@example.com
export GIT_COMMITTER_NAME='A U Thor' GIT_COMMITTER_EMAIL=author@example.com HOME=/tmp/home
mkdir -p $HOME; export TERM=dumb
export GIT_AUTHOR_DATE='1700000000 +0000' GIT_COMMITTER_DATE='1700000000 +0000'
git init -q
echo "[$?]"
export GIT_AUTHOR_DATE='1700000060 +0000' GIT_COMMITTER_DATE='1700000060 +0000'
mkdir -p src/lib; seq 1 50 > src/lib/big; seq 60 99 > src/other; git add .; git commit -qm 1
echo "[$?]"
export GIT_AUTHOR_DATE='1700000120 +0000' GIT_COMMITTER_DATE='1700000120 +0000'
git mv src/lib/big src/lib/large; sed -i 's/^7$/seven/' src/lib/large; git add .; git status; git status -s; git diff --cached; git diff --cached --stat; git diff --cached -M90% --stat; git diff --cached --no-renames --stat; git commit -m ren
echo "[$?]"
export GIT_AUTHOR_DATE='1700000180 +0000' GIT_COMMITTER_DATE='1700000180 +0000'
mkdir new; git mv src/other new/other; git mv src/lib/large new/; git commit -m dirs; git show --stat; git show --name-status; git log --oneline -- new/other
echo "[$?]"
export GIT_AUTHOR_DATE='1700000240 +0000' GIT_COMMITTER_DATE='1700000240 +0000'
git blame new/large | head -8
echo "[$?]"
export GIT_AUTHOR_DATE='1700000300 +0000' GIT_COMMITTER_DATE='1700000300 +0000'
git blame -s new/other | head -3
echo "[$?]"
export GIT_AUTHOR_DATE='1700000360 +0000' GIT_COMMITTER_DATE='1700000360 +0000'
git blame -L 5,8 new/large
echo "[$?]"
export GIT_AUTHOR_DATE='1700000420 +0000' GIT_COMMITTER_DATE='1700000420 +0000'
sed -i 's/^9$/nine/' new/large; git blame -L 7,10 new/large | sed 's/20..-..-.. ..:..:.. +0000/DATE/'
echo "[$?]"
export GIT_AUTHOR_DATE='1700000480 +0000' GIT_COMMITTER_DATE='1700000480 +0000'
git blame nosuch
echo "[$?]"
export GIT_AUTHOR_DATE='1700000540 +0000' GIT_COMMITTER_DATE='1700000540 +0000'
git blame -e -L2,3 new/large
echo "[$?]"
