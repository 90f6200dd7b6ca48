export GIT_AUTHOR_NAME='A U Thor' GIT_AUTHOR_EMAIL=author@example.com
export GIT_COMMITTER_NAME='A U Thor' GIT_COMMITTER_EMAIL=author@example.com HOME=/tmp/home
mkdir -p $HOME; export TERM=dumb
export GIT_AUTHOR_DATE='1700000000 +0000' GIT_COMMITTER_DATE='1700000000 +0000'
git init -q
echo "[$?]"
export GIT_AUTHOR_DATE='1700000060 +0000' GIT_COMMITTER_DATE='1700000060 +0000'
cat > p.py <<'X'
class A:
    def one(self):
        return 1

    def two(self):
        return 2

class B:
    def one(self):
        return 1
X
echo "[$?]"
export GIT_AUTHOR_DATE='1700000120 +0000' GIT_COMMITTER_DATE='1700000120 +0000'
git add .; git commit -qm 1
echo "[$?]"
export GIT_AUTHOR_DATE='1700000180 +0000' GIT_COMMITTER_DATE='1700000180 +0000'
cat > p.py <<'X'
class A:
    def one(self):
        return 1

    def mid(self):
        return 15

    def two(self):
        return 22

class B:
    def zero(self):
        return 0

    def one(self):
        return 1
X
echo "[$?]"
export GIT_AUTHOR_DATE='1700000240 +0000' GIT_COMMITTER_DATE='1700000240 +0000'
git diff; git diff -w; git diff --stat; git diff -R; git diff --no-prefix; git diff --full-index; git diff --patch-with-stat
echo "[$?]"
export GIT_AUTHOR_DATE='1700000300 +0000' GIT_COMMITTER_DATE='1700000300 +0000'
printf 'a\nb\n\nc\n' > s; git add s; git commit -qam 2; printf 'a \n  b\n\nc\n' > s; git diff; git diff -w; git diff -b; git diff --ignore-space-at-eol; git diff -w --stat
echo "[$?]"
export GIT_AUTHOR_DATE='1700000360 +0000' GIT_COMMITTER_DATE='1700000360 +0000'
git add .; git commit -qm 3; seq 1 2000 > big; git add big; git commit -qm big; seq 1 2000 | sed 's/00$/zz/' > big; git diff --stat; git diff --shortstat; git diff | head -20; mkdir -p very/long/directory/name/that/goes/on/and/on/for/a/while; seq 1 200 > very/long/directory/name/that/goes/on/and/on/for/a/while/file.txt; git add .; git commit -m long; git show --stat
echo "[$?]"
