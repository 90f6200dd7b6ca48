export GIT_AUTHOR_NAME='A U Thor' GIT_AUTHOR_EMAIL=author@example.com
export GIT_COMMITTER_NAME='A U Thor' GIT_COMMITTER_EMAIL=author@example.com HOME=/tmp/home
mkdir -p $HOME; export TERM=dumb
export GIT_AUTHOR_DATE='1700000000 +0000' GIT_COMMITTER_DATE='1700000000 +0000'
git init -q
echo "[$?]"
export GIT_AUTHOR_DATE='1700000060 +0000' GIT_COMMITTER_DATE='1700000060 +0000'
echo 1 > a; git add a; git commit -qm 1
echo "[$?]"
export GIT_AUTHOR_DATE='1700000120 +0000' GIT_COMMITTER_DATE='1700000120 +0000'
git stash
echo "[$?]"
export GIT_AUTHOR_DATE='1700000180 +0000' GIT_COMMITTER_DATE='1700000180 +0000'
echo 2 > a; echo n > n; git stash; git status -s; cat a; git stash list
echo "[$?]"
export GIT_AUTHOR_DATE='1700000240 +0000' GIT_COMMITTER_DATE='1700000240 +0000'
git stash pop; git stash list
echo "[$?]"
export GIT_AUTHOR_DATE='1700000300 +0000' GIT_COMMITTER_DATE='1700000300 +0000'
git stash push -m msg -u; git status -s; git stash list; git stash show; git stash show -p
echo "[$?]"
export GIT_AUTHOR_DATE='1700000360 +0000' GIT_COMMITTER_DATE='1700000360 +0000'
git stash apply; git status -s; git stash drop; git stash list
echo "[$?]"
export GIT_AUTHOR_DATE='1700000420 +0000' GIT_COMMITTER_DATE='1700000420 +0000'
git stash pop
echo "[$?]"
export GIT_AUTHOR_DATE='1700000480 +0000' GIT_COMMITTER_DATE='1700000480 +0000'
echo 3 > a; git add a; git stash; git stash pop; git status -s
echo "[$?]"
export GIT_AUTHOR_DATE='1700000540 +0000' GIT_COMMITTER_DATE='1700000540 +0000'
git stash -q; echo conflict > a; git commit -qam c; git stash pop; git status -s; cat a
echo "[$?]"
export GIT_AUTHOR_DATE='1700000600 +0000' GIT_COMMITTER_DATE='1700000600 +0000'
git stash list; git log --oneline --all
echo "[$?]"
