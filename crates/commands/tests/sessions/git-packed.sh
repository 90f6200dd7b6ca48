tar xf packed.tar; rm packed.tar
git status
echo "[$?]"
git log --oneline
echo "[$?]"
git diff HEAD~3 HEAD --stat
echo "[$?]"
git checkout side
echo "[$?]"
git log --oneline
echo "[$?]"
git branch
echo "[$?]"
git tag -n
echo "[$?]"
git cat-file -p HEAD~1:f | tail -2
echo "[$?]"
git show t1 --stat
echo "[$?]"
git branch -D master
echo "[$?]"
git checkout t1; git branch -D side; git branch
echo "[$?]"
git ls-files -s
echo "[$?]"
