//! Hosts out there from the command line: `curl` and `wget` in lines, `fetch` in programs and extensions, `egress explain`,
//! and secrets that nobody sees. Every server is on loopback, and opened by name.
#![allow(clippy::unwrap_used)]

mod common;

use std::{fs, path::Path, time::Duration};

use common::{
    Said, Shell,
    web::{Server, answer, serve},
};
use serde_json::{Value, json};

/// What is written for `zipped` and a line end, with gzip.
const ZIPPED: &[u8] = b"\x1f\x8b\x08\0\0\0\0\0\x02\x03\xab\xca,(HM\xe1\x02\0\xac\0:\xc7\x07\0\0\0";

/// Answers by path, as the first match has them, and elsewhere with what was asked.
fn site() -> Server {
    serve(|head, to| {
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        match path.split('?').next().unwrap_or_default() {
            "/missing" => answer(to, "404 Not Found", "", "nothing here\n"),
            "/redirect" => answer(to, "302 Found", "location: /ok\r\n", ""),
            "/echo-redirect" => answer(to, "302 Found", "location: /a\r\n", ""),
            "/circle" => answer(to, "302 Found", "location: /circle\r\n", ""),
            "/metadata" => answer(to, "302 Found", "location: http://169.254.169.254/latest\r\n", ""),
            "/cookie" => answer(to, "200 OK", "set-cookie: c=1; Path=/\r\n", "set\n"),
            "/unavailable" => answer(to, "503 Service Unavailable", "retry-after: 0\r\n", ""),
            "/cookies" => answer(
                to,
                "200 OK",
                "set-cookie: a=1; Path=/\r\nset-cookie: b=2; Path=/; HttpOnly\r\n",
                "set\n",
            ),
            "/disposition" => answer(
                to,
                "200 OK",
                "content-disposition: attachment; filename=\"../../named.txt\"\r\n",
                "named\n",
            ),
            "/empty" => {}
            "/slow" => std::thread::sleep(Duration::from_secs(20)),
            "/cut" => drop(write_all(to, b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\nhalf")),
            "/large" => {
                let _ = write_all(to, b"HTTP/1.1 200 OK\r\ncontent-length: 3000000\r\n\r\n");
                let _ = write_all(to, &vec![b'x'; 3_000_000]);
            }
            "/gzip" => {
                let head = format!(
                    "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
                    ZIPPED.len()
                );
                let _ = write_all(to, &[head.as_bytes(), ZIPPED].concat());
            }
            "/ok" => answer(to, "200 OK", "content-type: text/plain\r\n", "fetched\n"),
            _ => answer(to, "200 OK", "content-type: application/json\r\n", &echo(head)),
        }
    })
}

fn write_all(to: &mut dyn std::io::Write, bytes: &[u8]) -> std::io::Result<()> {
    to.write_all(bytes)
}

/// Method, path, body and some headers of a request, as JSON.
fn echo(head: &str) -> String {
    let (first, rest) = head.split_once("\r\n").unwrap();
    let (lines, body) = rest.split_once("\r\n\r\n").unwrap();
    let header = |name: &str| lines.lines().find_map(|it| it.strip_prefix(&format!("{name}: ")));
    let words: Vec<&str> = first.split(' ').collect();
    json!({ "method": words[0], "path": words[1], "body": body, "type": header("content-type"),
        "auth": header("authorization"), "cookie": header("cookie"), "agent": header("user-agent"),
        "x": header("x-a"), "referer": header("referer") })
    .to_string()
        + "\n"
}

fn curl(shell: &Shell, site: &Server, line: &str) -> Said {
    let line = line.replace("URL", &site.url(""));
    shell.run(&["sh", "--allow-private", &site.place(), "-c", &line])
}

#[test]
fn curl_reaches_an_allowed_local_server_as_readme_says() {
    let (shell, site) = (Shell::sharing(), site());
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md")).unwrap();
    let line = readme.lines().find(|it| it.starts_with("drydock sh --allow-private 127.0.0.1:8000")).unwrap();
    let line = line.replace("127.0.0.1:8000", &site.place());
    let (flags, script) = line.split_once(" -c '").unwrap();
    let script = script.split('\'').next().unwrap();
    let args: Vec<&str> = flags.split(' ').skip(1).chain(["-c", script]).collect();
    let said = shell.run(&args);
    assert_eq!((said.status, said.stdout.is_empty()), (0, false), "{}", said.all());
    assert!(site.last().starts_with("GET /"), "{}", site.last());
}

#[test]
fn curl_sends_what_its_flags_say() {
    let (shell, site) = (Shell::sharing(), site());
    for (line, field, want) in [
        ("curl -s URL/a?b=1", "path", "/a?b=1"),
        ("curl -sX DELETE URL/a", "method", "DELETE"),
        ("curl -s -d a=1 -d b=2 URL/a", "body", "a=1&b=2"),
        ("curl -s -d a=1 URL/a", "type", "application/x-www-form-urlencoded"),
        ("printf 'x\\ny' | curl -s --data-binary @- URL/a", "body", "x\ny"),
        ("curl -s --data-raw @x URL/a", "body", "@x"),
        ("curl -s --data-urlencode 'q=a b&c' URL/a", "body", "q=a+b%26c"),
        ("curl -sG -d a=1 URL/a", "path", "/a?a=1"),
        ("curl -s --json '{\"n\":1}' URL/a", "type", "application/json"),
        ("curl -s -u me:pw URL/a", "auth", "Basic bWU6cHc="),
        ("curl -s -A agent/1 URL/a", "agent", "agent/1"),
        ("curl -s -e http://r.test/ URL/a", "referer", "http://r.test/"),
        ("curl -s -H 'X-A: one' URL/a", "x", "one"),
        ("curl -s -b k=v URL/a", "cookie", "k=v"),
        ("cd /tmp; curl -s -c jar URL/cookie >/dev/null; curl -s -b jar URL/a", "cookie", "c=1"),
        ("printf up > /tmp/up; curl -s -T /tmp/up URL/dir/", "path", "/dir/up"),
        ("printf up > /tmp/up; curl -s -T /tmp/up URL/dir/", "method", "PUT"),
        ("curl -s --url URL/a", "path", "/a"),
        ("curl -s URL/b/../a", "path", "/a"),
        ("curl -s -b k=v -b l=w URL/a", "cookie", "k=v;l=w"),
        (
            "cd /tmp; curl -s -c jar2 URL/cookies >/dev/null; curl -s -b jar2 -b k=v URL/a",
            "cookie",
            "a=1; b=2; k=v",
        ),
        ("curl -sL -X PUT -d x=1 URL/echo-redirect", "body", ""),
        ("curl -sL -X PUT -d x=1 URL/echo-redirect", "method", "PUT"),
        ("curl -sL --post302 -d x=1 URL/echo-redirect", "body", "x=1"),
        ("printf '{\"n\":2}' > /tmp/j; curl -s --json @/tmp/j URL/a", "body", "{\"n\":2}"),
        ("curl -s -d '' URL/a", "method", "POST"),
        ("wget -qO- --method PUT --body-data hi URL/a", "body", "hi"),
        ("wget -qO- URL/a", "method", "GET"),
        ("wget -q -O - --header 'X-A: one' --post-data p=1 URL/a", "body", "p=1"),
    ] {
        let said = curl(&shell, &site, line);
        let told: Value = serde_json::from_str(&said.stdout).unwrap_or_default();
        assert_eq!((said.status, &told[field]), (0, &json!(want)), "{line}: {}", said.all());
    }
    let said = curl(&shell, &site, "printf f > /tmp/f.txt; curl -s -F a=1 -F f=@/tmp/f.txt URL/a");
    let told: Value = serde_json::from_str(&said.stdout).unwrap();
    assert!(told["type"].as_str().unwrap().starts_with("multipart/form-data; boundary="), "{told}");
    assert!(
        told["body"].as_str().unwrap().contains("filename=\"f.txt\"\r\nContent-Type: text/plain\r\n\r\nf")
    );
}

#[test]
fn curl_shows_what_its_flags_ask_for() {
    let (shell, site) = (Shell::sharing(), site());
    for (line, want) in [
        ("curl -sL URL/redirect", "fetched\n"),
        ("curl -s -o /dev/null -w '%{http_code} %{num_redirects}\\n' -L URL/redirect", "200 1\n"),
        ("curl -s -o /tmp/out URL/ok; cat /tmp/out", "fetched\n"),
        ("cd /tmp; curl -sO URL/ok; cat ok", "fetched\n"),
        ("cd /tmp; wget -q URL/ok; cat ok", "fetched\n"),
        ("curl -s URL/ok URL/ok", "fetched\nfetched\n"),
        ("curl -s -i URL/ok | head -n 1 | tr -d '\\r'", "HTTP/1.1 200 OK\n"),
        ("curl -sI URL/ok | grep -c content-type", "1\n"),
        ("curl -s --compressed URL/gzip", "zipped\n"),
        ("curl -s URL/gzip | gunzip", "zipped\n"),
        ("curl -s URL/missing", "nothing here\n"),
        ("curl -s --fail-with-body URL/missing; echo $?", "nothing here\n22\n"),
        ("curl -s URL/large | wc -c", "3000000\n"),
        ("curl -sv URL/ok 2>&1 >/dev/null | grep -c '^< HTTP/1.1 200 OK'", "1\n"),
        ("curl -s URL/ok | tr a-z A-Z", "FETCHED\n"),
        ("cd /tmp; curl -sL -D heads -o /dev/null URL/redirect; grep -c '^HTTP/1.1' heads", "2\n"),
        ("cd /tmp; curl -s -c jar3 URL/cookies; grep -v '^# \\|^$' jar3 | cut -f 6", "set\nb\na\n"),
        ("curl -s -w '%{onerror}no %{http_code}' URL/ok", "fetched\n"),
        ("curl -sf -w '%{onerror}%{exitcode} %{http_code} %{urlnum}\\n' URL/missing; true", "22 404 0\n"),
        (
            "curl -so /dev/null -w '%{json}' URL/ok | jq -c '[.http_code, .size_download, .method]'",
            "[200,8,\"GET\"]\n",
        ),
        ("curl -so /dev/null -w '%{header_json}' URL/ok | jq -c '.[\"content-type\"]'", "[\"text/plain\"]\n"),
        ("cd /tmp; curl -sOJ URL/disposition; cat named.txt", "named\n"),
        ("mkdir -p /tmp/w; cd /tmp/w; wget -q URL/ok; wget -q URL/ok; wget -q -nc URL/ok; ls", "ok\nok.1\n"),
        ("cd /tmp/w; wget -q 'URL/ok?x=1'; ls ok\\?*", "ok?x=1\n"),
        ("cd /tmp/w; echo URL/ok > list; wget -q -O- -i list", "fetched\n"),
    ] {
        let said = curl(&shell, &site, line);
        assert_eq!((said.status, said.stdout.as_str()), (0, want), "{line}: {}", said.stderr);
    }
}

#[test]
fn curl_ends_as_curl_does() {
    let (shell, site) = (Shell::sharing(), site());
    let closed = "127.0.0.1:9";
    for (line, status) in [
        ("curl -sf URL/missing", 22),
        ("curl -s --frobnicate URL", 2),
        ("curl -sk URL", 2),
        ("curl -s http://", 3),
        ("curl -s ftp://a.test/", 1),
        ("curl -s -d @/no/such URL", 26),
        ("curl -s -o /no/such/dir/x URL/ok", 23),
        ("curl -s -m 0.3 URL/slow", 28),
        ("curl -sL --max-redirs 3 URL/circle", 47),
        ("curl -s URL/cut >/dev/null", 18),
        ("curl -s URL/empty", 52),
        ("curl -s --proto =https URL/ok", 1),
        ("curl -s -I -d x URL/ok", 2),
        ("curl -s -F nothing URL/ok", 2),
        ("curl -s -T /no/such URL/ok", 26),
        ("curl -s --max-filesize 10 URL/large", 63),
        ("curl -s http://127.0.0.1:9/", 7),
        ("wget -q -O - URL/missing", 8),
        ("wget -q -O - http://127.0.0.1:9/", 4),
    ] {
        let line = line.replace("URL", &site.url(""));
        let said =
            shell.run(&["sh", "--allow-private", &site.place(), "--allow-private", closed, "-c", &line]);
        assert_eq!(said.status, status, "{line}: {}", said.all());
    }
    let line = "curl -sS http://127.0.0.1:9/; curl -sS URL/cut; curl -sS URL/empty; curl -sk URL/";
    let line = line.replace("URL", &site.url(""));
    let said = shell.run(&["sh", "--allow-private", &site.place(), "--allow-private", closed, "-c", &line]);
    let told = said.stderr.lines().filter(|it| it.starts_with("curl: ")).collect::<Vec<_>>().join("\n");
    insta::with_settings!({ filters => vec![(r"after \d+ ms", "after N ms")] }, {
        insta::assert_snapshot!(told, @r"
        curl: (7) Failed to connect to 127.0.0.1 port 9 after N ms: Couldn't connect to server
        curl: (18) transfer closed with 95 bytes remaining to read
        curl: (52) Empty reply from server
        curl: option -k: certificates are always verified; a local server without one is reached by http and --allow-private
        curl: try 'curl --help' or 'curl --manual' for more information
        ");
    });
    let tries = |site: &Server| site.heads().iter().filter(|it| it.contains("/unavailable")).count();
    curl(&shell, &site, "curl -s --retry 2 URL/unavailable");
    assert_eq!(tries(&site), 3);
}

#[test]
fn without_a_grant_the_error_names_the_flag_that_would_help() {
    let (shell, site) = (Shell::sharing(), site());
    let said = shell.run(&["sh", "-c", "curl -s https://api.example.com/v1"]);
    assert_eq!((said.status, said.stdout.as_str()), (7, ""));
    let said = shell.run(&["sh", "-c", "curl https://api.example.com/v1"]);
    insta::assert_snapshot!(said.stderr, @r#"
    curl: (7) host `api.example.com:443` is not granted; --allow-host api.example.com on drydock's command line grants it
    drydock: grant: {"cap":"net","subjects":["api.example.com:443"]}
    drydock: hint: --allow-host api.example.com grants it
    "#);
    let said = shell.run(&["sh", "--allow-host", "example.com", "-c", &format!("curl {}", site.url("/"))]);
    assert!(said.stderr.contains(&format!("--allow-private {}", site.place())), "{}", said.stderr);
    // A redirect is a request of its own, and judged.
    let said = curl(&shell, &site, "curl -sSL URL/metadata");
    assert_eq!(said.status, 7);
    assert!(said.stderr.contains("--allow-private 169.254.169.254:80"), "{}", said.stderr);
    assert!(site.heads().len() == 1, "nothing but the first was sent");
    let said = shell.run(&["run", "--allow-host", "a.test", "--json", "curl", "-s", "http://b.test/"]);
    let told: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(told["denials"][0]["flag"], "--allow-host b.test", "{told}");
}

#[test]
fn a_program_fetches_hosts_that_were_granted_and_is_told_which_grant_it_lacks() {
    let (shell, site) = (Shell::sharing(), site());
    let js = |flags: &[&str], text: &str| {
        let text = text.replace("URL", &site.url(""));
        let args: Vec<&str> = ["js"].iter().chain(flags).chain(&["-e", &text]).copied().collect();
        shell.run(&args)
    };
    let place = site.place();
    let granted = ["--allow-private", place.as_str()];
    for (text, want) in [
        (
            "const r = await fetch('URL/ok'); return [r.ok, r.status, r.statusText, await r.text(), r.redirected]",
            json!([true, 200, "OK", "fetched\n", false]),
        ),
        (
            "const r = await fetch('URL/redirect'); return [r.url.endsWith('/ok'), r.redirected]",
            json!([true, true]),
        ),
        (
            "const r = await fetch('URL/redirect', { redirect: 'manual' }); return [r.status, r.headers.get('Location')]",
            json!([302, "/ok"]),
        ),
        (
            "const r = await fetch('URL/a', { method: 'POST', body: JSON.stringify({ n: 1 }), headers: { 'X-A': 'b' } }); const j = await r.json(); return [j.method, j.body, j.x, r.headers.get('content-type')]",
            json!(["POST", "{\"n\":1}", "b", "application/json"]),
        ),
        ("const r = await fetch('URL/ok'); return new Uint8Array(await r.arrayBuffer()).length", json!(8)),
        ("const r = await fetch('URL/missing'); return [r.ok, r.status]", json!([false, 404])),
        (
            "return (await Promise.all([1, 2, 3].map(() => fetch('URL/ok')))).map((it) => it.status)",
            json!([200, 200, 200]),
        ),
    ] {
        let said = js(&granted, text);
        let told: Value = serde_json::from_str(&said.stdout).unwrap_or_default();
        assert_eq!((said.status, told), (0, want), "{text}: {}", said.all());
    }
    let said = js(
        &[],
        "try { await fetch('https://api.example.com/') } catch (e) { return e.name + ': ' + e.message }",
    );
    insta::assert_snapshot!(said.stdout, @r#""TypeError: fetch failed: host `api.example.com:443` is not granted; --allow-host api.example.com on drydock's command line grants it""#);
}

#[test]
fn fetch_takes_requests_and_signals_and_answers_have_blobs() {
    let (shell, site) = (Shell::sharing(), site());
    for (text, want) in [
        (
            "const r = await fetch(new Request('URL/a', { method: 'PUT', body: 'x', headers: { 'x-a': '1' } })); const j = await r.json(); return [j.method, j.body, j.x]",
            json!(["PUT", "x", "1"]),
        ),
        (
            "const b = await (await fetch('URL/ok')).blob(); return [b.size, b.type, await b.text()]",
            json!([8, "text/plain", "fetched\n"]),
        ),
        (
            "try { await fetch('URL/slow', { signal: AbortSignal.timeout(200) }) } catch (e) { return e.name }",
            json!("TimeoutError"),
        ),
        (
            "const c = new AbortController(); setTimeout(() => c.abort(), 50); try { await fetch('URL/slow', { signal: c.signal }) } catch (e) { return [e.name, c.signal.aborted] }",
            json!(["AbortError", true]),
        ),
        (
            "try { await fetch('URL/redirect', { redirect: 'error' }) } catch (e) { return e.name }",
            json!("TypeError"),
        ),
    ] {
        let text = text.replace("URL", &site.url(""));
        let said = shell.run(&["js", "--allow-private", &site.place(), "-e", &text]);
        let told: Value = serde_json::from_str(&said.stdout).unwrap_or_default();
        assert_eq!((said.status, told), (0, want), "{text}: {}", said.all());
    }
}

#[test]
fn an_extension_fetches_what_its_list_allows() {
    let (shell, site) = (Shell::sharing(), site());
    let request = format!(r#"{{"url":"{}"}}"#, site.url("/ok"));
    let guest = fetching(&request);
    let file = shell.file("shop.wat", &guest);
    let place = site.place();
    let said = shell.run(&["ext", "invoke", &file, "--allow-private", &place]);
    let told: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!((&told["status"], &told["body_b64"]), (&json!(200), &json!("ZmV0Y2hlZAo=")), "{}", said.all());
    // Nothing is allowed by itself, and what would help is said.
    let said = shell.run(&["ext", "invoke", &file]);
    assert_eq!((said.status, said.stderr.contains(&format!("hint: --allow-private {place}"))), (1, true));
    // The operator's list counts for an extension without its own, and bounds one that has.
    let listed = |list: &str, flags: &[&str]| {
        let other = shell.file("other.wat", fetching(r#"{"url":"http://allowed.test/"}"#));
        let args: Vec<&str> = ["ext", "invoke", &other].iter().chain(flags).copied().collect();
        let output = shell.command(&args).env("EXT_EGRESS_ALLOWLIST", list).output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(
        !listed("x.test, allowed.test", &[]).contains("hint: --allow-host"),
        "it was admitted, and not found"
    );
    assert!(listed("x.test", &["--allow-host", "allowed.test"]).contains("grant: "));
    assert!(listed("x.test", &[]).contains("hint: --allow-host allowed.test"));
    assert!(listed("no rule/", &[]).contains("EXT_EGRESS_ALLOWLIST cannot be read"));
}

/// Hands a fetched answer on, or says its code.
fn fetching(request: &str) -> String {
    let data: String = request.bytes().map(|byte| format!("\\{byte:02x}")).collect();
    format!(
        r#"(module (import "alga" "http.fetch" (func $fetch (param i32 i32 i32) (result i32)))
          (memory (export "memory") 2) (data (i32.const 1024) "{data}") (global $next (mut i32) (i32.const 8192))
          (func (export "alloc") (param i32) (result i32)
            (global.get $next) (global.set $next (i32.add (global.get $next) (local.get 0))))
          (func (export "handler") (param i32 i32 i32) (result i32)
            (call $fetch (i32.const 1024) (i32.const {}) (local.get 2))))"#,
        request.len()
    )
}

#[test]
fn explain_says_what_would_be_decided_and_connects_nowhere() {
    let (shell, site) = (Shell::sharing(), site());
    let mut told = String::new();
    for args in [
        &["https://8.8.8.8/x"][..],
        &["https://8.8.8.8/x", "--allow-host", "8.8.8.8"],
        &["http://127.0.0.1:8080/", "--allow-host", "127.0.0.1:8080"],
        &["http://0x7f.1:8080/", "--allow-private", "127.0.0.1:8080"],
        &["http://169.254.169.254/latest", "--allow-host", "169.254.169.254"],
        &["https://1.1.1.1/v2", "--allow-url", "GET https://1.1.1.1/v1"],
        &["https://1.1.1.1/v1/x", "--allow-url", "GET https://1.1.1.1/v1", "--method", "POST"],
        &["http://user@8.8.8.8/", "--allow-host", "8.8.8.8"],
        &["ftp://8.8.8.8/", "--allow-host", "8.8.8.8"],
        &["not a url"],
        &["http://8.8.8.8/", "--allow-host", "*"],
        &["http://8.8.8.8/", "--allow-private", "localhost:80"],
        &["http://[::ffff:10.0.0.1]/", "--allow-host", "[::ffff:10.0.0.1]", "--json"],
    ] {
        let said = shell.run(&[&["egress", "explain"], args].concat());
        told.push_str(&format!("$ {}\n[{}]\n{}{}", args.join(" "), said.status, said.stdout, said.stderr));
    }
    insta::assert_snapshot!(told);
    assert_eq!(shell.run(&["egress", "explain", &site.url("/"), "--allow-private", &site.place()]).status, 0);
    assert!(site.heads().is_empty());
}

/// Every file below a folder, as one text.
fn everything(folder: &Path, into: &mut Vec<u8>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type().unwrap().is_dir() {
            true => everything(&entry.path(), into),
            false => into.extend(fs::read(entry.path()).unwrap_or_default()),
        }
    }
}

#[test]
fn a_secret_reaches_its_host_and_nobody_else_ever_sees_it() {
    let canary = "canary-7f3a9c2e5b81d604";
    // Tells everything that it was told, in the head, in the body, in base64 and with escapes.
    let site = serve(|head, to| {
        let told = head.lines().find_map(|it| it.strip_prefix("authorization: ")).unwrap_or("none");
        let escaped: String = told.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let body = format!("{told}\n{escaped}\n");
        answer(to, "200 OK", &format!("x-told: {told}\r\n"), &body);
    });
    let shell = Shell::new();
    let place = site.place();
    let header = format!("{place} Authorization: Bearer {{{{secret:API}}}}");
    let flags = ["--allow-private", &place, "--secret", "API=env:THE_TOKEN", "--secret-header", &header];
    let url = site.url("/");
    let guest = shell.file("shop.wat", fetching(&format!(r#"{{"url":"{url}"}}"#)));
    let line =
        format!("env; curl -sv -H 'Authorization: Bearer mine' {url} | tee /workspace/kept; curl -s {url}");
    let program = format!(
        "const r = await fetch('{url}'); console.log(r.headers.get('x-told')); return await r.text()"
    );
    let mut said = Vec::new();
    for (command, rest) in [
        (&["sh", "--workspace", "notes"][..], vec!["-c", line.as_str()]),
        (&["js"], vec!["-e", program.as_str()]),
        (&["ext", "invoke", &guest], vec![]),
        (&["sh", "--json"], vec!["-c", line.as_str()]),
    ] {
        let args: Vec<&str> = command.iter().chain(&flags).chain(&rest).copied().collect();
        let output = shell.command(&args).env("THE_TOKEN", canary).output().unwrap();
        assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(
            output.stdout.windows(10).any(|it| it == b"[redacted]") || command[0] == "ext",
            "{command:?}"
        );
        said.extend(output.stdout);
        said.extend(output.stderr);
    }
    for args in [&["audit", "--json", "--limit", "1000"][..], &["ws", "cat", "notes", "kept"]] {
        said.extend(shell.run(args).stdout.into_bytes());
    }
    everything(&shell.home(), &mut said);
    assert!(site.heads().iter().all(|it| it.contains(&format!("authorization: Bearer {canary}\r\n"))));
    assert_eq!(site.heads().len(), 6, "each of them asked");
    let said = String::from_utf8_lossy(&said);
    assert!(!said.contains(canary) && said.contains("[redacted]"));
    let hex: String = canary.bytes().map(|byte| format!("%{byte:02x}")).collect();
    assert!(!said.contains(&hex) && !said.contains("canary"));
}

#[test]
fn a_secret_is_never_typed_and_a_template_without_one_is_refused() {
    let shell = Shell::sharing();
    let mut told = String::new();
    for flags in [
        &["--secret", "API=hunter2-hunter2"][..],
        &["--secret", "API=env:NO_SUCH_VARIABLE"],
        &["--secret", "API=file:/no/such/file"],
        &["--secret-header", "a.test Authorization: Bearer {{secret:API}}"],
        &["--secret-header", "Authorization"],
        &["--allow-host", "*"],
        &["--allow-private", "localhost:80"],
        &["--allow-url", "https://a.test/x?y"],
    ] {
        let said = shell.run(&[&["run"], flags, &["true"]].concat());
        let first = said.stderr.lines().next().unwrap_or_default().to_owned();
        told.push_str(&format!("[{}] {first}\n", said.status));
    }
    insta::assert_snapshot!(told, @r"
    [125] drydock: error: --secret: use NAME=env:VAR, NAME=file:PATH or NAME=kept: the secret itself is never typed
    [125] drydock: error: --secret: there is no variable `NO_SUCH_VARIABLE`
    [125] drydock: error: --secret: could not read `/no/such/file`: No such file or directory (os error 2)
    [125] drydock: error: there is no secret `API`
    [2] error: invalid value 'Authorization' for '--secret-header <HOST[:PORT] HEADER>': use 'HOST[:PORT] Name: value with {{secret:NAME}}'
    [2] error: invalid value '*' for '--allow-host <HOST[:PORT]>': `*` is not a rule of --allow-host: name a host: there is no rule for all of them
    [2] error: invalid value 'localhost:80' for '--allow-private <ADDR:PORT>': `localhost:80` is not a rule of --allow-private: write one address and a port, such as 127.0.0.1:8080 or [::1]:8080
    [2] error: invalid value 'https://a.test/x?y' for '--allow-url <[METHODS ]URL>': `https://a.test/x?y` is not a rule of --allow-url: a rule has no query: it names the beginning of a path
    ");
}

/// Speaks TLS with a certificate that nobody trusts, and counts those who said something all the same.
fn self_signed() -> (std::net::SocketAddr, std::sync::Arc<std::sync::atomic::AtomicU64>) {
    use std::{
        io::Read as _,
        net::TcpListener,
        sync::{
            Arc,
            atomic::{AtomicU64, Ordering},
        },
    };
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let key = rustls::pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let (config, listener) = (Arc::new(config), TcpListener::bind("127.0.0.1:0").unwrap());
    let (address, heard) = (listener.local_addr().unwrap(), Arc::new(AtomicU64::new(0)));
    let counts = Arc::clone(&heard);
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let connection = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = rustls::StreamOwned::new(connection, stream);
            if stream.read(&mut [0]).is_ok_and(|read| read > 0) {
                counts.fetch_add(1, Ordering::Relaxed);
            }
        }
    });
    (address, heard)
}

#[test]
fn a_certificate_that_nobody_trusts_ends_curl_as_curl_ends_and_nothing_is_said() {
    let (shell, (address, heard)) = (Shell::sharing(), self_signed());
    let place = address.to_string();
    let line = format!("curl -sS -d secret https://{place}/; echo $?; wget -q -O- https://{place}/; echo $?");
    let said = shell.run(&["sh", "--allow-private", &place, "-c", &line]);
    assert_eq!((said.status, said.stdout.as_str()), (0, "60\n5\n"), "{}", said.all());
    assert!(said.stderr.contains("curl: (60) "), "{}", said.stderr);
    assert_eq!(heard.load(std::sync::atomic::Ordering::Relaxed), 0);
}
