/* The guest of the ABI's own pseudo-code: whatever is asked, the answer is {"ok":true}. */
#include "../drydock.h"

static drydock_response handle(const drydock_request *request)
{
    (void)request;
    drydock_response answer = drydock_answer(200);
    drydock_add_header(&answer, "content-type", "application/json");
    answer.body = drydock_text_of("{\"ok\":true}");
    return answer;
}

DRYDOCK_EXTENSION(handle)
