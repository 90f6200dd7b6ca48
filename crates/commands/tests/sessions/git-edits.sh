export GIT_AUTHOR_NAME='A U Thor' GIT_AUTHOR_EMAIL=author@example.com
export GIT_COMMITTER_NAME='A U Thor' GIT_COMMITTER_EMAIL=author@example.com HOME=/tmp/home
mkdir -p $HOME; export TERM=dumb
export GIT_AUTHOR_DATE='1700000000 +0000' GIT_COMMITTER_DATE='1700000000 +0000'
git init -q
echo "[$?]"
export GIT_AUTHOR_DATE='1700000060 +0000' GIT_COMMITTER_DATE='1700000060 +0000'
seq 1 30 > n; printf 'int a(void)\n{\n  return 1;\n}\n\nint b(void)\n{\n  return 2;\n}\n' > c.c; git add .; git commit -qm base
echo "[$?]"
export GIT_AUTHOR_DATE='1700000120 +0000' GIT_COMMITTER_DATE='1700000120 +0000'
sed -i 's/^5$/five/; s/^25$/twenty five/' n; sed -i 's/return 2/return 3/' c.c
echo "[$?]"
export GIT_AUTHOR_DATE='1700000180 +0000' GIT_COMMITTER_DATE='1700000180 +0000'
git diff
echo "[$?]"
export GIT_AUTHOR_DATE='1700000240 +0000' GIT_COMMITTER_DATE='1700000240 +0000'
git diff --stat
echo "[$?]"
export GIT_AUTHOR_DATE='1700000300 +0000' GIT_COMMITTER_DATE='1700000300 +0000'
git diff --numstat
echo "[$?]"
export GIT_AUTHOR_DATE='1700000360 +0000' GIT_COMMITTER_DATE='1700000360 +0000'
git diff --shortstat
echo "[$?]"
export GIT_AUTHOR_DATE='1700000420 +0000' GIT_COMMITTER_DATE='1700000420 +0000'
git diff --name-only
echo "[$?]"
export GIT_AUTHOR_DATE='1700000480 +0000' GIT_COMMITTER_DATE='1700000480 +0000'
git diff --name-status
echo "[$?]"
export GIT_AUTHOR_DATE='1700000540 +0000' GIT_COMMITTER_DATE='1700000540 +0000'
git diff --raw --abbrev
echo "[$?]"
export GIT_AUTHOR_DATE='1700000600 +0000' GIT_COMMITTER_DATE='1700000600 +0000'
git diff -U0
echo "[$?]"
export GIT_AUTHOR_DATE='1700000660 +0000' GIT_COMMITTER_DATE='1700000660 +0000'
git diff -U1 n
echo "[$?]"
export GIT_AUTHOR_DATE='1700000720 +0000' GIT_COMMITTER_DATE='1700000720 +0000'
git diff HEAD
echo "[$?]"
export GIT_AUTHOR_DATE='1700000780 +0000' GIT_COMMITTER_DATE='1700000780 +0000'
git diff --cached
echo "[$?]"
export GIT_AUTHOR_DATE='1700000840 +0000' GIT_COMMITTER_DATE='1700000840 +0000'
git add n
echo "[$?]"
export GIT_AUTHOR_DATE='1700000900 +0000' GIT_COMMITTER_DATE='1700000900 +0000'
git diff --cached
echo "[$?]"
export GIT_AUTHOR_DATE='1700000960 +0000' GIT_COMMITTER_DATE='1700000960 +0000'
git diff --staged --stat
echo "[$?]"
export GIT_AUTHOR_DATE='1700001020 +0000' GIT_COMMITTER_DATE='1700001020 +0000'
git status
echo "[$?]"
export GIT_AUTHOR_DATE='1700001080 +0000' GIT_COMMITTER_DATE='1700001080 +0000'
git status -sb
echo "[$?]"
export GIT_AUTHOR_DATE='1700001140 +0000' GIT_COMMITTER_DATE='1700001140 +0000'
git commit -am 'second'
echo "[$?]"
export GIT_AUTHOR_DATE='1700001200 +0000' GIT_COMMITTER_DATE='1700001200 +0000'
git show --stat
echo "[$?]"
export GIT_AUTHOR_DATE='1700001260 +0000' GIT_COMMITTER_DATE='1700001260 +0000'
git show --name-only --format=%s
echo "[$?]"
export GIT_AUTHOR_DATE='1700001320 +0000' GIT_COMMITTER_DATE='1700001320 +0000'
git show HEAD~1 --stat --oneline
echo "[$?]"
export GIT_AUTHOR_DATE='1700001380 +0000' GIT_COMMITTER_DATE='1700001380 +0000'
git log --oneline --stat
echo "[$?]"
export GIT_AUTHOR_DATE='1700001440 +0000' GIT_COMMITTER_DATE='1700001440 +0000'
git log --stat -p -1
echo "[$?]"
export GIT_AUTHOR_DATE='1700001500 +0000' GIT_COMMITTER_DATE='1700001500 +0000'
git log -p --oneline n
echo "[$?]"
export GIT_AUTHOR_DATE='1700001560 +0000' GIT_COMMITTER_DATE='1700001560 +0000'
git log --oneline -- c.c
echo "[$?]"
export GIT_AUTHOR_DATE='1700001620 +0000' GIT_COMMITTER_DATE='1700001620 +0000'
git log -n 1 --format=%s
echo "[$?]"
export GIT_AUTHOR_DATE='1700001680 +0000' GIT_COMMITTER_DATE='1700001680 +0000'
git log -1 --format='%an|%cn|%s'
echo "[$?]"
export GIT_AUTHOR_DATE='1700001740 +0000' GIT_COMMITTER_DATE='1700001740 +0000'
git diff HEAD~1 HEAD
echo "[$?]"
export GIT_AUTHOR_DATE='1700001800 +0000' GIT_COMMITTER_DATE='1700001800 +0000'
git diff HEAD~1..HEAD --stat
echo "[$?]"
export GIT_AUTHOR_DATE='1700001860 +0000' GIT_COMMITTER_DATE='1700001860 +0000'
git diff HEAD~1 -- n
echo "[$?]"
export GIT_AUTHOR_DATE='1700001920 +0000' GIT_COMMITTER_DATE='1700001920 +0000'
git mv n m; git status
echo "[$?]"
export GIT_AUTHOR_DATE='1700001980 +0000' GIT_COMMITTER_DATE='1700001980 +0000'
git commit -m 'move n to m'
echo "[$?]"
export GIT_AUTHOR_DATE='1700002040 +0000' GIT_COMMITTER_DATE='1700002040 +0000'
git show --stat
echo "[$?]"
export GIT_AUTHOR_DATE='1700002100 +0000' GIT_COMMITTER_DATE='1700002100 +0000'
git show -M --format= 
echo "[$?]"
export GIT_AUTHOR_DATE='1700002160 +0000' GIT_COMMITTER_DATE='1700002160 +0000'
git log --follow --oneline m
echo "[$?]"
export GIT_AUTHOR_DATE='1700002220 +0000' GIT_COMMITTER_DATE='1700002220 +0000'
rm c.c; git status; git status -s
echo "[$?]"
export GIT_AUTHOR_DATE='1700002280 +0000' GIT_COMMITTER_DATE='1700002280 +0000'
git add -A; git status -s
echo "[$?]"
export GIT_AUTHOR_DATE='1700002340 +0000' GIT_COMMITTER_DATE='1700002340 +0000'
git commit -m 'remove c'
echo "[$?]"
export GIT_AUTHOR_DATE='1700002400 +0000' GIT_COMMITTER_DATE='1700002400 +0000'
git show --stat --summary
echo "[$?]"
export GIT_AUTHOR_DATE='1700002460 +0000' GIT_COMMITTER_DATE='1700002460 +0000'
chmod +x m; git diff; git status -s; git commit -am 'mode'
echo "[$?]"
export GIT_AUTHOR_DATE='1700002520 +0000' GIT_COMMITTER_DATE='1700002520 +0000'
git show
echo "[$?]"
export GIT_AUTHOR_DATE='1700002580 +0000' GIT_COMMITTER_DATE='1700002580 +0000'
echo noeol | tr -d '\n' > e; git add e; git commit -qm noeol; echo more >> e; git diff
echo "[$?]"
export GIT_AUTHOR_DATE='1700002640 +0000' GIT_COMMITTER_DATE='1700002640 +0000'
git commit -qam m2; git show --format=%h
echo "[$?]"
export GIT_AUTHOR_DATE='1700002700 +0000' GIT_COMMITTER_DATE='1700002700 +0000'
printf 'bin\0ary' > b; git add b; git commit -m bin; printf 'bin\0ary2' > b; git diff; git diff --stat; git diff --numstat
echo "[$?]"
export GIT_AUTHOR_DATE='1700002760 +0000' GIT_COMMITTER_DATE='1700002760 +0000'
git diff --exit-code; git diff --quiet; echo $?
echo "[$?]"
export GIT_AUTHOR_DATE='1700002820 +0000' GIT_COMMITTER_DATE='1700002820 +0000'
ln -s m link; git add link; git commit -m link; git show; ln -sf e link; git diff; git status -s
echo "[$?]"
