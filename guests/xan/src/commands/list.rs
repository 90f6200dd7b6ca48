//! The table of the commands.

use super::{Command, cat, columns, convert, find, group, join, order, rows, shape, show, summary};

const fn command(
    name: &'static str,
    help: &'static str,
    options: &'static [&'static str],
    operands: (usize, usize),
    run: fn(&mut crate::call::Call) -> crate::call::Done,
) -> Command {
    Command { name, also: &[], help, options, operands, run }
}

/// All commands, in the order `--help` lists them.
pub(crate) const COMMANDS: &[Command] = &[
    command(
        "headers",
        "headers [options] [FILE ...]\nprint the names of the columns, with their numbers\n
  -j, --just-names       without the numbers\n",
        &["j,just-names"],
        (0, usize::MAX),
        columns::headers,
    ),
    command("count", "count [FILE]\ncount the rows\n", &[], (0, 1), rows::count),
    command(
        "select",
        "select COLUMNS [FILE]\nkeep some columns, in the order given
\nCOLUMNS is a list with commas: names, numbers (-1 is the last), ranges a:b, name[1] for the second
of a name, prefix*, * for all; \"quotes\" around odd names, and ! before the list for all others.\n",
        &[],
        (1, 2),
        columns::select,
    ),
    command("drop", "drop COLUMNS [FILE]\nleave some columns out\n", &[], (1, 2), columns::drop),
    command(
        "rename",
        "rename [options] NAMES [FILE]\ngive columns other names (with -n: give them names)\n
  -s, --select COLUMNS   which columns; all without it
  -p, --prefix TEXT      put it before each name; there are no NAMES then
  -x, --suffix TEXT      put it after each name; there are no NAMES then\n",
        &["s,select=", "p,prefix=", "x,suffix="],
        (0, 2),
        columns::rename,
    ),
    command(
        "enum",
        "enum [options] [FILE]\nnumber the rows in a new first column\n
  -c, --column-name NAME what to call it (index)
  -S, --start NUMBER     the first number (0)\n",
        &["c,column-name=", "S,start="],
        (0, 1),
        columns::number,
    ),
    command("behead", "behead [FILE]\nleave the names out\n", &[], (0, 1), columns::behead),
    command(
        "slice",
        "slice [options] [FILE]\nkeep the rows from one number to another, counted from 0\n
  -s, --start NUMBER     the first row kept (0)
  -e, --end NUMBER       the first row not kept any more
  -l, --len NUMBER       how many rows to keep
  -i, --index NUMBER     this row alone\n",
        &["s,start=", "e,end=", "l,len=", "i,index="],
        (0, 1),
        rows::slice,
    ),
    command(
        "head",
        "head [-l NUMBER] [FILE]\nkeep the first rows\n\n  -l, --limit NUMBER     how many (10)\n",
        &["l,limit="],
        (0, 1),
        rows::head,
    ),
    command(
        "tail",
        "tail [-l NUMBER] [FILE]\nkeep the last rows\n\n  -l, --limit NUMBER     how many (10)\n",
        &["l,limit="],
        (0, 1),
        rows::tail,
    ),
    command("reverse", "reverse [FILE]\nturn the order of the rows round\n", &[], (0, 1), rows::reverse),
    command(
        "search",
        "search [options] PATTERN [FILE]\nkeep rows in which a cell matches a regular expression\n
  -s, --select COLUMNS   look in these only
  -e, --exact            the whole cell is PATTERN, letter by letter
  -r, --regex            PATTERN is a regular expression (as it is without -e)
  -i, --ignore-case      upper and lower case are the same (in ASCII)
  -v, --invert-match     keep the other rows
  -l, --limit NUMBER     stop after so many rows\n",
        &["s,select=", "e,exact", "r,regex", "i,ignore-case", "v,invert-match", "l,limit="],
        (1, 2),
        find::search,
    ),
    command(
        "filter",
        "filter [-v] 'COLUMN OP VALUE' [FILE]\nkeep rows by a comparison
\nOP is == != < <= > >=, which compare numbers where both sides are numbers, or
eq ne lt le gt ge, which compare texts. VALUE may stand in quotes.\n
  -v, --invert-match     keep the other rows\n",
        &["v,invert-match"],
        (1, 2),
        find::filter,
    ),
    command(
        "sort",
        "sort [options] [FILE]\nput the rows in order\n
  -s, --select COLUMNS   by these; by all without it
  -N, --numeric          as numbers; what is no number comes first
  -R, --reverse          the largest first
  -u, --uniq             of rows with the same key, the first only\n",
        &["s,select=", "N,numeric", "R,reverse", "u,uniq"],
        (0, 1),
        order::sort,
    ),
    command(
        "dedup",
        "dedup [-s COLUMNS] [FILE]\nof equal rows, keep the first\n
  -s, --select COLUMNS   rows are equal if these are\n",
        &["s,select="],
        (0, 1),
        order::dedup,
    ),
    Command {
        name: "frequency",
        also: &["freq"],
        help: "frequency [options] [FILE]\ncount how often each value occurs\n
  -s, --select COLUMNS   of these columns; of all without it
  -l, --limit NUMBER     so many values a column; the others are added up as <rest> (10)
  -A, --all              all values
  -N, --no-extra         neither <empty> nor <rest>\n",
        options: &["s,select=", "l,limit=", "A,all", "N,no-extra"],
        operands: (0, 1),
        run: summary::frequency,
    },
    command(
        "stats",
        "stats [-s COLUMNS] [FILE]\ntell about each column: type, sum, mean, deviation, least, most, values\n
  -s, --select COLUMNS   about these only\n",
        &["s,select="],
        (0, 1),
        summary::stats,
    ),
    command(
        "agg",
        "agg EXPRESSION [FILE]\nmake one row of all
\nEXPRESSION is a list with commas: FUNCTION(COLUMN), and `as NAME` if it is to be called otherwise.
Functions: count, sum, mean (avg), min, max, first, last, median, stddev, cardinality.\n",
        &[],
        (1, 2),
        group::agg,
    ),
    command(
        "groupby",
        "groupby COLUMNS EXPRESSION [FILE]\nmake one row of each group of rows with equal COLUMNS
\nEXPRESSION is as for agg: 'sum(price) as total, count()'.\n",
        &[],
        (2, 3),
        group::groupby,
    ),
    command(
        "cat",
        "cat rows|columns [options] [FILE ...]\nput tables under or beside each other\n
  -p, --pad              columns: fill up the shorter tables instead of stopping with them\n",
        &["p,pad"],
        (1, usize::MAX),
        cat::cat,
    ),
    command(
        "join",
        "join [options] COLUMNS1 FILE1 COLUMNS2 FILE2\nput rows of two tables together whose columns are equal
\nCOLUMNS2 may be left out where it is the same. An empty key equals none.\n
      --left             all rows of FILE1 as well
      --right            all rows of FILE2 as well
      --full             all rows of both
      --semi             rows of FILE1 that have a partner, without it
      --anti             rows of FILE1 that have none
  -i, --ignore-case      upper and lower case are the same (in ASCII)\n",
        &["left", "right", "full", "inner", "semi", "anti", "i,ignore-case"],
        (3, 4),
        join::join,
    ),
    command("transpose", "transpose [FILE]\nmake rows of columns\n", &[], (0, 1), shape::transpose),
    command(
        "explode",
        "explode [options] COLUMNS [FILE]\nmake one row of each part of a cell\n
      --sep TEXT         what stands between the parts (|)
  -r, --rename NAME      what to call the column then\n",
        &["sep=", "r,rename="],
        (1, 2),
        shape::explode,
    ),
    command(
        "implode",
        "implode [options] COLUMNS [FILE]\nmake one row of neighbours that differ in COLUMNS only\n
      --sep TEXT         what to put between the parts (|)
  -r, --rename NAME      what to call the column then\n",
        &["sep=", "r,rename="],
        (1, 2),
        shape::implode,
    ),
    command(
        "fill",
        "fill [options] [FILE]\nfill empty cells with the value above\n
  -s, --select COLUMNS   in these only
  -v, --value TEXT       with this instead\n",
        &["s,select=", "v,value="],
        (0, 1),
        shape::fill,
    ),
    command(
        "fixlengths",
        "fixlengths [-l NUMBER] [FILE]\ngive all rows the same number of cells\n
  -l, --length NUMBER    so many, not as many as the longest has\n",
        &["l,length="],
        (0, 1),
        rows::fixlengths,
    ),
    command(
        "fmt",
        "fmt [options] [FILE]\nwrite with other separators\n
  -t, --out-delimiter CHAR  between the cells (a comma)
      --tabs             the same as -t tab
      --crlf             end lines as Windows does
      --quote-always     quotes around every cell
      --quote CHAR       this as the quote
      --escape CHAR      this before a quote within quotes, instead of doubling it\n",
        &["t,out-delimiter=", "tabs", "crlf", "quote-always", "quote=", "escape="],
        (0, 1),
        show::fmt,
    ),
    Command {
        name: "view",
        also: &["table", "v"],
        help: "view [options] [FILE]\nshow the table aligned, as plain text\n
  -s, --select COLUMNS   these only
  -l, --limit NUMBER     so many rows\n",
        options: &["s,select=", "l,limit="],
        operands: (0, 1),
        run: show::view,
    },
    Command {
        name: "flatten",
        also: &["f"],
        help: "flatten [options] [FILE]\nshow one cell a line, with the names in front\n
  -s, --select COLUMNS   these only
  -l, --limit NUMBER     so many rows\n",
        options: &["s,select=", "l,limit="],
        operands: (0, 1),
        run: show::flatten,
    },
    command(
        "to",
        "to json|ndjson|csv [options] [FILE]\nconvert to another format
\nCells that are numbers as JSON writes them become numbers, unless --strings is there.\n
      --strings          every cell becomes a string
      --nulls            empty cells become null
      --omit             empty cells are left out\n",
        &["strings", "nulls", "omit"],
        (1, 2),
        convert::to,
    ),
    command(
        "from",
        "from [-f FORMAT] [FORMAT] [FILE]\nconvert from json (an array of objects) or ndjson (an object a line)\n
  -f, --format FORMAT    json or ndjson, as the first operand otherwise\n",
        &["f,format="],
        (0, 2),
        convert::from,
    ),
    Command {
        name: "tojsonl",
        also: &[],
        help: "tojsonl [FILE]\nthe same as `to ndjson`\n",
        options: &[],
        operands: (0, 1),
        run: convert::to_lines,
    },
    Command {
        name: "jsonl",
        also: &[],
        help: "jsonl [FILE]\nthe same as `from ndjson`\n",
        options: &[],
        operands: (0, 1),
        run: convert::from_lines,
    },
];
