// AbortController and AbortSignal: who waits for something is told to stop waiting. What the host has begun goes on without them.
(function () {
  const { now } = this;
  const define = (name, value) =>
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  const tag = (type, name) =>
    Object.defineProperty(type.prototype, Symbol.toStringTag, { value: name, configurable: true });
  const named = (name, message, code) => Object.assign(new Error(message), { name, code });
  const KEY = {};
  let trip, timeLeft;

  class AbortSignal {
    #aborted = false; #reason; #listeners = []; #deadline = Infinity; #waits = false;
    onabort = null;
    constructor(key) {
      if (key !== KEY) throw new TypeError('Illegal constructor');
    }
    static abort(reason) {
      const made = new AbortSignal(KEY);
      made.#trip(reason);
      return made;
    }
    // No timer waits for it unless somebody listens: a program is not kept from its end by it.
    static timeout(milliseconds) {
      const made = new AbortSignal(KEY);
      made.#deadline = now() + Math.max(0, Number(milliseconds) || 0);
      return made;
    }
    static any(signals) {
      const made = new AbortSignal(KEY);
      for (const it of signals) {
        if (it.aborted) {
          made.#trip(it.reason);
          break;
        }
        made.#deadline = Math.min(made.#deadline, it.#deadline);
        it.#listeners.push({ call: () => made.#trip(it.reason) });
      }
      return made;
    }
    static {
      // For the controller and for `fetch`, and nobody else.
      trip = (signal, reason) => signal.#trip(reason);
      timeLeft = (signal) => signal.#deadline - now();
    }
    #trip(reason) {
      if (this.#aborted) return;
      this.#aborted = true;
      this.#reason = reason === undefined ? named('AbortError', 'This operation was aborted', 20) : reason;
      const event = { type: 'abort', target: this };
      const listeners = this.#listeners;
      this.#listeners = [];
      if (typeof this.onabort === 'function') this.onabort(event);
      for (const { call } of listeners) call.call(this, event);
    }
    #look() {
      if (!this.#aborted && now() >= this.#deadline) {
        this.#trip(named('TimeoutError', 'The operation was aborted due to timeout', 23));
      }
    }
    get aborted() {
      this.#look();
      return this.#aborted;
    }
    get reason() {
      this.#look();
      return this.#reason;
    }
    throwIfAborted() { if (this.aborted) throw this.reason; }
    addEventListener(type, listener) {
      if (type !== 'abort') return;
      const call = typeof listener === 'function' ? listener : (event) => listener.handleEvent(event);
      this.#listeners.push({ call, listener });
      if (this.#deadline !== Infinity && !this.#waits) {
        this.#waits = true;
        setTimeout(() => this.#look(), Math.max(0, Math.ceil(this.#deadline - now())));
      }
    }
    removeEventListener(type, listener) {
      this.#listeners = this.#listeners.filter((it) => it.listener !== listener);
    }
  }

  class AbortController {
    #signal = new AbortSignal(KEY);
    get signal() { return this.#signal; }
    abort(reason) { trip(this.#signal, reason); }
  }

  tag(AbortSignal, 'AbortSignal');
  tag(AbortController, 'AbortController');
  define('AbortSignal', AbortSignal);
  define('AbortController', AbortController);
  // What `fetch` may still wait, for the host to count.
  this.timeLeft = timeLeft;
})
