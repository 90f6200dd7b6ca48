export HOME=/tmp/home
mkdir -p $HOME; export TERM=dumb
export GIT_AUTHOR_DATE='1700000000 +0000' GIT_COMMITTER_DATE='1700000000 +0000'
git init -q
echo "[$?]"
export GIT_AUTHOR_DATE='1700000060 +0000' GIT_COMMITTER_DATE='1700000060 +0000'
git config user.name 'Some One'; git config user.email so@example.com; git config user.name; git config --get user.email; git config --list --local; cat .git/config
echo "[$?]"
export GIT_AUTHOR_DATE='1700000120 +0000' GIT_COMMITTER_DATE='1700000120 +0000'
git config alias.st 'status -s'; git st; git config --unset alias.st; git config alias.st; echo $?
echo "[$?]"
export GIT_AUTHOR_DATE='1700000180 +0000' GIT_COMMITTER_DATE='1700000180 +0000'
git config core.nosuch.x.y v; git config --get core.nosuch.x.y; git config --add multi.k 1; git config --add multi.k 2; git config --get-all multi.k; git config multi.k; git config badkey
echo "[$?]"
export GIT_AUTHOR_DATE='1700000240 +0000' GIT_COMMITTER_DATE='1700000240 +0000'
git config user.name 'a "quoted" # name'; git config user.name; cat .git/config
echo "[$?]"
export GIT_AUTHOR_DATE='1700000300 +0000' GIT_COMMITTER_DATE='1700000300 +0000'
git remote add origin https://example.com/x.git; git remote -v; git remote; cat .git/config; git remote get-url origin; git remote remove origin; cat .git/config
echo "[$?]"
export GIT_AUTHOR_DATE='1700000360 +0000' GIT_COMMITTER_DATE='1700000360 +0000'
git config --global user.name Glob; git config --global --list
echo "[$?]"
export GIT_AUTHOR_DATE='1700000420 +0000' GIT_COMMITTER_DATE='1700000420 +0000'
git -c user.name=Cmd config user.name
echo "[$?]"
export GIT_AUTHOR_DATE='1700000480 +0000' GIT_COMMITTER_DATE='1700000480 +0000'
git -C .git/.. status -s
echo "[$?]"
export GIT_AUTHOR_DATE='1700000540 +0000' GIT_COMMITTER_DATE='1700000540 +0000'
git rev-parse --show-toplevel --git-dir --is-inside-work-tree --show-prefix
echo "[$?]"
