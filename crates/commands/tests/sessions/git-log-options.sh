export GIT_AUTHOR_NAME='A U Thor' GIT_AUTHOR_EMAIL=author@example.com
export GIT_COMMITTER_NAME='A U Thor' GIT_COMMITTER_EMAIL=author@example.com HOME=/tmp/home
mkdir -p $HOME; export TERM=dumb
export GIT_AUTHOR_DATE='1700000000 +0000' GIT_COMMITTER_DATE='1700000000 +0000'
git init -q
echo "[$?]"
export GIT_AUTHOR_DATE='1700000060 +0000' GIT_COMMITTER_DATE='1700000060 +0000'
for i in 1 2 3 4 5; do echo $i > f$((i%2)); git add .; GIT_AUTHOR_NAME=P$((i%2)) git commit -qm "commit $i
body of $i
	tabbed"; done
echo "[$?]"
export GIT_AUTHOR_DATE='1700000120 +0000' GIT_COMMITTER_DATE='1700000120 +0000'
git log; git log --author=P1 --oneline; git log --grep='commit 3' --oneline; git log --reverse --oneline; git log --skip=1 -2 --oneline; git log -3 --format=%s; git log --oneline f1; git log -S4 --oneline; git shortlog -sn HEAD; git shortlog HEAD
echo "[$?]"
export GIT_AUTHOR_DATE='1700000180 +0000' GIT_COMMITTER_DATE='1700000180 +0000'
git log --since='2000-01-01' --oneline; git log --until='2000-01-01' --oneline; git log --date=short --format='%ad %cd %as'; git log --date=format:'%Y/%m/%d' -1 --format=%ad
echo "[$?]"
export GIT_AUTHOR_DATE='1700000240 +0000' GIT_COMMITTER_DATE='1700000240 +0000'
git log --abbrev-commit -1; git log --name-status --oneline; git log --name-only -1; git log --shortstat -1; git log --numstat -1 --format=%h; git log -p -1 --format=%h; git log --stat --format=%h -2; git log --raw -1 --oneline; git log HEAD~2..HEAD --oneline; git log HEAD~2... --oneline; git log HEAD^ -1 --oneline; git log --all --oneline
echo "[$?]"
export GIT_AUTHOR_DATE='1700000300 +0000' GIT_COMMITTER_DATE='1700000300 +0000'
git log --graph --oneline; git log --graph -2; git log --format=oneline -1; git log --pretty=oneline -1; git log --pretty=reference -1; git show HEAD:f1; git show HEAD^{tree}; git show HEAD --format=%B -s; git show -s; git show --oneline -s HEAD HEAD~1; git log -z -2 --format=%h | tr '\0' '\n'
echo "[$?]"
