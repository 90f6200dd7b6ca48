;return (async (handler, sent) => {
  if (sent === null) return { ready: handler !== null };
  if (handler === null) return { ready: false };
  const pack = (bytes) => {
    let text = '';
    for (let at = 0; at < bytes.length; at += 8192) {
      text += String.fromCharCode.apply(null, bytes.subarray(at, at + 8192));
    }
    return btoa(text);
  };
  const unpack = (text) => Uint8Array.from(atob(text), (it) => it.charCodeAt(0));
  const isBytes = (it) => it instanceof ArrayBuffer || ArrayBuffer.isView(it);
  const packed = (body) => {
    if (body instanceof ArrayBuffer) return pack(new Uint8Array(body));
    if (isBytes(body)) return pack(new Uint8Array(body.buffer, body.byteOffset, body.byteLength));
    return pack(new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body)));
  };
  const { context, http } = sent;
  const { method, path, query, headers } = http;
  const request = { context, http, method, path, query, headers,
    bytes: () => unpack(http.body_b64 ?? ''),
    text: () => new TextDecoder().decode(request.bytes()),
    json: () => JSON.parse(request.text()) };
  const answer = await handler(request);
  if (answer === undefined || answer === null) return { response: { status: 200, body_b64: '' } };
  if (answer instanceof Response) {
    const body_b64 = pack(await answer.bytes());
    return { response: { status: answer.status, headers_all: [...answer.headers], body_b64 } };
  }
  if (typeof answer !== 'object' || Array.isArray(answer) || isBytes(answer)) {
    return { response: { status: 200, body_b64: packed(answer) } };
  }
  if (!('body' in answer)) return { response: answer };
  const { body, ...response } = answer;
  response.status ??= 200;
  if (body === undefined || body === null) return { response };
  if (typeof body !== 'string' && !isBytes(body)) {
    const typed = Object.keys(response.headers ?? {}).some((it) => it.toLowerCase() === 'content-type');
    if (!typed) response.headers = { 'content-type': 'application/json', ...response.headers };
  }
  response.body_b64 = packed(body);
  return { response };
})(typeof handler === 'function' ? handler : null, args);
