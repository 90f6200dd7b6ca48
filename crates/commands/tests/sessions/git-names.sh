export GIT_AUTHOR_NAME='A U Thor' GIT_AUTHOR_EMAIL=author@example.com
export GIT_COMMITTER_NAME='A U Thor' GIT_COMMITTER_EMAIL=author@example.com HOME=/tmp/home
mkdir -p $HOME; export TERM=dumb
export GIT_AUTHOR_DATE='1700000000 +0000' GIT_COMMITTER_DATE='1700000000 +0000'
git init -q
echo "[$?]"
export GIT_AUTHOR_DATE='1700000060 +0000' GIT_COMMITTER_DATE='1700000060 +0000'
printf x > 'ä.txt'; printf y > 'q"uote'; printf z > $'tab\tname'; git status -s; git status; git add .; git commit -m names; git ls-files; git show --stat; git ls-tree HEAD; git diff --cached; printf 1 >> 'ä.txt'; git diff; git status --porcelain -z | tr '\0' '\n'
echo "[$?]"
export GIT_AUTHOR_DATE='1700000120 +0000' GIT_COMMITTER_DATE='1700000120 +0000'
git diff --name-only; git diff -z --name-only | tr '\0' '\n'; git ls-files -z | tr '\0' '\n'
echo "[$?]"
