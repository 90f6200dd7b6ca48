export GIT_AUTHOR_NAME='A U Thor' GIT_AUTHOR_EMAIL=author@example.com
export GIT_COMMITTER_NAME='A U Thor' GIT_COMMITTER_EMAIL=author@example.com HOME=/tmp/home
mkdir -p $HOME; export TERM=dumb
export GIT_AUTHOR_DATE='1700000000 +0000' GIT_COMMITTER_DATE='1700000000 +0000'
git init -q -b main
echo "[$?]"
export GIT_AUTHOR_DATE='1700000060 +0000' GIT_COMMITTER_DATE='1700000060 +0000'
echo a > a; git add a; git commit -qm one
echo "[$?]"
export GIT_AUTHOR_DATE='1700000120 +0000' GIT_COMMITTER_DATE='1700000120 +0000'
git branch dev; git branch; git branch -v; git checkout dev; git branch
echo "[$?]"
export GIT_AUTHOR_DATE='1700000180 +0000' GIT_COMMITTER_DATE='1700000180 +0000'
echo b > b; git add b; git commit -m two
echo "[$?]"
export GIT_AUTHOR_DATE='1700000240 +0000' GIT_COMMITTER_DATE='1700000240 +0000'
git log --oneline --decorate; git log --oneline --all --decorate
echo "[$?]"
export GIT_AUTHOR_DATE='1700000300 +0000' GIT_COMMITTER_DATE='1700000300 +0000'
git checkout main; ls
echo "[$?]"
export GIT_AUTHOR_DATE='1700000360 +0000' GIT_COMMITTER_DATE='1700000360 +0000'
git merge dev
echo "[$?]"
export GIT_AUTHOR_DATE='1700000420 +0000' GIT_COMMITTER_DATE='1700000420 +0000'
git log --oneline
echo "[$?]"
export GIT_AUTHOR_DATE='1700000480 +0000' GIT_COMMITTER_DATE='1700000480 +0000'
git branch -d dev
echo "[$?]"
export GIT_AUTHOR_DATE='1700000540 +0000' GIT_COMMITTER_DATE='1700000540 +0000'
git branch -d nosuch
echo "[$?]"
export GIT_AUTHOR_DATE='1700000600 +0000' GIT_COMMITTER_DATE='1700000600 +0000'
git checkout -b feat; echo f >> a; git commit -am feat; git switch main; git switch -c other; echo o > o; git add o; git commit -m other
echo "[$?]"
export GIT_AUTHOR_DATE='1700000660 +0000' GIT_COMMITTER_DATE='1700000660 +0000'
git merge feat
echo "[$?]"
export GIT_AUTHOR_DATE='1700000720 +0000' GIT_COMMITTER_DATE='1700000720 +0000'
git log --oneline --graph
echo "[$?]"
export GIT_AUTHOR_DATE='1700000780 +0000' GIT_COMMITTER_DATE='1700000780 +0000'
git log --oneline
echo "[$?]"
export GIT_AUTHOR_DATE='1700000840 +0000' GIT_COMMITTER_DATE='1700000840 +0000'
git log --graph
echo "[$?]"
export GIT_AUTHOR_DATE='1700000900 +0000' GIT_COMMITTER_DATE='1700000900 +0000'
git show --stat
echo "[$?]"
export GIT_AUTHOR_DATE='1700000960 +0000' GIT_COMMITTER_DATE='1700000960 +0000'
git cat-file -p HEAD
echo "[$?]"
export GIT_AUTHOR_DATE='1700001020 +0000' GIT_COMMITTER_DATE='1700001020 +0000'
git log --merges --oneline; git log --no-merges --oneline; git log --first-parent --oneline
echo "[$?]"
export GIT_AUTHOR_DATE='1700001080 +0000' GIT_COMMITTER_DATE='1700001080 +0000'
git branch --merged; git branch --no-merged main
echo "[$?]"
export GIT_AUTHOR_DATE='1700001140 +0000' GIT_COMMITTER_DATE='1700001140 +0000'
git checkout -; git checkout -
echo "[$?]"
export GIT_AUTHOR_DATE='1700001200 +0000' GIT_COMMITTER_DATE='1700001200 +0000'
git checkout HEAD~1
echo "[$?]"
export GIT_AUTHOR_DATE='1700001260 +0000' GIT_COMMITTER_DATE='1700001260 +0000'
git status
echo "[$?]"
export GIT_AUTHOR_DATE='1700001320 +0000' GIT_COMMITTER_DATE='1700001320 +0000'
git branch
echo "[$?]"
export GIT_AUTHOR_DATE='1700001380 +0000' GIT_COMMITTER_DATE='1700001380 +0000'
git checkout main
echo "[$?]"
export GIT_AUTHOR_DATE='1700001440 +0000' GIT_COMMITTER_DATE='1700001440 +0000'
git branch -m feat feature; git branch
echo "[$?]"
export GIT_AUTHOR_DATE='1700001500 +0000' GIT_COMMITTER_DATE='1700001500 +0000'
git branch -D other
echo "[$?]"
export GIT_AUTHOR_DATE='1700001560 +0000' GIT_COMMITTER_DATE='1700001560 +0000'
git checkout -b main
echo "[$?]"
export GIT_AUTHOR_DATE='1700001620 +0000' GIT_COMMITTER_DATE='1700001620 +0000'
git branch bad..name
echo "[$?]"
export GIT_AUTHOR_DATE='1700001680 +0000' GIT_COMMITTER_DATE='1700001680 +0000'
git tag v1; git tag -a v2 -m 'version two'; git tag; git tag -n; git show v2; git describe; git describe --tags; git cat-file -t v2
echo "[$?]"
export GIT_AUTHOR_DATE='1700001740 +0000' GIT_COMMITTER_DATE='1700001740 +0000'
git tag v1
echo "[$?]"
export GIT_AUTHOR_DATE='1700001800 +0000' GIT_COMMITTER_DATE='1700001800 +0000'
git tag -d v1
echo "[$?]"
export GIT_AUTHOR_DATE='1700001860 +0000' GIT_COMMITTER_DATE='1700001860 +0000'
git log --oneline --decorate -3
echo "[$?]"
export GIT_AUTHOR_DATE='1700001920 +0000' GIT_COMMITTER_DATE='1700001920 +0000'
git merge feature
echo "[$?]"
export GIT_AUTHOR_DATE='1700001980 +0000' GIT_COMMITTER_DATE='1700001980 +0000'
git merge nosuch
echo "[$?]"
export GIT_AUTHOR_DATE='1700002040 +0000' GIT_COMMITTER_DATE='1700002040 +0000'
git reflog
echo "[$?]"
export GIT_AUTHOR_DATE='1700002100 +0000' GIT_COMMITTER_DATE='1700002100 +0000'
git rev-parse HEAD@{1} main@{1} HEAD^ HEAD~2
echo "[$?]"
export GIT_AUTHOR_DATE='1700002160 +0000' GIT_COMMITTER_DATE='1700002160 +0000'
git log main..feature --oneline; git log feature ^main --oneline; git rev-list --count HEAD; git rev-list HEAD
echo "[$?]"
export GIT_AUTHOR_DATE='1700002220 +0000' GIT_COMMITTER_DATE='1700002220 +0000'
git merge-base main feature
echo "[$?]"
export GIT_AUTHOR_DATE='1700002280 +0000' GIT_COMMITTER_DATE='1700002280 +0000'
git symbolic-ref HEAD; git show-ref
echo "[$?]"
