// URLSearchParams: names and values of a query.
(function () {
  const { encode, decode } = this;

  // Percent-encoded bytes as text.
  const plain = (text) => {
    text = text.replaceAll('+', ' ');
    if (!text.includes('%')) return text;
    const from = encode(text), to = new Uint8Array(from.length);
    const digit = (byte) => (byte >= 48 && byte <= 57 ? byte - 48
      : (byte | 32) >= 97 && (byte | 32) <= 102 ? (byte | 32) - 87 : -1);
    let count = 0;
    for (let at = 0; at < from.length; at++) {
      const high = from[at] === 37 ? digit(from[at + 1]) : -1, low = high < 0 ? -1 : digit(from[at + 2]);
      to[count++] = low < 0 ? from[at] : (at += 2, high * 16 + low);
    }
    return count ? decode(to.subarray(0, count), 0) : '';
  };
  const coded = (text) => text
    .replace(/[^a-zA-Z0-9*\-._ ]/gu, (it) => encodeURIComponent(it).replace(/[!'()~]/g, (sign) =>
      '%' + sign.charCodeAt(0).toString(16).toUpperCase()))
    .replaceAll(' ', '+');
  const usv = (value) => String(value).toWellFormed();

  const parse = (text) => text.split('&').filter((it) => it !== '').map((it) => {
    const at = it.indexOf('=');
    return at < 0 ? [plain(it), ''] : [plain(it.slice(0, at)), plain(it.slice(at + 1))];
  });

  // The URL that a list belongs to, told when it changes.
  const owners = new WeakMap();

  class URLSearchParams {
    #list = [];
    constructor(init = '') {
      if (typeof init === 'object' && init !== null || typeof init === 'function') {
        if (typeof init[Symbol.iterator] === 'function') {
          for (const pair of init) {
            const [name, value, ...more] = pair;
            if (value === undefined || more.length) throw new TypeError('pairs of a name and a value are needed');
            this.#list.push([usv(name), usv(value)]);
          }
        } else {
          for (const name of Object.keys(init)) this.#list.push([usv(name), usv(init[name])]);
        }
      } else {
        const text = usv(init);
        this.#list = parse(text[0] === '?' ? text.slice(1) : text);
      }
    }
    static of(query, changed) {
      const made = new URLSearchParams();
      made.#list = parse(query);
      owners.set(made, changed);
      return made;
    }
    static refill(params, query) { params.#list = parse(query); }
    #changed() { owners.get(this)?.(this.toString()); }
    get size() { return this.#list.length; }
    append(name, value) { this.#list.push([usv(name), usv(value)]); this.#changed(); }
    delete(name, value) {
      name = usv(name);
      const all = value === undefined;
      if (!all) value = usv(value);
      this.#list = this.#list.filter((it) => it[0] !== name || !(all || it[1] === value));
      this.#changed();
    }
    get(name) { name = usv(name); return this.#list.find((it) => it[0] === name)?.[1] ?? null; }
    getAll(name) { name = usv(name); return this.#list.filter((it) => it[0] === name).map((it) => it[1]); }
    has(name, value) {
      name = usv(name);
      return this.#list.some((it) => it[0] === name && (value === undefined || it[1] === usv(value)));
    }
    set(name, value) {
      name = usv(name), value = usv(value);
      const first = this.#list.find((it) => it[0] === name);
      if (first) first[1] = value;
      this.#list = this.#list.filter((it) => it === first || it[0] !== name);
      if (!first) this.#list.push([name, value]);
      this.#changed();
    }
    sort() {
      this.#list.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0));
      this.#changed();
    }
    forEach(f, self) { for (const [name, value] of this) f.call(self, value, name, this); }
    *entries() { for (let at = 0; at < this.#list.length; at++) yield [...this.#list[at]]; }
    *keys() { for (const it of this.entries()) yield it[0]; }
    *values() { for (const it of this.entries()) yield it[1]; }
    [Symbol.iterator]() { return this.entries(); }
    toString() { return this.#list.map(([name, value]) => coded(name) + '=' + coded(value)).join('&'); }
  }
  Object.defineProperty(URLSearchParams.prototype, Symbol.toStringTag,
                        { value: 'URLSearchParams', configurable: true });
  // For url.js, and for nobody else.
  this.searchOf = URLSearchParams.of;
  this.refillSearch = URLSearchParams.refill;
  delete URLSearchParams.of;
  delete URLSearchParams.refill;
  Object.defineProperty(globalThis, 'URLSearchParams',
                        { value: URLSearchParams, writable: true, configurable: true });
})
