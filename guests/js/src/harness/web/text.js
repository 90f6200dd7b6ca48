// TextEncoder, TextDecoder, atob, btoa, crypto and performance: thin, over what the harness does.
(function () {
  const { encode, decode, random, now, atob: read, btoa: write } = this;
  const define = (name, value) =>
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  const tag = (type, name) =>
    Object.defineProperty(type.prototype, Symbol.toStringTag, { value: name, configurable: true });

  // The bytes behind a buffer or a view, not a copy.
  const bytes = (of) => {
    if (of instanceof ArrayBuffer || of instanceof SharedArrayBuffer) return new Uint8Array(of);
    if (ArrayBuffer.isView(of)) return new Uint8Array(of.buffer, of.byteOffset, of.byteLength);
    throw new TypeError('a buffer or a view of one is needed');
  };

  class TextEncoder {
    get encoding() { return 'utf-8'; }
    encode(text = '') { return encode(String(text)); }
    encodeInto(text, into) {
      if (!(into instanceof Uint8Array)) throw new TypeError('a Uint8Array is needed');
      let read = 0, written = 0;
      for (const sign of String(text)) {
        const code = sign.codePointAt(0);
        const count = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
        if (written + count > into.length) break;
        into.set(encode(sign), written);
        written += count;
        read += sign.length;
      }
      return { read, written };
    }
  }

  // How many bytes at the end begin a character that is not whole.
  const unfinished = (all) => {
    for (let back = 1; back <= 3 && back <= all.length; back++) {
      const byte = all[all.length - back];
      if ((byte & 0xc0) === 0x80) continue;
      const count = byte >= 0xf0 && byte < 0xf5 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 1;
      return byte < 0xf5 && count > back ? back : 0;
    }
    return 0;
  };

  class TextDecoder {
    #fatal; #ignoreBOM; #kept = new Uint8Array(0); #begun = false;
    constructor(label = 'utf-8', { fatal = false, ignoreBOM = false } = {}) {
      if (!['utf-8', 'utf8', 'unicode-1-1-utf-8'].includes(String(label).trim().toLowerCase())) {
        throw new RangeError('the only encoding is utf-8');
      }
      this.#fatal = Boolean(fatal);
      this.#ignoreBOM = Boolean(ignoreBOM);
    }
    get encoding() { return 'utf-8'; }
    get fatal() { return this.#fatal; }
    get ignoreBOM() { return this.#ignoreBOM; }
    decode(input, { stream = false } = {}) {
      let all = input === undefined ? new Uint8Array(0) : bytes(input);
      if (this.#kept.length) {
        const joined = new Uint8Array(this.#kept.length + all.length);
        joined.set(this.#kept);
        joined.set(all, this.#kept.length);
        all = joined;
      }
      const left = stream ? unfinished(all) : 0;
      this.#kept = all.slice(all.length - left);
      all = all.subarray(0, all.length - left);
      let text = all.length ? decode(all, this.#fatal ? 1 : 0) : '';
      if (text === undefined) {
        this.#kept = new Uint8Array(0);
        this.#begun = false;
        throw new TypeError('the bytes are not valid utf-8');
      }
      if (!this.#begun && !this.#ignoreBOM && text[0] === '\ufeff') text = text.slice(1);
      this.#begun = stream && (this.#begun || all.length > 0);
      return text;
    }
  }

  const invalid = (text) => Object.assign(new Error(text), { name: 'InvalidCharacterError' });

  class Crypto {
    getRandomValues(array) {
      if (!ArrayBuffer.isView(array) || array instanceof DataView || array instanceof Float32Array
          || array instanceof Float64Array) {
        throw new TypeError('an array of integers is needed');
      }
      if (array.byteLength > 65536) {
        throw Object.assign(new Error('at most 65536 bytes at once'), { name: 'QuotaExceededError' });
      }
      if (array.byteLength) random(bytes(array));
      return array;
    }
    randomUUID() {
      const b = this.getRandomValues(new Uint8Array(16));
      b[6] = (b[6] & 0x0f) | 0x40;
      b[8] = (b[8] & 0x3f) | 0x80;
      const hex = Array.from(b, (it) => it.toString(16).padStart(2, '0')).join('');
      return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
    }
  }

  tag(TextEncoder, 'TextEncoder');
  tag(TextDecoder, 'TextDecoder');
  tag(Crypto, 'Crypto');
  define('TextEncoder', TextEncoder);
  define('TextDecoder', TextDecoder);
  define('crypto', new Crypto());
  define('performance', { now() { return now(); } });
  define('atob', function atob(text) {
    const found = read(String(text));
    if (found === undefined) throw invalid('the text is no base64');
    return found;
  });
  define('btoa', function btoa(text) {
    const found = write(String(text));
    if (found === undefined) throw invalid('the text has characters beyond U+00FF');
    return found;
  });
})
