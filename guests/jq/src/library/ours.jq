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
    def plain: if . == null then "" elif type == "string" then . else tojson end;
    if length == 0 then "" else reduce .[1:][] as $item (.[0] | plain; . + $text + ($item | plain)) end;
def test($re): if $re | type == "array" then test($re[0]; $re[1] // "") else test($re; "") end;
def match($re): if $re | type == "array" then match($re[0]; $re[1] // "") else match($re; "") end;
def capture($re): if $re | type == "array" then capture($re[0]; $re[1] // "") else capture($re; "") end;

# Values
def toarray: if type == "array" then . else [.] end;
def isvalid(f): try (f | true) catch false;
def have_literal_numbers: true;
def have_decnum: false;
def get_search_list: [];

# Look-up
def IN(source): any(source == .; .);
def IN(source; list): any(source == list; .);
def INDEX(stream; f): reduce stream as $row ({}; .[$row | f | tostring] |= $row);
def INDEX(f): INDEX(.[]; f);
