# What all orders come to.
BEGIN { FS = "," }
NR > 1 { total += $3 }
END { printf "%.2f\n", total }
