// setTimeout and its like. Who waits, and how many may, is known to the harness.
(function () {
  const { setTimer, clearTimer } = this;

  function set(f, ms, args, repeats) {
    if (typeof f !== 'function') throw new TypeError('a timer needs a function');
    ms = Math.trunc(Number(ms));
    ms = ms > 0 ? Math.min(ms, 0x7fffffff) : 0;
    return setTimer(args.length ? () => f(...args) : f, ms, repeats);
  }

  const clear = (id) => clearTimer(Number(id));
  const globals = {
    setTimeout(f, ms, ...args) { return set(f, ms, args, 0); },
    setInterval(f, ms, ...args) { return set(f, ms, args, 1); },
    clearTimeout(id) { clear(id); },
    clearInterval(id) { clear(id); },
  };
  for (const name in globals) {
    Object.defineProperty(globalThis, name, { value: globals[name], writable: true, configurable: true });
  }
})
