// See wire_table.h.
#include "support/wire_table.h"

#include <string.h>

const wire_claim_result wire_claims[WIRE_CLAIMS] = {
    [WIRE_TEXT] = {"Hello.||stop|", 0},
    [WIRE_TEXT_IN_PIECES] = {"caf\xC3\xA9 \xF0\x9F\x99\x82||stop|", 0},
    [WIRE_PARTED_PAIR] = {"a\xF0\x9F\x99\x82"
                          "b\xEF\xBF\xBD||stop|",
                          0},
    [WIRE_ONE_CALL] = {"||tool_calls|c1 add {\"a\":3,\"b\":\"\\\"4\\\"\"};", 0},
    [WIRE_TEXT_AND_CALLS] =
        {"Sure.||tool_calls|c1 add {\"a\":1};c2 files__read {\"p\":\"x\"};", 0},
    [WIRE_CALL_WITHOUT_INPUT] = {"||tool_calls|c1 now {};", 0},
    [WIRE_REASONING] = {"Four.|Two and two.|stop|", 0},
    [WIRE_USAGE] = {"Hello.||stop|", 0},
    [WIRE_LENGTH] = {"Cut||length|", 0},
    [WIRE_LENGTH_IN_CALL] = {"x||length|", 0},
    [WIRE_FILTERED] = {"content_filter|0", 0},
    [WIRE_NO_END] = {"truncated|1", 0},
    [WIRE_NO_WORD] = {"empty_response|1", 0},
    [WIRE_OVERLOADED] = {"overloaded|1", 0},
    [WIRE_RATE_LIMITED] = {"rate_limited|1", 0},
    [WIRE_NOT_JSON] = {"bad_response|1", 0},
    [WIRE_UNKNOWN] = {"Hello.||stop|", 0},
    [WIRE_WHOLE_TEXT] = {"Hello.||stop|", 200},
    [WIRE_WHOLE_CALL] = {"||tool_calls|c1 add {\"a\":3,\"b\":\"\\\"4\\\"\"};", 200},
    [WIRE_WHOLE_ERROR] = {"rate_limited|1", 200},
    [WIRE_BAD_KEY] = {"auth|0", 401},
    [WIRE_TOO_LONG] = {"context_length|0", 400},
    [WIRE_TOO_MANY] = {"rate_limited|1", 429},
    [WIRE_BUSY] = {"overloaded|1", 503},
};

static const wire_table *const tables[] = {
    &wire_table_openai,
    &wire_table_openai_responses,
    &wire_table_anthropic,
    &wire_table_gemini,
};

const wire_table *wire_table_find(const char *provider)
{
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        if (strcmp(tables[i]->provider, provider) == 0)
            return tables[i];
    return NULL;
}
