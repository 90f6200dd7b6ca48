//! The programs.

use super::{Case, PLAIN};

pub(crate) const CASES: &[Case] = &[
    Case { name: "the last expression is the result", code: "1 + 1", stdout: "2\n", ..PLAIN },
    Case {
        name: "what prints has its own output and nothing more",
        code: "print('a')\n5",
        stdout: "a\n",
        like_native: true,
        ..PLAIN
    },
    Case {
        name: "a module beside it is imported",
        flags: &["--dir", "."],
        code: "import helper\nprint(helper.f())",
        stdout: "42\n",
        ..PLAIN
    },
    Case {
        name: "stdin is read",
        code: "print(input()[::-1])",
        stdin: "abc\n",
        stdout: "cba\n",
        like_native: true,
        ..PLAIN
    },
    Case {
        name: "args are JSON",
        flags: &["--args", "{\"n\": 41}"],
        code: "args['n'] + 1",
        stdout: "42\n",
        ..PLAIN
    },
    Case {
        name: "json, regex, sorting and hashing as in CPython",
        code: "import json, re, hashlib, collections\n\
               d = json.loads('{\"b\": [1.5, null, true], \"a\": \"\\\\u00e9\"}')\n\
               print(json.dumps(d, sort_keys=True), re.sub(r'(\\d+)', lambda m: m[1] * 2, 'a1b22'))\n\
               print(hashlib.sha256(b'x').hexdigest(), collections.Counter('abca').most_common(1), 2 ** 200 % 997)",
        stdout: "{\"a\": \"\\u00e9\", \"b\": [1.5, null, true]} a11b2222\n\
                 2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881 [('a', 2)] 124\n",
        like_native: true,
        ..PLAIN
    },
    Case {
        name: "a command is a plain function and to be awaited",
        code: "a = commands.jq('.n', stdin='{\"n\": 1}').stdout\n\
               b = await aio.commands.jq('.n', stdin='{\"n\": 2}')\n\
               [a, b.stdout, b['status'], sh('echo x | tr x y').stdout]",
        stdout: "[\"1\\n\", \"2\\n\", 0, \"y\\n\"]\n",
        ..PLAIN
    },
    Case {
        name: "calls that are gathered run together and timers beside them",
        code: "import asyncio\n\
               async def one(n):\n    return (await aio.sh(f'echo {n}')).stdout.strip()\n\
               print(await asyncio.gather(one(1), one(2), asyncio.sleep(0.01, 'slept'), asyncio.to_thread(lambda: 4)))",
        stdout: "['1', '2', 'slept', 4]\n",
        ..PLAIN
    },
    Case {
        name: "subprocess leads to commands",
        code: "import subprocess, os\n\
               print(subprocess.run(['sort'], input=b'b\\na\\n', capture_output=True).stdout)\n\
               print(subprocess.check_output('echo out; echo err >&2', shell=True, text=True, stderr=subprocess.STDOUT))\n\
               print(subprocess.run('exit 3', shell=True).returncode, os.system('exit 4') >> 8, os.popen('echo p').read())",
        stdout: "b'a\\nb\\n'\nout\nerr\n\n3 4 p\n\n",
        like_native: true,
        ..PLAIN
    },
    Case {
        name: "what is not granted cannot be started",
        flags: &["--allow", "jq"],
        code: "import subprocess\ntry:\n    subprocess.run(['sort'])\nexcept FileNotFoundError as error:\n    print(error.errno)",
        stdout: "2\n",
        ..PLAIN
    },
    Case {
        name: "sqlite3 works",
        code: "import sqlite3\nsqlite3.connect(':memory:').execute('select 1 + 1').fetchone()[0]",
        stdout: "2\n",
        ..PLAIN
    },
    Case {
        name: "a traceback has the program's own lines",
        code: "def f():\n    1 / 0\nf()",
        status: 1,
        stderr_has: "line 2, in f\n    1 / 0\n    ~~^~~\nZeroDivisionError: division by zero",
        ..PLAIN
    },
    Case {
        name: "a wrong text is a SyntaxError",
        code: "def f(:",
        status: 1,
        stderr_has: "SyntaxError: invalid syntax",
        ..PLAIN
    },
    Case {
        name: "sys.exit is the status",
        code: "import sys\nsys.exit(3)",
        status: 3,
        like_native: true,
        ..PLAIN
    },
    Case {
        name: "a host that nobody granted names the flag",
        code: "import urllib.request\nurllib.request.urlopen('https://example.com')",
        status: 1,
        stderr_has: "--allow-host example.com grants it",
        ..PLAIN
    },
    Case {
        name: "sockets say so too",
        code: "import socket\nsocket.create_connection(('a', 1))",
        status: 1,
        stderr_has: "there are no sockets here",
        ..PLAIN
    },
    Case {
        name: "there is no fork",
        code: "import os\nos.fork()",
        status: 1,
        stderr_has: "there are no processes here",
        ..PLAIN
    },
    Case {
        name: "there are no threads",
        code: "import threading\nthreading.Thread(target=print).start()",
        status: 1,
        stderr_has: "there are no threads here",
        ..PLAIN
    },
    Case {
        name: "there is no multiprocessing",
        code: "import multiprocessing",
        status: 1,
        stderr_has: "there are no processes here",
        ..PLAIN
    },
    Case {
        name: "a pool of threads works on the spot",
        code: "from concurrent.futures import ThreadPoolExecutor as E\nwith E(2) as e: print(list(e.map(str, [1, 2])))",
        stdout: "['1', '2']\n",
        like_native: true,
        ..PLAIN
    },
    Case {
        name: "there is no /proc",
        code: "open('/proc/self/status')",
        status: 1,
        stderr_has: "FileNotFoundError",
        ..PLAIN
    },
    Case {
        name: "a loop ends with its time",
        flags: &["--timeout", "1s"],
        code: "print('before')\nwhile True: pass",
        stdout: "before\n",
        status: 124,
        stderr_has: "timed_out: 1 s have passed; --timeout allows more",
        ..PLAIN
    },
    Case {
        name: "a catastrophic pattern ends with its time",
        flags: &["--timeout", "1s"],
        code: "import re\nre.match(r'(a+)+b', 'a' * 50)",
        status: 124,
        stderr_has: "timed_out",
        ..PLAIN
    },
    Case {
        name: "memory has a limit that is named",
        flags: &["--memory", "96MiB"],
        code: "x = []\nwhile True: x.append('a' * 10**6)",
        status: 125,
        stderr_has: "--memory allows more",
        ..PLAIN
    },
    Case {
        name: "ten gigabytes are refused",
        code: "'a' * 10**10",
        status: 1,
        stderr_has: "OverflowError",
        ..PLAIN
    },
    Case {
        name: "recursion is an error and no trap",
        code: "def f(): return f()\ntry:\n    f()\nexcept RecursionError:\n    print('deep')",
        stdout: "deep\n",
        like_native: true,
        ..PLAIN
    },
    Case {
        name: "a session keeps definitions and values",
        flags: &["--session", "cases", "--forget"],
        code: "import math\ndef f(x): return math.floor(x)\nxs = [1.5]",
        ..PLAIN
    },
    Case {
        name: "and the next program of it has them",
        flags: &["--session", "cases"],
        code: "xs.append(f(2.7))\nxs",
        stdout: "[1.5, 2]\n",
        ..PLAIN
    },
    Case {
        name: "tools that are not granted are refused, and files with them",
        flags: &["--allow-tool", "commands.jq"],
        code: "import os\nprint(os.listdir('/'))\nfiles.read('/workspace/x')",
        stdout: "[]\n",
        status: 1,
        stderr_has: "tool `files.read` is not granted",
        ..PLAIN
    },
    Case {
        name: "a fixed clock and a seed give the same bytes",
        flags: &["--now", "2026-01-01T00:00:00Z", "--seed", "1"],
        code: "import datetime\nstr(datetime.datetime.now())[:16]",
        stdout: "\"2026-01-01 00:00\"\n",
        ..PLAIN
    },
];
