export GIT_AUTHOR_NAME='A U Thor' GIT_AUTHOR_EMAIL=author@example.com
export GIT_COMMITTER_NAME='A U Thor' GIT_COMMITTER_EMAIL=author@example.com HOME=/tmp/home
mkdir -p $HOME; export TERM=dumb
export GIT_AUTHOR_DATE='1700000000 +0000' GIT_COMMITTER_DATE='1700000000 +0000'
git init -q
echo "[$?]"
export GIT_AUTHOR_DATE='1700000060 +0000' GIT_COMMITTER_DATE='1700000060 +0000'
echo 1 > a; echo 1 > b; git add .; git commit -qm 1; echo 2 > a; git commit -qam 2; echo 3 > a; git commit -qam 3
echo "[$?]"
export GIT_AUTHOR_DATE='1700000120 +0000' GIT_COMMITTER_DATE='1700000120 +0000'
git reset --soft HEAD~1; git status -s
echo "[$?]"
export GIT_AUTHOR_DATE='1700000180 +0000' GIT_COMMITTER_DATE='1700000180 +0000'
git commit -qm 3b; git reset HEAD~1; git status -s
echo "[$?]"
export GIT_AUTHOR_DATE='1700000240 +0000' GIT_COMMITTER_DATE='1700000240 +0000'
git reset --hard; git log --oneline
echo "[$?]"
export GIT_AUTHOR_DATE='1700000300 +0000' GIT_COMMITTER_DATE='1700000300 +0000'
git reset --hard HEAD~1
echo "[$?]"
export GIT_AUTHOR_DATE='1700000360 +0000' GIT_COMMITTER_DATE='1700000360 +0000'
echo z > a; git restore a; cat a; echo z > a; git add a; git restore --staged a; git status -s; git checkout a; git status -s
echo "[$?]"
export GIT_AUTHOR_DATE='1700000420 +0000' GIT_COMMITTER_DATE='1700000420 +0000'
echo z > a; git checkout -- a; cat a; echo q > b; git checkout HEAD -- b; cat b
echo "[$?]"
export GIT_AUTHOR_DATE='1700000480 +0000' GIT_COMMITTER_DATE='1700000480 +0000'
git restore --source=HEAD@{1} a; cat a; git status -s; git reset a; git reset -q --hard
echo "[$?]"
export GIT_AUTHOR_DATE='1700000540 +0000' GIT_COMMITTER_DATE='1700000540 +0000'
git rm a; git status -s; git reset -q HEAD a; git status -s; git checkout a; ls
echo "[$?]"
export GIT_AUTHOR_DATE='1700000600 +0000' GIT_COMMITTER_DATE='1700000600 +0000'
git rm --cached b; git status -s; git add b
echo "[$?]"
export GIT_AUTHOR_DATE='1700000660 +0000' GIT_COMMITTER_DATE='1700000660 +0000'
echo c > c; git add c; git rm c; git rm -f c; ls
echo "[$?]"
export GIT_AUTHOR_DATE='1700000720 +0000' GIT_COMMITTER_DATE='1700000720 +0000'
mkdir t; echo 1 > t/x; git add t; git commit -qm t; git rm t; git rm -r t
echo "[$?]"
export GIT_AUTHOR_DATE='1700000780 +0000' GIT_COMMITTER_DATE='1700000780 +0000'
git commit -m 'gone t'
echo "[$?]"
export GIT_AUTHOR_DATE='1700000840 +0000' GIT_COMMITTER_DATE='1700000840 +0000'
git commit --amend -m 'gone t amended'
echo "[$?]"
export GIT_AUTHOR_DATE='1700000900 +0000' GIT_COMMITTER_DATE='1700000900 +0000'
git log --oneline
echo "[$?]"
export GIT_AUTHOR_DATE='1700000960 +0000' GIT_COMMITTER_DATE='1700000960 +0000'
git commit --allow-empty -m empty; git log --oneline -1; git show --stat
echo "[$?]"
export GIT_AUTHOR_DATE='1700001020 +0000' GIT_COMMITTER_DATE='1700001020 +0000'
git reset HEAD~99
echo "[$?]"
export GIT_AUTHOR_DATE='1700001080 +0000' GIT_COMMITTER_DATE='1700001080 +0000'
git reset nosuch
echo "[$?]"
