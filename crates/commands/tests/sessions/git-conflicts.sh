export GIT_AUTHOR_NAME='A U Thor' GIT_AUTHOR_EMAIL=author@example.com
export GIT_COMMITTER_NAME='A U Thor' GIT_COMMITTER_EMAIL=author@example.com HOME=/tmp/home
mkdir -p $HOME; export TERM=dumb
export GIT_AUTHOR_DATE='1700000000 +0000' GIT_COMMITTER_DATE='1700000000 +0000'
git init -q -b main
echo "[$?]"
export GIT_AUTHOR_DATE='1700000060 +0000' GIT_COMMITTER_DATE='1700000060 +0000'
seq 1 10 > f; git add f; git commit -qm base
echo "[$?]"
export GIT_AUTHOR_DATE='1700000120 +0000' GIT_COMMITTER_DATE='1700000120 +0000'
git checkout -q -b side; sed -i 's/^5$/side/' f; git commit -qam side
echo "[$?]"
export GIT_AUTHOR_DATE='1700000180 +0000' GIT_COMMITTER_DATE='1700000180 +0000'
git checkout -q main; sed -i 's/^5$/main/' f; git commit -qam main
echo "[$?]"
export GIT_AUTHOR_DATE='1700000240 +0000' GIT_COMMITTER_DATE='1700000240 +0000'
git merge side
echo "[$?]"
export GIT_AUTHOR_DATE='1700000300 +0000' GIT_COMMITTER_DATE='1700000300 +0000'
cat f
echo "[$?]"
export GIT_AUTHOR_DATE='1700000360 +0000' GIT_COMMITTER_DATE='1700000360 +0000'
git status
echo "[$?]"
export GIT_AUTHOR_DATE='1700000420 +0000' GIT_COMMITTER_DATE='1700000420 +0000'
git status -s
echo "[$?]"
export GIT_AUTHOR_DATE='1700000480 +0000' GIT_COMMITTER_DATE='1700000480 +0000'
git diff --name-only
echo "[$?]"
export GIT_AUTHOR_DATE='1700000540 +0000' GIT_COMMITTER_DATE='1700000540 +0000'
git commit -m x
echo "[$?]"
export GIT_AUTHOR_DATE='1700000600 +0000' GIT_COMMITTER_DATE='1700000600 +0000'
git ls-files -u
echo "[$?]"
export GIT_AUTHOR_DATE='1700000660 +0000' GIT_COMMITTER_DATE='1700000660 +0000'
git ls-files -s
echo "[$?]"
export GIT_AUTHOR_DATE='1700000720 +0000' GIT_COMMITTER_DATE='1700000720 +0000'
git merge --abort; git status -s; cat f
echo "[$?]"
export GIT_AUTHOR_DATE='1700000780 +0000' GIT_COMMITTER_DATE='1700000780 +0000'
git merge side; printf '1\nresolved\n' > f; git add f; git status; git commit --no-edit
echo "[$?]"
export GIT_AUTHOR_DATE='1700000840 +0000' GIT_COMMITTER_DATE='1700000840 +0000'
git log --oneline; git cat-file -p HEAD
echo "[$?]"
export GIT_AUTHOR_DATE='1700000900 +0000' GIT_COMMITTER_DATE='1700000900 +0000'
git checkout -q -b x HEAD~1; git rm -q f; git commit -qm 'rm f'; git checkout -q main; echo more >> f; git commit -qam more
echo "[$?]"
export GIT_AUTHOR_DATE='1700000960 +0000' GIT_COMMITTER_DATE='1700000960 +0000'
git merge x
echo "[$?]"
export GIT_AUTHOR_DATE='1700001020 +0000' GIT_COMMITTER_DATE='1700001020 +0000'
git status
echo "[$?]"
export GIT_AUTHOR_DATE='1700001080 +0000' GIT_COMMITTER_DATE='1700001080 +0000'
git status -s
echo "[$?]"
export GIT_AUTHOR_DATE='1700001140 +0000' GIT_COMMITTER_DATE='1700001140 +0000'
git merge --abort
echo "[$?]"
export GIT_AUTHOR_DATE='1700001200 +0000' GIT_COMMITTER_DATE='1700001200 +0000'
git checkout -q -b p; echo 1 > p; git add p; git commit -qm p1; echo 2 >> p; git commit -qam p2; git checkout -q main
echo "[$?]"
export GIT_AUTHOR_DATE='1700001260 +0000' GIT_COMMITTER_DATE='1700001260 +0000'
git cherry-pick p
echo "[$?]"
export GIT_AUTHOR_DATE='1700001320 +0000' GIT_COMMITTER_DATE='1700001320 +0000'
git status
echo "[$?]"
export GIT_AUTHOR_DATE='1700001380 +0000' GIT_COMMITTER_DATE='1700001380 +0000'
git cherry-pick --abort; git status -s
echo "[$?]"
export GIT_AUTHOR_DATE='1700001440 +0000' GIT_COMMITTER_DATE='1700001440 +0000'
git cherry-pick p~1
echo "[$?]"
export GIT_AUTHOR_DATE='1700001500 +0000' GIT_COMMITTER_DATE='1700001500 +0000'
git log --oneline
echo "[$?]"
export GIT_AUTHOR_DATE='1700001560 +0000' GIT_COMMITTER_DATE='1700001560 +0000'
git revert HEAD --no-edit
echo "[$?]"
export GIT_AUTHOR_DATE='1700001620 +0000' GIT_COMMITTER_DATE='1700001620 +0000'
git log -1; git show --stat --format=
echo "[$?]"
export GIT_AUTHOR_DATE='1700001680 +0000' GIT_COMMITTER_DATE='1700001680 +0000'
git checkout -q -b aa; echo A > new; git add new; git commit -qm A; git checkout -q main; echo B > new; git add new; git commit -qm B; git merge aa
echo "[$?]"
export GIT_AUTHOR_DATE='1700001740 +0000' GIT_COMMITTER_DATE='1700001740 +0000'
cat new
echo "[$?]"
export GIT_AUTHOR_DATE='1700001800 +0000' GIT_COMMITTER_DATE='1700001800 +0000'
git reset --hard; git status -s
echo "[$?]"
