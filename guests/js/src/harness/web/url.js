// URL, as the web's standard reads and writes one. Hosts that are not ASCII are normalised by NFKC, which is
// most of what the standard's own tables do.
(function () {
  const { encode, decode, searchOf, refillSearch } = this;
  const PORTS = { __proto__: null, 'http:': '80', 'https:': '443', 'ws:': '80', 'wss:': '443', 'ftp:': '21', 'file:': '' };
  const isSpecial = (url) => url.scheme in PORTS;
  const fail = (text) => { throw new TypeError(`Invalid URL: ${String(text).slice(0, 80)}`); };

  // What has to be written as %XX, from the least to the most.
  const CONTROL = /[^\x20-\x7e]/gu, FRAGMENT = /[^\x21\x23-\x3b\x3d\x3f-\x5f\x61-\x7e]/gu;
  const QUERY = /[^\x21\x24-\x3b\x3d\x3f-\x7e]/gu, SPECIAL_QUERY = /[^\x21\x24-\x26\x28-\x3b\x3d\x3f-\x7e]/gu;
  const PATH = /[^\x21\x24-\x3b\x3d\x40-\x5d\x5f\x61-\x7a\x7c\x7e]/gu;
  const USER = /[^\x21\x24-\x2e\x30-\x39\x41-\x5a\x5f\x61-\x7a\x7e]/gu;
  const hex = (code) => '%' + code.toString(16).toUpperCase().padStart(2, '0');
  const coded = (text, signs) => text.replace(signs, (it) => {
    const code = it.codePointAt(0);
    return code < 0x80 ? hex(code) : encodeURIComponent(it);
  });
  const bytesOf = (text) => {
    const from = encode(text), to = [];
    for (let at = 0; at < from.length; at++) {
      const pair = from[at] === 37 ? String.fromCharCode(from[at + 1], from[at + 2]) : '';
      to.push(/^[0-9a-fA-F]{2}$/.test(pair) ? (at += 2, parseInt(pair, 16)) : from[at]);
    }
    return new Uint8Array(to);
  };

  // The name of a label that is not ASCII.
  function punycode(label) {
    const signs = Array.from(label, (it) => it.codePointAt(0));
    let out = signs.filter((it) => it < 128).map((it) => String.fromCodePoint(it)).join('');
    const basic = out.length;
    if (basic) out += '-';
    const digit = (it) => String.fromCharCode(it < 26 ? it + 97 : it + 22);
    let n = 128, delta = 0, bias = 72, done = basic;
    while (done < signs.length) {
      const next = Math.min(...signs.filter((it) => it >= n));
      delta += (next - n) * (done + 1);
      n = next;
      for (const sign of signs) {
        if (sign < n) delta++;
        if (sign !== n) continue;
        let q = delta;
        for (let k = 36; ; k += 36) {
          const t = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;
          if (q < t) break;
          out += digit(t + (q - t) % (36 - t));
          q = Math.floor((q - t) / (36 - t));
        }
        out += digit(q);
        delta = done === basic ? Math.floor(delta / 700) : Math.floor(delta / 2);
        delta += Math.floor(delta / (done + 1));
        let k = 0;
        for (; delta > 455; k += 36) delta = Math.floor(delta / 35);
        bias = k + Math.floor(36 * delta / (delta + 38));
        delta = 0;
        done++;
      }
      delta++;
      n++;
    }
    return 'xn--' + out;
  }

  function ipv4(host) {
    const parts = host.split('.');
    if (parts.at(-1) === '' && parts.length > 1) parts.pop();
    if (!/^(\d+|0[xX][0-9a-fA-F]*)$/.test(parts.at(-1))) return null;
    if (parts.length > 4) fail(host);
    const numbers = parts.map((it) => {
      if (/^0[xX][0-9a-fA-F]*$/.test(it)) return it.length === 2 ? 0 : Number(it);
      if (/^0[0-7]+$/.test(it)) return parseInt(it, 8);
      if (/^(0|[1-9]\d*)$/.test(it)) return Number(it);
      return fail(host);
    });
    const last = numbers.pop();
    if (numbers.some((it) => it > 255) || last >= 256 ** (4 - numbers.length)) fail(host);
    let all = last;
    numbers.forEach((it, at) => { all += it * 256 ** (3 - at); });
    return [24, 16, 8, 0].map((shift) => Math.floor(all / 2 ** shift) % 256).join('.');
  }

  function ipv6(text) {
    const halves = text.split('::');
    if (halves.length > 2) fail(text);
    const pieces = (half, isLast) => {
      if (half === '') return [];
      const parts = half.split(':');
      return parts.flatMap((it, at) => {
        if (isLast && at === parts.length - 1 && it.includes('.')) {
          if (!/^(\d|[1-9]\d{1,2})(\.(\d|[1-9]\d{1,2})){3}$/.test(it)) fail(text);
          const four = it.split('.').map(Number);
          if (four.some((byte) => byte > 255)) fail(text);
          return [four[0] * 256 + four[1], four[2] * 256 + four[3]];
        }
        return /^[0-9a-fA-F]{1,4}$/.test(it) ? [parseInt(it, 16)] : fail(text);
      });
    };
    const head = pieces(halves[0], halves.length === 1), tail = halves.length > 1 ? pieces(halves[1], true) : [];
    const missing = 8 - head.length - tail.length;
    if (halves.length > 1 ? missing < 1 : missing !== 0) fail(text);
    const all = [...head, ...new Array(missing).fill(0), ...tail];
    let best = -1, length = 1;
    for (let at = 0; at < 8; at++) {
      let end = at;
      while (end < 8 && all[end] === 0) end++;
      if (end - at > length) [best, length] = [at, end - at];
      at = Math.max(at, end - 1);
    }
    const words = (from, to) => all.slice(from, to).map((it) => it.toString(16)).join(':');
    return best < 0 ? words(0, 8) : `${words(0, best)}::${words(best + length, 8)}`;
  }

  function hostOf(text, special) {
    if (text[0] === '[') {
      if (text.at(-1) !== ']') fail(text);
      return `[${ipv6(text.slice(1, -1))}]`;
    }
    if (!special) {
      if (/[\0\t\n\r #/:<>?@[\\\]^|]/.test(text)) fail(text);
      return coded(text, CONTROL);
    }
    let host = text.includes('%') ? decode(bytesOf(text), 0) : text;
    host = host.normalize('NFKC').toLowerCase().replace(/[\u00ad\u200b\u2060\ufeff]/g, '').replace(/[\u3002\uff0e\uff61]/g, '.');
    if (host.length > 4096) fail(text);
    host = host.split('.').map((it) => (/[^\0-\x7f]/.test(it) ? punycode(it) : it)).join('.');
    if (host === '' || /[\0-\x20"#%/:<>?@[\\\]^`{|}\x7f]/.test(host)) fail(text);
    return ipv4(host) ?? host;
  }

  const isDrive = (text) => /^[a-zA-Z][:|]$/.test(text);
  const beginsWithDrive = (text) => /^[a-zA-Z][:|]($|[/\\?#])/.test(text);

  // Adds the segments of `text` to the list.
  function walk(url, text) {
    const special = isSpecial(url), list = url.path;
    const parts = text.split(special ? /[/\\]/ : '/');
    if (parts[0] === '' && (parts.length > 1 || !special)) parts.shift();
    parts.forEach((part, at) => {
      const isLast = at === parts.length - 1, dots = part.replace(/%2e/gi, '.');
      if (dots === '..') {
        if (!(url.scheme === 'file:' && list.length === 1 && /^[a-zA-Z]:$/.test(list[0]))) list.pop();
        if (isLast) list.push('');
      } else if (dots === '.') {
        if (isLast) list.push('');
      } else if (url.scheme === 'file:' && list.length === 0 && isDrive(part)) {
        list.push(part[0] + ':');
      } else {
        list.push(coded(part, PATH));
      }
    });
  }

  function authority(url, text) {
    const special = isSpecial(url);
    const end = text.search(special ? /[/\\]/ : /\//);
    const all = end < 0 ? text : text.slice(0, end), rest = end < 0 ? '' : text.slice(end);
    const at = all.lastIndexOf('@');
    if (at >= 0) {
      const pair = all.slice(0, at), colon = pair.indexOf(':');
      url.username = coded(colon < 0 ? pair : pair.slice(0, colon), USER);
      url.password = colon < 0 ? '' : coded(pair.slice(colon + 1), USER);
    }
    hostAndPort(url, all.slice(at + 1), at >= 0);
    walk(url, rest);
  }

  function hostAndPort(url, text, hasUser) {
    const special = isSpecial(url);
    const [, host, port] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/s.exec(text) ?? fail(text);
    if (host === '' && (special || hasUser || port !== undefined)) fail(text);
    url.host = host === '' ? '' : hostOf(host, special);
    if (port !== undefined) url.port = portOf(url, port);
  }

  function portOf(url, text) {
    if (!/^\d*$/.test(text) || Number(text) > 65535) fail(text);
    const port = text === '' ? '' : String(Number(text));
    return port === PORTS[url.scheme] ? '' : port;
  }

  const copyOf = (base) => ({ ...base, path: Array.isArray(base.path) ? [...base.path] : base.path, fragment: null });

  function fileUrl(url, main, query, base) {
    const from = base?.scheme === 'file:' ? base : null;
    url.host = '';
    if (/^[/\\]{2}/.test(main)) {
      const rest = main.slice(2), end = rest.search(/[/\\]/), name = end < 0 ? rest : rest.slice(0, end);
      if (isDrive(name)) return walk(url, rest);
      const host = name === '' ? '' : hostOf(name, true);
      url.host = host === 'localhost' ? '' : host;
      return walk(url, end < 0 ? '' : rest.slice(end));
    }
    if (/^[/\\]/.test(main)) {
      if (from) {
        url.host = from.host;
        if (!beginsWithDrive(main.slice(1)) && /^[a-zA-Z]:$/.test(from.path[0] ?? '')) url.path.push(from.path[0]);
      }
      return walk(url, main);
    }
    if (!from) return walk(url, main);
    url.host = from.host;
    if (main === '') {
      url.path = [...from.path];
      if (query === undefined) url.query = from.query;
      return undefined;
    }
    if (!beginsWithDrive(main)) url.path = from.path.slice(0, -1);
    return walk(url, main);
  }

  function relativeUrl(url, main, query, base) {
    const special = isSpecial(url);
    if (special ? /^[/\\]{2}/.test(main) : main.startsWith('//')) {
      return authority(url, special ? main.replace(/^[/\\]+/, '') : main.slice(2));
    }
    Object.assign(url, { username: base.username, password: base.password, host: base.host, port: base.port });
    if (special ? /^[/\\]/.test(main) : main[0] === '/') return walk(url, main);
    if (main === '') {
      url.path = [...base.path];
      if (query === undefined) url.query = base.query;
      return undefined;
    }
    url.path = base.path.slice(0, -1);
    return walk(url, main);
  }

  function parse(input, base) {
    const text = input.replace(/^[\0-\x20]+/, '').replace(/[\0-\x20]+$/, '').replace(/[\t\n\r]/g, '');
    const found = /^([a-zA-Z][a-zA-Z0-9+\-.]*):/.exec(text);
    if (!found && !base) fail(input);
    const scheme = found ? found[1].toLowerCase() + ':' : base.scheme;
    const rest = found ? text.slice(found[0].length) : text;
    const [, main, query, fragment] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(rest);
    let url = { scheme, username: '', password: '', host: null, port: '', path: [], query: null, fragment: null };
    const special = isSpecial(url);
    if (!found && !Array.isArray(base.path)) {
      if (main !== '' || query !== undefined || fragment === undefined) fail(input);
      url = copyOf(base);
    } else if (scheme === 'file:') {
      fileUrl(url, main, query, base);
    } else if (!found || (special && base?.scheme === scheme && !/^[/\\]{2}/.test(main))) {
      relativeUrl(url, main, query, base);
    } else if (special) {
      authority(url, main.replace(/^[/\\]+/, ''));
    } else if (main.startsWith('//')) {
      authority(url, main.slice(2));
    } else if (main[0] === '/') {
      walk(url, main);
    } else {
      url.path = coded(main, CONTROL);
    }
    if (query !== undefined) url.query = coded(query.slice(1), special ? SPECIAL_QUERY : QUERY);
    if (fragment !== undefined) url.fragment = coded(fragment.slice(1), FRAGMENT);
    return url;
  }

  const pathOf = (url) => (Array.isArray(url.path) ? url.path.map((it) => '/' + it).join('') : url.path);
  const hostText = (url) => (url.host ?? '') + (url.port === '' ? '' : ':' + url.port);
  function write(url) {
    const user = url.username === '' && url.password === '' ? ''
      : `${url.username}${url.password === '' ? '' : ':' + url.password}@`;
    const bare = Array.isArray(url.path) && url.path.length > 1 && url.path[0] === '' ? '/.' : '';
    return url.scheme + (url.host === null ? bare : `//${user}${hostText(url)}`) + pathOf(url)
      + (url.query === null ? '' : '?' + url.query) + (url.fragment === null ? '' : '#' + url.fragment);
  }
  const usv = (value) => String(value).toWellFormed();
  const read = (input, base) => parse(usv(input), base === undefined ? undefined : parse(usv(base)));
  // A setter that cannot leaves things as they are.
  const tries = (act) => { try { act(); } catch (error) { if (!(error instanceof TypeError)) throw error; } };
  const hasNoHost = (url) => url.host === null || url.host === '' || url.scheme === 'file:';

  class URL {
    #url; #search;
    constructor(input, base) { this.#url = read(input, base); }
    static canParse(input, base) { try { read(input, base); return true; } catch { return false; } }
    static parse(input, base) { try { return new URL(input, base); } catch { return null; } }
    #refill() { if (this.#search) refillSearch(this.#search, this.#url.query ?? ''); }
    get href() { return write(this.#url); }
    set href(value) { this.#url = read(value); this.#refill(); }
    get origin() {
      const { scheme, path } = this.#url;
      if (scheme === 'blob:') {
        try { const { origin, protocol } = new URL(path); return /^https?:$/.test(protocol) ? origin : 'null'; } catch { return 'null'; }
      }
      return scheme in PORTS && scheme !== 'file:' ? `${scheme}//${hostText(this.#url)}` : 'null';
    }
    get protocol() { return this.#url.scheme; }
    set protocol(value) {
      const url = this.#url, found = /^([a-zA-Z][a-zA-Z0-9+\-.]*)(:|$)/.exec(usv(value));
      if (!found) return;
      const scheme = found[1].toLowerCase() + ':';
      if ((scheme in PORTS) !== isSpecial(url) || (scheme === 'file:' && (url.username || url.password || url.port))
          || (url.scheme === 'file:' && url.host === '')) return;
      url.scheme = scheme;
      if (url.port === PORTS[scheme]) url.port = '';
    }
    get username() { return this.#url.username; }
    set username(value) { if (!hasNoHost(this.#url)) this.#url.username = coded(usv(value), USER); }
    get password() { return this.#url.password; }
    set password(value) { if (!hasNoHost(this.#url)) this.#url.password = coded(usv(value), USER); }
    get host() { return hostText(this.#url); }
    set host(value) { this.#setHost(usv(value), true); }
    get hostname() { return this.#url.host ?? ''; }
    set hostname(value) { this.#setHost(usv(value), false); }
    #setHost(value, withPort) {
      const url = this.#url;
      if (!Array.isArray(url.path)) return;
      const text = value.replace(/[\t\n\r]/g, '').split(isSpecial(url) ? /[/\\?#]/ : /[/?#]/)[0];
      if (!withPort && /^[^[]*:/.test(text)) return;
      tries(() => {
        const next = { ...url };
        hostAndPort(next, text, url.username !== '' || url.password !== '');
        if (url.scheme === 'file:' && next.port !== '') return;
        Object.assign(url, { host: next.host, port: next.port });
      });
    }
    get port() { return this.#url.port; }
    set port(value) {
      if (hasNoHost(this.#url)) return;
      const text = usv(value).replace(/[\t\n\r]/g, ''), digits = /^\d*/.exec(text)[0];
      if (digits === '' && text !== '') return;
      tries(() => { this.#url.port = portOf(this.#url, digits); });
    }
    get pathname() { return pathOf(this.#url); }
    set pathname(value) {
      const url = this.#url;
      if (!Array.isArray(url.path)) return;
      url.path = [];
      const text = usv(value).replace(/[\t\n\r]/g, '').replace(/[?#]/g, (it) => (it === '?' ? '%3F' : '%23'));
      walk(url, isSpecial(url) && !/^[/\\]/.test(text) ? '/' + text : text);
    }
    get search() { return this.#url.query ? '?' + this.#url.query : ''; }
    set search(value) {
      const text = usv(value).replace(/[\t\n\r]/g, ''), bare = text[0] === '?' ? text.slice(1) : text;
      this.#url.query = text === '' ? null : coded(bare, isSpecial(this.#url) ? SPECIAL_QUERY : QUERY);
      this.#refill();
    }
    get searchParams() {
      return this.#search ??= searchOf(this.#url.query ?? '', (text) => { this.#url.query = text === '' ? null : text; });
    }
    get hash() { return this.#url.fragment ? '#' + this.#url.fragment : ''; }
    set hash(value) {
      const text = usv(value).replace(/[\t\n\r]/g, ''), bare = text[0] === '#' ? text.slice(1) : text;
      this.#url.fragment = text === '' ? null : coded(bare, FRAGMENT);
    }
    toString() { return this.href; }
    toJSON() { return this.href; }
  }
  Object.defineProperty(URL.prototype, Symbol.toStringTag, { value: 'URL', configurable: true });
  Object.defineProperty(globalThis, 'URL', { value: URL, writable: true, configurable: true });
})
