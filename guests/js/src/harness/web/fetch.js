// fetch, Headers and Response: one request of the host at a time, each judged there; redirects are followed by asking again.
(function () {
  const { fetch: ask, bytes: unpacked, packed, encode, decode } = this;
  const { URL, URLSearchParams } = globalThis;
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

  const NOTHING = new Uint8Array(0);
  // The bytes of a body, and the type that it has where nobody says another.
  const body = (of) => {
    if (of === undefined || of === null) return [NOTHING, null];
    if (of instanceof ArrayBuffer) return [new Uint8Array(of), null];
    if (ArrayBuffer.isView(of)) return [new Uint8Array(of.buffer, of.byteOffset, of.byteLength), null];
    if (of instanceof URLSearchParams) {
      return [encode(String(of)), 'application/x-www-form-urlencoded;charset=UTF-8'];
    }
    return [encode(String(of)), 'text/plain;charset=UTF-8'];
  };

  class Response {
    #bytes; #used = false;
    constructor(content = null, { status = 200, statusText = '', headers = {} } = {}) {
      const [bytes, type] = body(content);
      this.#bytes = bytes;
      const fields = { status: Number(status), statusText: String(statusText), headers: new Headers(headers),
        url: '', redirected: false, type: 'default' };
      for (const [name, value] of Object.entries(fields)) {
        Object.defineProperty(this, name, { value, enumerable: true, configurable: true });
      }
      if (type && !this.headers.has('content-type')) this.headers.set('content-type', type);
    }
    static json(value, init = {}) {
      const made = new Response(JSON.stringify(value), init);
      made.headers.set('content-type', 'application/json');
      return made;
    }
    get ok() { return this.status >= 200 && this.status < 300; }
    get bodyUsed() { return this.#used; }
    get body() { return null; }
    #take() {
      if (this.#used) throw new TypeError('the body was read already');
      this.#used = true;
      return this.#bytes;
    }
    async bytes() { return this.#take(); }
    async arrayBuffer() { return this.#take().slice().buffer; }
    async text() {
      const bytes = this.#take();
      const text = bytes.length ? decode(bytes, 0) : '';
      return text[0] === '\ufeff' ? text.slice(1) : text;
    }
    async json() { return JSON.parse(await this.text()); }
    clone() {
      if (this.#used) throw new TypeError('the body was read already');
      return answered({ status: this.status, headers: [...this.headers] }, this.#bytes, this.url, this.redirected);
    }
  }

  const answered = ({ status, headers }, bytes, url, redirected) => {
    const made = new Response(bytes, { status, statusText: REASONS[status] ?? '', headers });
    const fields = { url, redirected, type: 'basic' };
    for (const [name, value] of Object.entries(fields)) {
      Object.defineProperty(made, name, { value, enumerable: true, configurable: true });
    }
    return made;
  };

  const failed = (error) => Object.assign(new TypeError(
    `fetch failed: ${error.message}${error.flag ? `; ${error.flag} on drydock's command line grants it` : ''}`),
    { cause: { code: error.code, kind: error.kind } });

  const once = async (url, method, headers, bytes) => {
    const request = { url, method, headers: {}, max_bytes: BYTES_MAX, decode: true };
    for (const [name, value] of headers) (request.headers[name] ??= []).push(value);
    if (bytes.length) request.body_b64 = packed(bytes);
    const answer = await ask(request);
    if (answer.error) throw failed(answer.error);
    return answer;
  };

  const fetch = async (input, init = {}) => {
    let url = new URL(typeof input === 'object' && input !== null && !(input instanceof URL) ? input.url : input);
    let method = String(init.method ?? 'GET').toUpperCase();
    const headers = new Headers(init.headers ?? {});
    let [bytes, type] = body(init.body);
    if (bytes.length && (method === 'GET' || method === 'HEAD')) throw new TypeError(`${method} has no body`);
    if (type && init.body !== undefined && !headers.has('content-type')) headers.set('content-type', type);
    if (!headers.has('accept')) headers.set('accept', '*/*');
    for (let hops = 0; ; hops++) {
      const answer = await once(url.href, method, headers, bytes);
      const location = answer.headers.find((it) => it[0] === 'location')?.[1];
      const points = [301, 302, 303, 307, 308].includes(answer.status) && location !== undefined;
      if (!points || init.redirect === 'manual') {
        const content = answer.body_b64 ? unpacked(answer.body_b64) : NOTHING;
        return answered(answer, content, url.href, hops > 0);
      }
      if (init.redirect === 'error') throw new TypeError('fetch failed: the answer is a redirect');
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
  define('Headers', Headers);
  define('Response', Response);
  define('fetch', fetch);
})
