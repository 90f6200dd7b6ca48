#!/bin/sh
# The words of each file, one number a line.
for file in "$@"; do
    wc -w < "$file"
done
