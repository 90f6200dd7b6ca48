make
echo "[$?]"
make foo
echo "[$?]"
make -f nosuch
echo "[$?]"
make -C nodir
echo "[$?]"
