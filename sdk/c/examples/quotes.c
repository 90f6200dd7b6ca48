/* Fetches what the query names, says so in its log, and hands on what it found: /?from=http://api.test/price */
#include "../drydock.h"

static drydock_response handle(const drydock_request *request)
{
    drydock_text from, type;
    if (!drydock_get(request->query, "from", &from)) {
        drydock_log_error("nobody said where to look");
        drydock_response answer = drydock_answer(400);
        answer.body = drydock_text_of("say ?from=URL");
        return answer;
    }
    drydock_log_info("asking");
    drydock_response headers = drydock_answer(0), found;
    drydock_add_header(&headers, "accept", "application/json");
    drydock_fetch_request asked = {from, drydock_text_of("POST"), headers.headers, request->body};
    int code = drydock_fetch(&asked, &found);
    if (code != DRYDOCK_OK) {
        drydock_log_error(code == DRYDOCK_DENIED ? "the host does not allow this request" : "the fetch failed");
        drydock_response answer = drydock_answer(502);
        answer.body = drydock_text_of(code == DRYDOCK_DENIED ? "denied" : "failed");
        return answer;
    }
    drydock_response answer = drydock_answer(found.status);
    drydock_add_header(&answer, "x-found", drydock_get(found.headers, "content-type", &type) ? "typed" : "untyped");
    answer.body = found.body;
    return answer;
}

DRYDOCK_EXTENSION(handle)
