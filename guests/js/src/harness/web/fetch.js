// fetch, Headers, Request, Response and Blob: one request of the host at a time, each judged there; redirects are followed by asking again.
(function () {
  const { fetch: ask, bytes: unpacked, packed, encode, decode, timeLeft } = this;
  const { URL, URLSearchParams, AbortSignal } = globalThis;
  const define = (name, value) =>
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  const tag = (type, name) =>
    Object.defineProperty(type.prototype, Symbol.toStringTag, { value: name, configurable: true });
  // What comes back travels as text in one answer, which has 8 MiB.
  const BYTES_MAX = 5 << 20, HOPS_MAX = 20;
  const REASONS = { 200: 'OK', 201: 'Created', 202: 'Accepted', 204: 'No Content', 206: 'Partial Content',
    301: 'Moved Permanently', 302: 'Found', 303: 'See Other', 304: 'Not Modified', 307: 'Temporary Redirect',
    308: 'Permanent Redirect', 400: 'Bad Request', 401: 'Unauthorized', 403: 'Forbidden', 404: 'Not Found',
    405: 'Method Not Allowed', 409: 'Conflict', 410: 'Gone', 413: 'Content Too Large', 415: 'Unsupported Media Type',
    422: 'Unprocessable Content', 429: 'Too Many Requests', 500: 'Internal Server Error', 501: 'Not Implemented',
    502: 'Bad Gateway', 503: 'Service Unavailable', 504: 'Gateway Timeout' };

  class Headers {
    #list = [];
    constructor(init = []) {
      if (init === null || typeof init !== 'object') throw new TypeError('headers are an object or pairs');
      const pairs = typeof init[Symbol.iterator] === 'function' ? init : Object.entries(init);
      for (const [name, value] of pairs) this.append(name, value);
    }
    append(name, value) { this.#list.push([String(name).toLowerCase(), String(value).trim()]); }
    delete(name) {
      name = String(name).toLowerCase();
      this.#list = this.#list.filter((it) => it[0] !== name);
    }
    set(name, value) {
      this.delete(name);
      this.append(name, value);
    }
    get(name) {
      name = String(name).toLowerCase();
      const found = this.#list.filter((it) => it[0] === name).map((it) => it[1]);
      return found.length ? found.join(', ') : null;
    }
    has(name) { return this.get(name) !== null; }
    getSetCookie() { return this.#list.filter((it) => it[0] === 'set-cookie').map((it) => it[1]); }
    forEach(act, self) { for (const [name, value] of this) act.call(self, value, name, this); }
    *entries() {
      for (const name of [...new Set(this.#list.map((it) => it[0]))].sort()) {
        if (name === 'set-cookie') for (const value of this.getSetCookie()) yield [name, value];
        else yield [name, this.get(name)];
      }
    }
    *keys() { for (const [name] of this) yield name; }
    *values() { for (const [, value] of this) yield value; }
    [Symbol.iterator]() { return this.entries(); }
  }

  const NOTHING = new Uint8Array(0), KEY = {};

  // Bytes with a type; they are all there at once.
  class Blob {
    #bytes; #type;
    constructor(parts = [], { type = '' } = {}) {
      const pieces = [...parts].map((it) => body(it)[0]);
      this.#bytes = new Uint8Array(pieces.reduce((sum, it) => sum + it.length, 0));
      let at = 0;
      for (const piece of pieces) {
        this.#bytes.set(piece, at);
        at += piece.length;
      }
      this.#type = String(type).toLowerCase();
    }
    raw(key) {
      if (key !== KEY) throw new TypeError('Illegal invocation');
      return this.#bytes;
    }
    get size() { return this.#bytes.length; }
    get type() { return this.#type; }
    slice(start, end, type = '') { return new Blob([this.#bytes.slice(start, end)], { type }); }
    async bytes() { return this.#bytes.slice(); }
    async arrayBuffer() { return this.#bytes.slice().buffer; }
    async text() { return this.#bytes.length ? decode(this.#bytes, 0) : ''; }
  }

  // The bytes of a body, and the type that it has where nobody says another.
  const body = (of) => {
    if (of === undefined || of === null) return [NOTHING, null];
    if (of instanceof ArrayBuffer) return [new Uint8Array(of), null];
    if (ArrayBuffer.isView(of)) return [new Uint8Array(of.buffer, of.byteOffset, of.byteLength), null];
    if (of instanceof Blob) return [of.raw(KEY), of.type || null];
    if (of instanceof URLSearchParams) {
      return [encode(String(of)), 'application/x-www-form-urlencoded;charset=UTF-8'];
    }
    return [encode(String(of)), 'text/plain;charset=UTF-8'];
  };

  // What requests and answers have in common: a body that is read once.
  class Content {
    #bytes; #used = false;
    constructor(bytes) { this.#bytes = bytes; }
    get bodyUsed() { return this.#used; }
    get body() { return null; }
    peek(key) {
      if (key !== KEY) throw new TypeError('Illegal invocation');
      if (this.#used) throw new TypeError('the body was read already');
      return this.#bytes;
    }
    #take() {
      const bytes = this.peek(KEY);
      this.#used = true;
      return bytes;
    }
    async bytes() { return this.#take(); }
    async arrayBuffer() { return this.#take().slice().buffer; }
    async blob() { return new Blob([this.#take()], { type: this.headers.get('content-type') ?? '' }); }
    async text() {
      const bytes = this.#take();
      const text = bytes.length ? decode(bytes, 0) : '';
      return text[0] === '\ufeff' ? text.slice(1) : text;
    }
    async json() { return JSON.parse(await this.text()); }
  }

  const show = (on, fields) => {
    for (const [name, value] of Object.entries(fields)) {
      Object.defineProperty(on, name, { value, enumerable: true, configurable: true });
    }
  };

  class Response extends Content {
    constructor(content = null, { status = 200, statusText = '', headers = {} } = {}) {
      const [bytes, type] = body(content);
      super(bytes);
      show(this, { status: Number(status), statusText: String(statusText), headers: new Headers(headers),
        url: '', redirected: false, type: 'default' });
      if (type && !this.headers.has('content-type')) this.headers.set('content-type', type);
    }
    static json(value, init = {}) {
      const made = new Response(JSON.stringify(value), init);
      made.headers.set('content-type', 'application/json');
      return made;
    }
    static error() {
      const made = new Response();
      show(made, { status: 0, type: 'error' });
      return made;
    }
    static redirect(url, status = 302) {
      return new Response(null, { status, headers: { location: new URL(url).href } });
    }
    get ok() { return this.status >= 200 && this.status < 300; }
    clone() {
      const { status, headers, url, redirected } = this;
      return answered({ status, headers: [...headers] }, this.peek(KEY), url, redirected);
    }
  }

  const REDIRECTS = ['follow', 'manual', 'error'];

  class Request extends Content {
    constructor(input, init = {}) {
      const from = input instanceof Request ? input : null;
      // Other objects with a `url` are taken for requests, too.
      const like = !from && typeof input === 'object' && input !== null && !(input instanceof URL) ? input : null;
      const method = String(init.method ?? from?.method ?? like?.method ?? 'GET').toUpperCase();
      const said = init.body ?? like?.body;
      const [bytes, type] = said === undefined && from ? [from.peek(KEY), null] : body(said);
      if (bytes.length && (method === 'GET' || method === 'HEAD')) throw new TypeError(`${method} has no body`);
      super(bytes);
      const redirect = init.redirect ?? from?.redirect ?? 'follow';
      if (!REDIRECTS.includes(redirect)) throw new TypeError(`redirect is one of ${REDIRECTS.join(', ')}`);
      const signal = init.signal ?? from?.signal ?? null;
      if (signal !== null && !(signal instanceof AbortSignal)) throw new TypeError('signal is an AbortSignal');
      show(this, { url: new URL(from?.url ?? like?.url ?? input).href, method, redirect, signal,
        headers: new Headers(init.headers ?? from?.headers ?? like?.headers ?? {}) });
      if (type && !this.headers.has('content-type')) this.headers.set('content-type', type);
    }
    clone() { return new Request(this); }
  }

  const answered = ({ status, headers }, bytes, url, redirected) => {
    const made = new Response(bytes, { status, statusText: REASONS[status] ?? '', headers });
    show(made, { url, redirected, type: 'basic' });
    return made;
  };

  const failed = (error) => Object.assign(new TypeError(
    `fetch failed: ${error.message}${error.flag ? `; ${error.flag} on drydock's command line grants it` : ''}`),
    { cause: { code: error.code, kind: error.kind } });

  // Nobody waits any longer than the signal lets them.
  const unless = (signal, waited) => {
    if (!signal) return waited;
    let stop;
    const ended = new Promise((_, fail) => {
      stop = () => fail(signal.reason);
      // A deadline is counted by the host.
      if (timeLeft(signal) === Infinity) signal.addEventListener('abort', stop);
    });
    return Promise.race([waited, ended]).finally(() => signal.removeEventListener('abort', stop));
  };

  const once = async (url, method, headers, bytes, signal) => {
    const request = { url, method, headers: {}, max_bytes: BYTES_MAX, decode: true };
    for (const [name, value] of headers) (request.headers[name] ??= []).push(value);
    if (bytes.length) request.body_b64 = packed(bytes);
    signal?.throwIfAborted();
    const left = signal ? timeLeft(signal) : Infinity;
    if (left !== Infinity) request.timeout_ms = Math.max(1, Math.ceil(left));
    const answer = await unless(signal, ask(request));
    signal?.throwIfAborted();
    // The host's clock may be a moment ahead of ours.
    if (answer.error?.kind === 'timeout' && left !== Infinity) {
      throw Object.assign(new Error('The operation was aborted due to timeout'), { name: 'TimeoutError', code: 23 });
    }
    if (answer.error) throw failed(answer.error);
    return answer;
  };

  const fetch = async (input, init = {}) => {
    const asked = new Request(input, init);
    const { redirect, signal } = asked;
    let url = new URL(asked.url), { method } = asked, bytes = asked.peek(KEY);
    const headers = new Headers(asked.headers);
    if (!headers.has('accept')) headers.set('accept', '*/*');
    for (let hops = 0; ; hops++) {
      const answer = await once(url.href, method, headers, bytes, signal);
      const location = answer.headers.find((it) => it[0] === 'location')?.[1];
      const points = [301, 302, 303, 307, 308].includes(answer.status) && location !== undefined;
      if (!points || redirect === 'manual') {
        const content = answer.body_b64 ? unpacked(answer.body_b64) : NOTHING;
        return answered(answer, content, url.href, hops > 0);
      }
      if (redirect === 'error') throw new TypeError('fetch failed: the answer is a redirect');
      if (hops === HOPS_MAX) throw new TypeError(`fetch failed: more than ${HOPS_MAX} redirects`);
      const next = new URL(location, url);
      if (answer.status === 303 && method !== 'HEAD' || answer.status < 303 && method === 'POST') {
        [method, bytes] = ['GET', NOTHING];
        headers.delete('content-type');
      }
      if (next.origin !== url.origin) for (const name of ['authorization', 'cookie']) headers.delete(name);
      url = next;
    }
  };

  tag(Headers, 'Headers');
  tag(Response, 'Response');
  tag(Request, 'Request');
  tag(Blob, 'Blob');
  define('Headers', Headers);
  define('Response', Response);
  define('Request', Request);
  define('Blob', Blob);
  define('fetch', fetch);
})
