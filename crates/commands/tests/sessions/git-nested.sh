export GIT_AUTHOR_NAME='A U Thor' GIT_AUTHOR_EMAIL=author@example.com
export GIT_COMMITTER_NAME='A U Thor' GIT_COMMITTER_EMAIL=author@example.com HOME=/tmp/home
mkdir -p $HOME; export TERM=dumb
export GIT_AUTHOR_DATE='1700000000 +0000' GIT_COMMITTER_DATE='1700000000 +0000'
git init -q
echo "[$?]"
export GIT_AUTHOR_DATE='1700000060 +0000' GIT_COMMITTER_DATE='1700000060 +0000'
mkdir -p sub; git init -q sub; echo 1 > sub/f; git -C sub add f; git -C sub commit -qm in; git status -s; git add sub 2>/dev/null; git status -s; git commit -m sub; git ls-tree HEAD; git diff; git status
echo "[$?]"
