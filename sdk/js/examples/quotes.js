// Fetches what the query names, says so in its log, and answers what it found: /?from=http://api.test/price
async function handler(request) {
  const { from } = request.query;
  if (from === undefined) {
    log.error("nobody said where to look");
    return { status: 400, body: { error: "say ?from=URL" } };
  }
  log.info(`asking ${from}`);
  try {
    const found = await fetch(from, {
      method: "POST",
      headers: { accept: "application/json" },
      body: request.text(),
    });
    return { body: { status: found.status, type: found.headers.get("content-type"), text: await found.text() } };
  } catch (error) {
    log.error(`${from}: ${error.message}`);
    return { status: 502, body: { error: error.message } };
  }
}
