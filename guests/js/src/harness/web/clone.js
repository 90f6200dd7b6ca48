// structuredClone: a copy of data with its cycles. Nothing recurses, so depth costs no stack.
(function () {
  const refuse = (what) => {
    throw Object.assign(new Error(`${what} could not be cloned`), { name: 'DataCloneError' });
  };
  const errors = { Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };
  const { toString } = Object.prototype;
  const bufferOf = (view, copy) => copy(view.buffer);
  const { getPrototypeOf } = Object;
  const TypedArray = getPrototypeOf(Uint8Array);

  // A copy without what it holds; what it holds is put on `work` to be filled in.
  function shell(value, copy, work) {
    if (typeof value === 'function') refuse('a function');
    if (Array.isArray(value)) {
      work.push([value, new Array(value.length)]);
      return work.at(-1)[1];
    }
    if (value instanceof Date) return new Date(value.getTime());
    if (value instanceof RegExp) return new RegExp(value.source, value.flags);
    if (value instanceof ArrayBuffer) return value.slice(0);
    if (value instanceof DataView) {
      return new DataView(bufferOf(value, copy), value.byteOffset, value.byteLength);
    }
    if (value instanceof TypedArray) {
      return new value.constructor(bufferOf(value, copy), value.byteOffset, value.length);
    }
    if (value instanceof Map || value instanceof Set) {
      const made = value instanceof Map ? new Map() : new Set();
      work.push([value, made]);
      return made;
    }
    if (value instanceof Error) {
      const made = new (errors[value.name] ?? Error)(String(value.message));
      made.stack = String(value.stack);
      if (Object.hasOwn(value, 'cause')) work.push([value, made]);
      return made;
    }
    if (value instanceof Number || value instanceof String || value instanceof Boolean
        || value instanceof BigInt) {
      return Object(value.valueOf());
    }
    const kind = toString.call(value).slice(8, -1);
    if (['Promise', 'WeakMap', 'WeakSet', 'WeakRef', 'Generator', 'AsyncGenerator', 'Symbol',
         'SharedArrayBuffer', 'FinalizationRegistry'].includes(kind)) refuse(`a ${kind}`);
    const made = {};
    work.push([value, made]);
    return made;
  }

  function fill(from, to, copy) {
    if (from instanceof Map) {
      for (const [key, value] of Array.from(from)) to.set(copy(key), copy(value));
    } else if (from instanceof Set) {
      for (const value of Array.from(from)) to.add(copy(value));
    } else if (from instanceof Error) {
      to.cause = copy(from.cause);
    } else {
      for (const key of Object.keys(from)) {
        const value = copy(from[key]);
        Object.defineProperty(to, key, { value, writable: true, enumerable: true, configurable: true });
      }
    }
  }

  function structuredClone(value) {
    if (arguments.length === 0) throw new TypeError('structuredClone needs a value');
    const seen = new Map(), work = [];
    const copy = (value) => {
      if (typeof value === 'symbol') refuse('a symbol');
      if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return value;
      if (seen.has(value)) return seen.get(value);
      const made = shell(value, copy, work);
      seen.set(value, made);
      return made;
    };
    const made = copy(value);
    while (work.length) {
      const [from, to] = work.pop();
      fill(from, to, copy);
    }
    return made;
  }

  Object.defineProperty(globalThis, 'structuredClone',
                        { value: structuredClone, writable: true, configurable: true });
})
