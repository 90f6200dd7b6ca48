//! Lines that try to take more than they may: what each does, and its text. Those that would change what the next line
//! does, by a trap, another `:` or a large environment, do so in a subshell.

pub(crate) type Attack = (&'static str, &'static str);

/// Work that doubles inside one word.
pub(crate) const SUMS_AND_PATTERNS: &[Attack] = &[
    ("arithmetic that doubles", r#"x=1; for i in {1..60}; do x=$x+$x; done; echo $((x))"#),
    (
        "expressions that name each other twice",
        r#"x0=1; for i in {1..60}; do declare x$i="x$((i-1))+x$((i-1))"; done; echo $((x60))"#,
    ),
    ("expression that names itself", r#"x=x; echo $((x))"#),
    ("expression nested in parentheses", r#"x=$(printf '(%.0s' {1..100000}); echo $((${x}1))"#),
    (
        "a job that is loaded while an expression doubles",
        r#"x0=1; for i in {1..60}; do declare x$i="x$((i-1))+x$((i-1))"; done; sleep 100 & echo $((x60))"#,
    ),
    ("power loop", r#"x=2; while :; do x=$((x**63%1000000007+2)); done"#),
    ("stars of stars", r#"s=$(printf 'a%.0s' {1..5000}); [[ $s =~ (a*)*b ]]; echo $?"#),
    (
        "alternatives of alternatives",
        r#"s=$(printf 'a%.0s' {1..30000}); [[ $s =~ ^(a|a|aa|aaa)+$ ]]; [[ $s =~ (x+x+)+y|((a{1,100}){1,100}){1,100}b ]]; echo $?"#,
    ),
    ("counted regex bomb", r#"[[ aaaa =~ ((((a{1,255}){1,255}){1,255}){1,255}) ]]; echo $?"#),
    (
        "patterns of stars",
        r#"s=$(printf 'a%.0s' {1..3000}); [[ $s == *a*a*a*a*a*a*a*a*a*a*a*a*a*a*b ]]; echo $?"#,
    ),
    (
        "patterns of extended stars",
        r#"shopt -s extglob; s=$(printf 'a%.0s' {1..3000}); [[ $s == *(*(*(a|aa)|a)|+(a|+(a)))b ]]; echo $?; [[ $s == !(!(!(*a*)*a*)*b) ]]; echo ${s##+(a|aa|+(a))b}"#,
    ),
    ("replacement that doubles", r#"x=a; while :; do x=${x//a/aa}; done"#),
    (
        "replacement with a pattern",
        r#"x=$(printf 'ab%.0s' {1..20000}); while :; do y=${x//*a*b*c/x}; y=${x//@(a|b)*(ab)c/}; done"#,
    ),
    (
        "case of many",
        r#"eval "case x in $(printf '*(a|b|*(c))%.0s|' {1..5000}a) ) ;; esac"; shopt -s extglob; while :; do case $RANDOM$RANDOM in *1*2*3*4*5*6*7*8) ;; esac; done"#,
    ),
    ("upper and lower", r#"x=a; while :; do x=${x^^}${x,,}; done"#),
    ("quoted for reuse", r#"x="'"; while :; do x=${x@Q}; done"#),
    ("prompt expansion", r#"x='\w$x'; while :; do x=$x$x; y=${x@P}; done"#),
    (
        "slices",
        r#"x=$(printf 'a%.0s' {1..100000}); x=$x$x$x$x$x$x$x$x$x$x; for ((i=0;;i++)); do y=${x:i:500000}; done"#,
    ),
    ("indirection", r#"x=x; echo ${!x}; y='a[$(while :; do :; done)]'; echo $((y))"#),
    (
        "references in a circle",
        r#"declare -n a=b; declare -n b=a; echo $a; a=1; declare -n c=c; c=2; echo $c"#,
    ),
];

/// Words, variables and texts that grow, and depth.
pub(crate) const WORDS_AND_TEXTS: &[Attack] = &[
    ("arguments that double", r#"f() { f "$@" "$@"; }; f a"#),
    ("positional parameters that double", r#"set -- a; while :; do set -- "$@" "$@"; done"#),
    (
        "aliases of each other",
        r#"shopt -s expand_aliases; alias a='b b'; alias b='a a'
a
eval a"#,
    ),
    (
        "aliases that grow",
        r#"shopt -s expand_aliases
for i in {1..60}; do alias a$i="a$((i+1)) a$((i+1)) "; done
eval a1; eval a1"#,
    ),
    ("string that grows", r#"until false; do x+=aaaaaaaa; done"#),
    ("string that doubles", r#"x=a; while :; do x=$x$x; done"#),
    ("array that grows", r#"a=(); while :; do a+=("${#a[@]}" x y z); done"#),
    ("array of huge indexes", r#"i=1; while :; do a[i*=3]=x; a[i%9223372036854775807]=y; done"#),
    ("array that doubles", r#"a=(x); while :; do a=("${a[@]}" "${a[@]}"); done"#),
    ("table that grows", r#"declare -A m; i=0; while :; do i=$((i+1)); m[k$i]=v$i; done"#),
    ("braces of a hundred million", r#"echo {1..100000000} | tail -c 5"#),
    (
        "braces of braces",
        r#"echo {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}"#,
    ),
    ("a field of a gigabyte", r#"printf %1000000000s x"#),
    (
        "fields of a gigabyte into a variable",
        r#"printf -v x %1000000000s; echo ${#x}; printf -v y '%*s' 2147483647 a"#,
    ),
    ("printf that goes on", r#"while :; do printf '%s%s%s' {1..10000} > /dev/null; done"#),
    ("eval of eval", r#"x='eval "$x"'; eval "$x""#),
    ("eval that doubles", r#"x=:; while :; do x="eval '$x'; eval '$x'"; eval "$x"; done"#),
    ("eval of a long text", r#"x=:; while :; do x="$x; $x"; eval "$x"; done"#),
    (
        "subshells ten thousand deep",
        r#"x=:; for i in {1..14}; do x="($x)"; done; eval "$(printf '(%.0s' {1..10000}):$(printf ')%.0s' {1..10000})""#,
    ),
    (
        "command substitutions ten thousand deep",
        r#"eval "$(printf '$(%.0s' {1..10000}):$(printf ')%.0s' {1..10000})""#,
    ),
    ("recursion without end", r#"f() { f; }; f"#),
    ("recursion of subshells", r#"f() { (f); }; f"#),
    ("recursion of substitutions", r#"f() { x=$(f); }; f"#),
    ("names of variables", r#"( i=0; while :; do i=$((i+1)); export v$i=$i; done )"#),
    ("functions that are made", r#"i=0; while :; do i=$((i+1)); eval "f$i() { echo $i; }"; done"#),
    ("hash table in a loop", r#"i=0; while :; do i=$((i+1)); hash -p /bin/x$i x$i; done"#),
    ("completions in a loop", r#"i=0; while :; do i=$((i+1)); complete -W "a b c" c$i; done"#),
    ("history", r#"set -o history; while :; do history -s "$(printf 'a%.0s' {1..1000})"; done"#),
    ("getopts and shift", r#"set -- {1..200000}; while shift; do OPTIND=1; getopts abc o; done"#),
];

/// Jobs, pipes, descriptors, files and waits.
pub(crate) const JOBS_AND_STREAMS: &[Attack] = &[
    ("read of a gigabyte", r#"yes | read -N 1000000000 x; echo ${#x}"#),
    ("read of a file without end", r#"mapfile -n 0 a < <(yes)"#),
    ("here-strings that double", r#"x=a; while :; do x=$(cat <<<"$x$x"); done"#),
    ("jobs by the thousand", r#"for i in {1..5000}; do sleep 100 & done; wait"#),
    ("jobs of builtins by the thousand", r#"for i in {1..5000}; do (while :; do :; done) & done; wait"#),
    ("loop of nothing", r#"while :; do :; done"#),
    ("recursion of two", r#"f() { g | g; }; g() { f & f; }; f"#),
    ("fork bomb", r#"( :() { : | : & }; : )"#),
    (
        "globs of many names",
        r#"shopt -s globstar; mkdir -p /tmp/a/a/a/a/a/a /tmp/b/b/b/b; for i in {1..300}; do : > /tmp/a/a/f$i; done; while :; do echo **/**/**/** > /dev/null; cd /tmp; done"#,
    ),
    ("traps that loop", r#"trap 'trap "while :; do :; done" EXIT; exit' EXIT; exit"#),
    (
        "traps of errors that err",
        r#"( trap 'false; false' ERR; trap 'false; true' DEBUG; while :; do false; done )"#,
    ),
    (
        "descriptors to a hundred thousand",
        r#"for i in {3..100000}; do eval "exec $i>/dev/null"; done; for i in {3..100000}; do eval "exec $i<<<x"; done"#,
    ),
    ("descriptors of pipes", r#"for i in {3..100000}; do eval "exec $i< <(sleep 100)"; done"#),
    ("mapfile of yes", r#"yes | mapfile a; echo ${#a[@]}"#),
    ("process substitutions", r#"while :; do cat <(cat <(cat <(yes))) > /dev/null & done"#),
    ("process substitutions that are kept", r#"for i in {1..10000}; do : <(sleep 100) >(sleep 100); done"#),
    (
        "here-documents in a loop",
        r#"x=$(printf 'a%.0s' {1..100000}); x=$x$x$x$x$x$x$x$x$x$x; while :; do cat > /dev/null <<EOF
$x
EOF
done"#,
    ),
    ("a pipeline of thousands", r#"eval "yes $(printf '| cat %.0s' {1..3000}) > /dev/null""#),
    ("a pipeline of builtins", r#"eval ": $(printf '| while read x; do echo $x; done %.0s' {1..500})""#),
    ("coproc", r#"for i in {1..3000}; do coproc c$i { yes; }; done"#),
    ("output without end", r#"while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done"#),
    ("yes", r#"yes"#),
    ("captured yes", r#"x=$(yes); echo ${#x}"#),
    ("captured zeros", r#"x=$(cat /dev/zero | tr '\0' a); echo ${#x}"#),
    ("shells in shells", r#"f='bash -c "$f"'; export f; bash -c "$f""#),
    ("shells of xargs", r#"yes sh | xargs -n1 -P8 sh -c 'while :; do :; done'"#),
    ("environment that doubles", r#"( export X=a; while :; do X=$X$X; env > /dev/null; done )"#),
    ("sleep", r#"sleep 100"#),
    ("read that waits", r#"read x < <(sleep 100)"#),
    ("wait for nobody", r#"sleep 100 & wait"#),
    ("signals", r#"trap : TERM INT HUP; while :; do kill -TERM $$; kill -INT $$; done"#),
    ("times of set", r#"while :; do set > /dev/null; declare -p > /dev/null; done"#),
    ("file that grows", r#"while :; do printf '%100000s' x >> f; done"#),
    ("many files", r#"i=0; while :; do i=$((i+1)); : > f$i; done"#),
    ("deep directories", r#"while :; do mkdir d; cd d; done"#),
];
