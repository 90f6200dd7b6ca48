// The guest of the ABI's own pseudo-code: whatever is asked, the answer is {"ok":true}.
function handler(request) {
  return {
    status: 200,
    headers: { "content-type": "application/json" },
    body_b64: btoa(JSON.stringify({ ok: true })),
  };
}
