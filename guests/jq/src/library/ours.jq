# What jq has and jaq lacks, or does differently. Loaded after jaq's own definitions, so a name that
# is defined here hides jaq's.

# Ends. The native function prints as jq does.
def halt_error($status): halt_error_native($status);
def halt_error: halt_error_native(5);

# Formats
def @csv: escape_csv;
def @tsv: escape_tsv;
def @html: tostring | escape_html;
def @base32: tostring | encode_base32;
def @base32d: tostring | decode_base32;
def @base64d: tostring | decode_base64;
def @json: tojson;
def format($name):
    if   $name == "csv"     then @csv
    elif $name == "tsv"     then @tsv
    elif $name == "html"    then @html
    elif $name == "json"    then @json
    elif $name == "text"    then @text
    elif $name == "sh"      then @sh
    elif $name == "uri"     then @uri
    elif $name == "base64"  then @base64
    elif $name == "base64d" then @base64d
    elif $name == "base32"  then @base32
    elif $name == "base32d" then @base32d
    else error("\($name) is not a valid format") end;

# Paths and assignments. The native functions make what is missing; the compiler turns every
# assignment operator into a call of one of these.
def leaf_paths: paths(scalars);
def setpath($path; $value): setpath_native($path; $value);
def delpaths($paths): delpaths_native($paths);
def del(f): [path(f)] as $paths | delpaths_native($paths);
def _assign(paths; $value): [path(paths)] as $paths | assign_at($paths; $value);
def _modify(paths; f): [path(paths)] as $paths | modify_at($paths; f);
def pick(f): . as $top | reduce path(f) as $path (null; setpath($path; $top | getpath($path)));
def walk(f):
    def all:
        (if type == "object" then map_values(all) elif type == "array" then map(all) else . end) | f;
    all;

# Objects. Entries may be spelled in any of jq's ways.
def from_entries:
    def first_of($names): . as $entry | first(($names[] | select(. as $name | $entry | has($name))), null);
    reduce .[] as $entry ({};
        . + { ($entry | .[first_of(["key", "k", "name", "Name", "Key", "K"]) // "key"]
               | if type == "string" then . else tojson end):
              ($entry | .[first_of(["value", "v", "Value", "V"]) // "value"]) });
def with_entries(f): to_entries | map(f) | from_entries;

# Streams
def tostream:
    def events($path):
        if (type == "array" or type == "object") and length > 0 then
            . as $top
            | (keys_unsorted[] as $key | $top[$key] | events($path + [$key])),
              [$path + [keys_unsorted[-1]]]
        else [$path, .] end;
    events([]);
def fromstream(f):
    foreach f as $event ({value: null, whole: false};
        (if .whole then {value: null, whole: false} else . end)
        | if $event | length == 2 then
              setpath(["value"] + $event[0]; $event[1]) | .whole = ($event[0] | length == 0)
          else .whole = ($event[0] | length == 1) end;
        if .whole then .value else empty end);
def truncate_stream(stream):
    . as $depth | null | stream | . as $event
    | if ($event[0] | length) > $depth then [$event[0][$depth:]] + $event[1:] else empty end;

# Text
def ascii: [.] | implode;
def ltrimstr($fix):
    if type == "string" and ($fix | type) == "string" and startswith($fix) then .[($fix | length):] else . end;
def rtrimstr($fix):
    if type == "string" and ($fix | type) == "string" and $fix != "" and endswith($fix)
    then .[:length - ($fix | length)] else . end;
def trimstr($fix): ltrimstr($fix) | rtrimstr($fix);
def join($text):
    def plain:
        if . == null then "" elif type == "string" then . elif . < "" then tojson
        else error("string (\"\") and \(described) cannot be added") end;
    if length == 0 then "" else reduce .[1:][] as $item (.[0] | plain; . + $text + ($item | plain)) end;
def startswith($text):
    if type == "string" and ($text | type) == "string" then .[:($text | length)] == $text
    else error("startswith() requires string inputs") end;
def endswith($text):
    if type == "string" and ($text | type) == "string"
    then ($text | length) as $n | $n == 0 or .[-$n:] == $text
    else error("endswith() requires string inputs") end;
def ascii_downcase:
    if type == "string" then explode | map(if 65 <= . and . <= 90 then . + 32 end) | implode
    else error("explode input must be a string") end;
def ascii_upcase:
    if type == "string" then explode | map(if 97 <= . and . <= 122 then . - 32 end) | implode
    else error("explode input must be a string") end;
def tostring: if type == "string" then . else tojson end;
def tonumber: if type == "number" then . else number_of_text end;
def fromjson: if type == "string" then json_of_text else error("\(described) cannot be parsed as JSON") end;
def splits($re): split($re; null)[];
def ltrim: if type == "string" then until(test("^\\s") | not; .[1:]) else error("\(described) cannot be trimmed") end;
def rtrim: if type == "string" then until(test("\\s$") | not; .[:-1]) else error("\(described) cannot be trimmed") end;
def trim: ltrim | rtrim;

# Regular expressions: a pattern may be an array of itself and its flags.
def _pattern($re; $flags; $more):
    if ($re | type) == "array" then [$re[0], ($re[1] // "") + $more]
    elif ($re | type) == "string" then [$re, ($flags // "") + $more]
    else error("\($re | kind) not a string or array") end;
def _matches($re; $flags; $more): _pattern($re; $flags; $more) as [$re, $flags] | match_native($re; $flags);
def match($re; $flags): _matches($re; $flags; "")[];
def match($re): match($re; null);
def test($re; $flags): _matches($re; $flags; "") | length > 0;
def test($re): test($re; null);
def _named: [.captures[] | select(.name != null) | {(.name): .string}] | add + {};
def capture($re; $flags): match($re; $flags) | _named;
def capture($re): capture($re; null);
def scan($re; $flags):
    _matches($re; $flags; "g")[] | if .captures | length > 0 then [.captures[].string] else .string end;
def scan($re): scan($re; null);
def split($re; $flags):
    . as $text
    | [_matches($re; $flags; "g")[] | [.offset, .offset + .length]] as $found
    | [0, $found[][]] + [length] as $ends
    | [range(0; $ends | length; 2) as $at | $text[$ends[$at]:$ends[$at + 1]]];
def split($text):
    if type == "string" and ($text | type) == "string" then . / $text
    else error("split input and separator must be strings") end;
def splits($re; $flags): split($re; $flags)[];
def splits($re): splits($re; null);
def _sub($re; with; $flags; $more):
    . as $text
    | _matches($re; $flags; $more) as $found
    | [$found[] | [_named | with]] as $new
    | ([$new[] | length] | max // 1) as $results
    | range(0; $results) as $result
    | reduce range(0; $found | length) as $at ({text: "", end: 0};
        .text += $text[.end:$found[$at].offset]
            + ($new[$at][$result]
               | if type == "string" then . else error("\(described) cannot be added to a string") end)
        | .end = $found[$at].offset + $found[$at].length)
    | .text + $text[.end:];
def sub($re; with; $flags): _sub($re; with; $flags; "");
def sub($re; with): _sub($re; with; null; "");
def gsub($re; with; $flags): _sub($re; with; $flags; "g");
def gsub($re; with): _sub($re; with; null; "g");

# Values
def input: first(next_input, error("break"));
def has($key):
    if (type == "object" and ($key | type) == "string") or (type == "array" and ($key | type) == "number")
    then has_native($key)
    else error("Cannot check whether \(kind) has a \($key | kind) key") end;
def in(xs): . as $key | xs | has($key);
def keys_unsorted:
    if . >= [] then keys_native else error("\(described) has no keys") end;
def keys: keys_unsorted | sort;
def contains($part):
    if kind == ($part | kind) then contains_native($part)
    else error("\(described) and \($part | described) cannot have their containment checked") end;
def inside(xs): . as $part | xs | contains($part);
def indices($part): if . == null then null else indices_native($part) end;
def index($part): if . == null then null else indices_native($part)[0] end;
def rindex($part): if . == null then null else indices_native($part)[-1:][0] end;
def reverse:
    if . == null or . == {} then [] elif type == "string" and . == "" then []
    elif type == "string" then error("Cannot index string with number") else reverse_native end;
def flatten($depth):
    def flat($depth): .[] | if type == "array" and $depth > 0 then flat($depth - 1) else . end;
    if $depth < 0 then error("flatten depth must not be negative") else [flat($depth)] end;
def flatten: flatten(1000000000);
def utf8bytelength:
    if type == "string" then utf8bytelength_native
    else error("\(described) only strings have UTF-8 byte length") end;
def implode:
    if type != "array" then error("implode input must be an array")
    else map(if type != "number"
             then error("\(described) can't be imploded, unicode codepoint needs to be numeric")
             elif (. >= 55296 and . < 57344) or . > 1114111 or . < 0 then 65533 else . end)
         | implode_native end;
def limit($count; f): if $count < 0 then f else limit_native($count; f) end;
def abs: if type == "number" then if . < 0 then - . else . end else error("\(described) has no absolute value") end;
def getpath($path):
    if ($path | type) != "array" then error("Path must be specified as an array")
    else reduce $path[] as $step (.; .[$step]) end;
def range($from; $to; $by):
    if [$from, $to, $by] | all(type == "number") then range_native($from; $to; $by)
    else error("Range bounds must be numeric") end;
def range($from; $to): range($from; $to; 1);
def range($to): range(0; $to; 1);
def @sh:
    [if type == "array" then .[] end
     | if type == "string" then "'\(escape_sh)'"
       elif . >= [] then error("\(described) can not be escaped for shell") else tojson end] | join(" ");

# Dates
def strftime($format):
    if type == "number" or (type == "array" and length >= 6 and all(.[]; type == "number"))
    then strftime_native($format
         | gsub("%c"; "%a %b %e %H:%M:%S %Y") | gsub("%x"; "%m/%d/%y") | gsub("%X"; "%H:%M:%S"))
    else error("strftime/1 requires parsed datetime inputs") end;
def strptime($format):
    if type != "string" then error("strptime/1 requires string inputs and arguments")
    else . as $text
    | try strptime_native($format) catch error("date \"\($text)\" does not match format \"\($format)\"") end;
def todate: strftime("%Y-%m-%dT%H:%M:%SZ");
def todateiso8601: strftime("%Y-%m-%dT%H:%M:%SZ");
def fromdateiso8601: strptime("%Y-%m-%dT%H:%M:%SZ") | mktime;
def fromdate: fromdateiso8601;
def date: todate;
def dateadd(unit; $more): . + $more;
def datesub(unit; $less): . - $less;

# What rewritten operators call
def _no_object: if . >= {} then error("Cannot index object with number") else . end;
def _slice_or_null(slice): if . == null then . else slice end;
def _last_or_null(f): reduce f as $each (null; $each);

def toarray: if type == "array" then . else [.] end;
def isvalid(f): try (f | true) catch false;
def have_literal_numbers: true;
def have_decnum: true;
def get_search_list: [];

# Look-up
def IN(source): any(source == .; .);
def IN(source; list): any(source == list; .);
def INDEX(stream; f): reduce stream as $row ({}; .[$row | f | tostring] |= $row);
def INDEX(f): INDEX(.[]; f);
