// What servers of OpenAI's chat completions send.
#include "support/wire_table.h"

#define DELTA(fields) "{\"choices\":[{\"index\":0,\"delta\":{" fields "}}]}\n"
#define STOP(word)                                                                     \
    "{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"" word "\"}]}\n"
#define CALL(fields) DELTA("\"tool_calls\":[{" fields "}]")
#define FUNCTION(name, arguments)                                                      \
    "\"function\":{\"name\":\"" name "\",\"arguments\":\"" arguments "\"}"

static const wire_row rows[] = {
    {"text and a finish", DELTA("\"content\":\"Hi\"") STOP("stop"), "Hi||stop|", NULL},
    {"content null, and no content",
     DELTA("\"content\":null") DELTA("\"role\":\"x\"") DELTA("\"content\":\"a\"")
         STOP("stop"),
     "a||stop|", NULL},
    {"an index that is not 0 is another answer",
     "{\"choices\":[{\"index\":1,\"delta\":{\"content\":\"B\"},\"finish_reason\":"
     "\"stop\"},{\"delta\":{\"content\":\"A\"},\"index\":0}]}\n"
     "{\"choices\":[{\"delta\":{\"content\":\"C\"},\"finish_reason\":\"length\","
     "\"index\":2}]}\n" STOP("stop"),
     "A||stop|", NULL},
    {"Azure's first chunk has no choices",
     "{\"choices\":[],\"prompt_filter_results\":[{\"x\":{}}]}\n" DELTA(
         "\"content\":\"a\"") STOP("stop"),
     "a||stop|", NULL},
    {"content as parts",
     DELTA("\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"text\","
           "\"text\":\"b\"}]") STOP("stop"),
     "ab||stop|", NULL},
    {"Mistral's thinking is reasoning",
     DELTA("\"content\":[{\"type\":\"thinking\",\"thinking\":[{\"type\":\"text\","
           "\"text\":\"hm\"}]},{\"type\":\"text\",\"text\":\"a\"}]") STOP("stop"),
     "a|hm|stop|", "[{\"place\":0,\"item\":{\"reasoning_field\":\"\"}}]"},
    {"one reasoning under two names",
     DELTA("\"reasoning\":\"r\",\"reasoning_content\":\"r\"")
         DELTA("\"content\":\"a\",\"reasoning\":null") STOP("stop"),
     "a|r|stop|", NULL},
    {"reasoning that is no text but has one",
     DELTA("\"reasoning_content\":{\"text\":\"r\"}")
         DELTA("\"reasoning\":[{\"type\":\"text\",\"text\":\"s\"}]")
             DELTA("\"content\":\"a\"") STOP("stop"),
     "a|rs|stop|", NULL},
    {"OpenRouter's details are reasoning where nothing else is",
     DELTA("\"reasoning\":null,\"reasoning_details\":[{\"type\":\"reasoning.summary\","
           "\"summary\":\"r\"},{\"type\":\"reasoning.encrypted\",\"data\":\"x\"}]")
         DELTA(
             "\"reasoning\":\"s\",\"reasoning_details\":[{\"type\":\"reasoning.text\","
             "\"text\":\"s\"}]") DELTA("\"content\":\"a\"") STOP("stop"),
     "a|rs|stop|", NULL},
    {"thoughts in front of the text are reasoning",
     DELTA("\"content\":\"\\u003cthi\"")
         DELTA("\"content\":\"nk\\u003e\\nhm <b>\\ud83d\"")
             DELTA("\"content\":\"\\ude42</thi\"") DELTA("\"content\":\"nk>\\n\\n\"")
                 DELTA("\"content\":\"a <think>\"") STOP("stop"),
     "a <think>|\nhm <b>\xF0\x9F\x99\x82|stop|", NULL},
    {"what only looks like thoughts is text",
     DELTA("\"content\":\"<thi\"") DELTA("\"content\":\"s> a\"") STOP("stop"),
     "<this> a||stop|", NULL},
    {"thoughts that do not end",
     DELTA("\"content\":\"<thinking>hm</thin\"") STOP("length"), "|hm</thin|length|",
     NULL},
    {"a tag that is not whole", DELTA("\"content\":\"<think\"") STOP("stop"),
     "<think||stop|", NULL},
    {"a refusal is text", DELTA("\"refusal\":\"No.\"") STOP("stop"), "No.||stop|",
     NULL},
    {"a finish that is empty or null is none",
     "{\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"\"}]}\n"
     "{\"choices\":[{\"delta\":{\"content\":\"b\"},\"finish_reason\":null}]}\n",
     "truncated|1", NULL},
    {"a finish in the word null is none",
     "{\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"null\"}]}\n",
     "truncated|1", NULL},
    {"a finish in capitals", DELTA("\"content\":\"a\"") STOP("MAX_TOKENS"),
     "a||length|", NULL},
    {"Z.ai's word for a filter", DELTA("\"content\":\"a\"") STOP("sensitive"),
     "content_filter|0", NULL},
    {"DeepSeek breaks off",
     DELTA("\"content\":\"a\"") STOP("insufficient_system_resource"), "server|1", NULL},
    {"a finish that says less does not take back the limit",
     DELTA("\"content\":\"a\"") STOP("length") STOP("stop"), "a||length|", NULL},
    {"a finish with every piece",
     "{\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n"
     "{\"choices\":[{\"delta\":{\"content\":\"b\"},\"finish_reason\":\"stop\"}]}\n["
     "DONE]\n",
     "ab||stop|", NULL},
    {"an unknown finish is one", DELTA("\"content\":\"a\"") STOP("eos_token"),
     "a||stop|", NULL},
    {"length", DELTA("\"content\":\"a\"") STOP("length"), "a||length|", NULL},
    {"content filter", DELTA("\"content\":\"a\"") STOP("content_filter"),
     "content_filter|0", NULL},
    {"finish error", DELTA("\"content\":\"a\"") STOP("error"), "server|1", NULL},
    {"[DONE] after text ends without a finish", DELTA("\"content\":\"a\"") "[DONE]\n",
     "a||stop|", NULL},
    {"[DONE] after nothing", "[DONE]\n", "truncated|1", NULL},
    {"[DONE] after calls ends without a finish, if they are whole",
     CALL("\"index\":0,\"id\":\"a\"," FUNCTION("f", "{\\\"x\\\":1}")) "[DONE]\n",
     "||tool_calls|a f {\"x\":1};", NULL},
    {"[DONE] inside a call",
     CALL("\"index\":0,\"id\":\"a\"," FUNCTION("f", "{\\\"x\\\":")) "[DONE]\n",
     "truncated|1", NULL},
    {"a finish after nothing", STOP("stop"), "empty_response|1", NULL},
    {"the old function_call",
     DELTA("\"function_call\":{\"name\":\"f\",\"arguments\":\"\"}")
         DELTA("\"function_call\":{\"arguments\":\"{}\"}") STOP("function_call"),
     "||tool_calls|* f {};", NULL},
    {"Ollama before 0.4.7: every call has index 0",
     CALL("\"index\":0,\"id\":\"a\"," FUNCTION("f", "{}"))
         CALL("\"index\":0,\"id\":\"b\"," FUNCTION("f", "{\\\"x\\\":1}")) STOP("stop"),
     "||tool_calls|a f {};b f {\"x\":1};", NULL},
    {"a new id with each piece of one call",
     CALL("\"index\":0,\"id\":\"a\"," FUNCTION("f", "{"))
         CALL("\"index\":0,\"id\":\"b\"," FUNCTION("", "}")) STOP("tool_calls"),
     "||tool_calls|a f {};", NULL},
    {"the same id and name with each piece",
     CALL("\"index\":0,\"id\":\"a\"," FUNCTION("f", "{"))
         CALL("\"index\":0,\"id\":\"a\"," FUNCTION("f", "}")) STOP("tool_calls"),
     "||tool_calls|a f {};", NULL},
    {"calls of one index that grow in turn are told apart by their ids",
     CALL("\"index\":0,\"id\":\"a\"," FUNCTION("f", ""))
         CALL("\"index\":0,\"id\":\"b\"," FUNCTION("g", ""))
             CALL("\"index\":0,\"id\":\"a\"," FUNCTION("", "{\\\"x\\\":1}"))
                 CALL("\"index\":0,\"id\":\"b\"," FUNCTION("", "{\\\"y\\\":2}"))
                     STOP("stop"),
     "||tool_calls|a f {\"x\":1};b g {\"y\":2};", NULL},
    {"calls of one index and no id are told apart by their names",
     CALL("\"index\":0," FUNCTION("f", "{\\\"x\\\":1}"))
         CALL("\"index\":0," FUNCTION("g", "{\\\"y\\\":2}")) STOP("stop"),
     "||tool_calls|* f {\"x\":1};* g {\"y\":2};", NULL},
    {"a name in pieces",
     CALL("\"index\":0,\"id\":\"a\"," FUNCTION("edit_", ""))
         CALL("\"index\":0," FUNCTION("file", ""))
             CALL("\"index\":0," FUNCTION("", "{}")) STOP("tool_calls"),
     "||tool_calls|a edit_file {};", NULL},
    {"a name that comes as far as it is known",
     CALL("\"index\":0,\"id\":\"a\"," FUNCTION("edit_", ""))
         CALL("\"index\":0,\"id\":\"a\"," FUNCTION("edit_file", "{}")) CALL(
             "\"index\":0,\"id\":\"a\"," FUNCTION("edit_file", "")) STOP("tool_calls"),
     "||tool_calls|a edit_file {};", NULL},
    {"a call without its function",
     CALL("\"id\":\"a\",\"name\":\"f\",\"arguments\":{\"x\":1}") STOP("tool_calls"),
     "||tool_calls|a f {\"x\":1};", NULL},
    {"the old form beside the new one",
     DELTA("\"function_call\":{\"name\":\"f\",\"arguments\":\"{}\"},\"tool_calls\":[{"
           "\"index\":0,\"id\":\"a\"," FUNCTION("f", "{}") "}]") STOP("tool_calls"),
     "||tool_calls|a f {};", NULL},
    {"Bedrock begins arguments with {}",
     CALL("\"index\":0,\"id\":\"a\"," FUNCTION("f", "{}"))
         CALL("\"index\":0," FUNCTION("", "{\\\"x\\\":1}")) STOP("tool_calls"),
     "||tool_calls|a f {\"x\":1};", NULL},
    {"vLLM sends arguments in pieces, then whole",
     CALL("\"index\":0,\"id\":\"a\"," FUNCTION("f", "{\\\"x\\\""))
         CALL("\"index\":0," FUNCTION("", ":1}"))
             CALL("\"index\":0," FUNCTION("", "{\\\"x\\\":1}")) STOP("tool_calls"),
     "||tool_calls|a f {\"x\":1};", NULL},
    {"arguments as text in text",
     CALL("\"index\":0,\"id\":\"a\"," FUNCTION("f", "\\\"{\\\\\\\"x\\\\\\\":1}\\\""))
         CALL("\"index\":1,\"id\":\"b\"," FUNCTION("f", "\\\"x\\\""))
             STOP("tool_calls"),
     "||tool_calls|a f {\"x\":1};b f \"x\";", NULL},
    {"a call that nothing is said of",
     CALL("\"id\":\"a\"," FUNCTION("f", "{}"))
         CALL("\"index\":1,\"id\":\"\"," FUNCTION("", "")) CALL("") STOP("tool_calls"),
     "||tool_calls|a f {};", NULL},
    {"arguments in the word null",
     CALL("\"index\":0,\"id\":\"a\"," FUNCTION("f", "null")) STOP("tool_calls"),
     "||tool_calls|a f {};", NULL},
    {"two whole calls without index and id",
     DELTA("\"tool_calls\":[{" FUNCTION("f", "{}") "},{" FUNCTION("g", "{}") "}]")
         STOP("tool_calls"),
     "||tool_calls|* f {};* g {};", NULL},
    {"the id repeats without an index",
     CALL("\"id\":\"a\"," FUNCTION("f", "{")) CALL("\"id\":\"b\"," FUNCTION("g", "{"))
         CALL("\"id\":\"a\"," FUNCTION("", "}")) CALL("\"id\":\"b\"," FUNCTION("", "}"))
             STOP("tool_calls"),
     "||tool_calls|a f {};b g {};", NULL},
    {"a piece with nothing to go by belongs to the call touched last",
     CALL("\"id\":\"a\"," FUNCTION("f", "{")) CALL("\"id\":\"b\"," FUNCTION("g", "{"))
         CALL(FUNCTION("", "}")) CALL("\"id\":\"a\"") CALL(FUNCTION("", "}"))
             STOP("tool_calls"),
     "||tool_calls|a f {};b g {};", NULL},
    {"the name comes after the id, the index as text",
     CALL("\"index\":\"0\",\"id\":\"a\"") CALL("\"index\":0," FUNCTION("f", "{}"))
         STOP("tool_calls"),
     "||tool_calls|a f {};", NULL},
    {"indexes with a gap",
     CALL("\"index\":7,\"id\":\"a\"," FUNCTION("f", "{}"))
         CALL("\"index\":3,\"id\":\"b\"," FUNCTION("g", "{}")) STOP("tool_calls"),
     "||tool_calls|a f {};b g {};", NULL},
    {"arguments of a wrong type stay wrong; null is none",
     CALL("\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":5}")
         CALL("\"id\":\"b\",\"function\":{\"name\":\"g\",\"arguments\":null}")
             STOP("tool_calls"),
     "||tool_calls|a f 5;b g {};", NULL},
    {"a surrogate pair that pieces of arguments and of reasoning part",
     CALL("\"index\":0,\"id\":\"a\"," FUNCTION("f", "{\\\"x\\\":\\\"\\ud83d")) CALL(
         "\"index\":0," FUNCTION("", "\\ude42\\\"}")) DELTA("\"reasoning\":\"\\ud83d\"")
         DELTA("\"reasoning\":\"\\ude42\"") STOP("tool_calls"),
     "|\xF0\x9F\x99\x82|tool_calls|a f {\"x\":\"\xF0\x9F\x99\x82\"};", NULL},
    {"one call in place of a list",
     DELTA("\"tool_calls\":{\"id\":\"a\"," FUNCTION("f", "{}") "}") STOP("tool_calls"),
     "||tool_calls|a f {};", NULL},
    {"a call that is cut by the limit does not run",
     DELTA("\"content\":\"x\"") CALL("\"index\":0,\"id\":\"a\"," FUNCTION("f", "{"))
         STOP("length"),
     "x||length|", NULL},
    {"a call without a name",
     CALL("\"index\":0,\"id\":\"a\"," FUNCTION("", "{}")) STOP("tool_calls"),
     "bad_response|1", NULL},
    {"Gemini's signature of a call is kept with it",
     CALL("\"id\":\"a\"," FUNCTION("f", "{}") ",\"extra_content\":{\"google\":{"
                                              "\"thought_signature\":\"S\"}}")
         CALL("\"id\":\"b\"," FUNCTION("f", "{}") ",\"extra_content\":null")
             STOP("stop"),
     "||tool_calls|a f {};b f {};",
     "[{\"place\":2,\"item\":{\"extra_content\":{\"google\":{\"thought_signature\":"
     "\"S\"}}}}]"},
    {"a name is taken as it came",
     CALL("\"id\":\"a\"," FUNCTION("files__read", "{}")) STOP("tool_calls"),
     "||tool_calls|a files__read {};", NULL},
    {"quota", "{\"error\":{\"message\":\"m\",\"code\":\"insufficient_quota\"}}\n",
     "quota|0", NULL},
    {"an error's number is its status",
     "{\"error\":{\"message\":\"m\",\"code\":502}}\n", "server|1", NULL},
    {"an error's number as text", "{\"error\":{\"message\":\"m\",\"code\":\"429\"}}\n",
     "rate_limited|1", NULL},
    {"an error as text", "{\"error\":\"model is overloaded\"}\n", "overloaded|1", NULL},
    {"OpenRouter breaks off, whatever comes first",
     DELTA("\"content\":\"a\"") "{\"choices\":[{\"delta\":{},\"finish_reason\":"
                                "\"error\"}],"
                                "\"error\":{\"code\":429,\"message\":\"m\"}}\n",
     "rate_limited|1", NULL},
    {"an error of the choice",
     "{\"choices\":[{\"delta\":{},\"finish_reason\":\"error\",\"error\":{\"code\":429,"
     "\"message\":\"m\"}}]}\n",
     "rate_limited|1", NULL},
    {"a list with an error", "[{\"error\":{\"code\":429,\"message\":\"m\"}}]\n",
     "rate_limited|1", NULL},
    {"FastAPI's error", "{\"detail\":\"too many requests\"}\n", "rate_limited|1", NULL},
    {"an error without a name", "{\"message\":\"m\",\"code\":401}\n", "auth|0", NULL},
    {"Cloudflare's errors",
     "{\"success\":false,\"errors\":[{\"code\":3040,\"message\":\"no capacity\"}]}\n",
     "overloaded|1", NULL},
    {"MiniMax's error",
     "{\"choices\":null,\"base_resp\":{\"status_code\":1008,\"status_msg\":"
     "\"insufficient balance\"}}\n",
     "quota|0", NULL},
    {"MiniMax's success",
     DELTA("\"content\":\"a\"") "{\"choices\":[{\"delta\":{},"
                                "\"finish_reason\":\"stop\"}],\"base_resp\":{\"status_"
                                "code\":0,"
                                "\"status_msg\":\"\"}}\n{\"base_resp\":{\"status_"
                                "code\":0,"
                                "\"status_msg\":\"ok\"}}\n",
     "a||stop|", NULL},
    {"a message that is no error",
     "{\"status\":\"queued\",\"message\":\"you are the third\"}\n" DELTA(
         "\"content\":\"a\"") STOP("stop"),
     "a||stop|", NULL},
    {"vLLM's error",
     "{\"object\":\"error\",\"message\":\"m\",\"type\":"
     "\"invalid_request_error\",\"code\":400}\n",
     "invalid_request|0", NULL},
    {"an error that is null, false or empty is none",
     "{\"error\":null,\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n"
     "{\"choices\":[{\"delta\":{\"content\":\"b\"},\"error\":false}]}\n"
     "{\"error\":\"\",\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n",
     "ab||stop|", NULL},
    {"plain text in place of an event", "Internal error: out of memory\n",
     "bad_response|1", NULL},
    {"a comment that became data",
     ": OPENROUTER PROCESSING\n" DELTA("\"content\":\"a\"") STOP("stop"), "a||stop|",
     NULL},
    {"events that say nothing",
     "null\n" DELTA("\"content\":\"a\"") "ping\n[]\n0\n" DELTA("\"content\":\"b\"")
         STOP("stop"),
     "ab||stop|", NULL},
    {"behind a finish nothing is missing",
     DELTA("\"content\":\"a\"") STOP("stop") "\"[DONE]\"\n[done]\n", "a||stop|", NULL},
    {"one answer whose number is not 0",
     "{\"choices\":[{\"index\":1,\"delta\":{\"content\":\"a\"}}]}\n{\"choices\":[{"
     "\"index\":1,\"delta\":{},\"finish_reason\":\"stop\"}]}\n",
     "a||stop|", NULL},
    {"events that are framed twice",
     "data: " DELTA("\"content\":\"a\"") "data:" STOP("stop") "data: [DONE]\n",
     "a||stop|", NULL},
    {"wrong types everywhere",
     "{\"choices\":7}\n{\"choices\":[7,null,{\"delta\":[]}],\"usage\":[]}\n"
     "{\"choices\":[{\"index\":\"x\",\"delta\":{\"content\":{\"a\":1},\"tool_calls\":"
     "[7,\"x\",null],\"reasoning\":[]}}]}\n" DELTA(
         "\"content\":\"a\",\"tool_calls\":null") STOP("stop"),
     "a||stop|", NULL},
    {"a whole completion as one event",
     "{\"choices\":[{\"message\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n",
     "a||stop|", NULL},
    {"the whole message beside the last delta",
     DELTA("\"content\":\"a\"") "{\"choices\":[{\"message\":{\"content\":\"a\"},"
                                "\"delta\":{},\"finish_reason\":\"stop\"}]}\n",
     "a||stop|", NULL},
    {"the whole message in place of the last delta, with a call",
     DELTA("\"content\":\"a\"") "{\"choices\":[{\"message\":{\"content\":\"a\","
                                "\"tool_calls\":[{\"id\":\"b\"," FUNCTION(
                                    "f", "{}") "}]},\"finish_reason\":\"stop\"}]}\n",
     "a||tool_calls|b f {};", NULL},
    {"messages in place of deltas",
     "{\"choices\":[{\"message\":{\"content\":\"a\"}}]}\n{\"choices\":[{\"message\":{"
     "\"content\":\"b\"},\"delta\":{},\"finish_reason\":\"stop\"}]}\n",
     "ab||stop|", NULL},
};

#define HELLO DELTA("\"content\":\"Hello.\"")
#define CALL_ADD                                                                       \
    CALL("\"index\":0,\"id\":\"c1\"," FUNCTION("add", ""))                             \
    CALL("\"index\":0,\"function\":{\"arguments\":\"{\\\"a\\\":3,\"}")                 \
    CALL("\"index\":0,\"function\":{\"arguments\":\"\\\"b\\\":"                        \
         "\\\"\\\\\\\"4\\\\\\\"\\\"}\"}")
#define ADD_ARGUMENTS "{\\\"a\\\":3,\\\"b\\\":\\\"\\\\\\\"4\\\\\\\"\\\"}"
#define ERROR(code)                                                                    \
    "{\"error\":{\"message\":\"m\",\"type\":\"" code "\",\"code\":\"" code "\"}}\n"

static const wire_usage usages[] = {
    {"what was put into a cache",
     HELLO STOP("stop") "{\"choices\":[],\"usage\":{\"prompt_tokens\":9,"
                        "\"completion_tokens\":4,\"prompt_tokens_details\":{"
                        "\"cached_tokens\":3,\"cache_write_tokens\":5}}}\n",
     9, 3, 5, 4, 0},
};

const wire_table wire_table_openai = {
    .provider = "openai",
    .nth_call = CALL("\"index\":@," FUNCTION("f", "{}")),
    .claims =
        {
            [WIRE_TEXT] = HELLO STOP("stop") "[DONE]\n",
            [WIRE_TEXT_IN_PIECES] =
                DELTA("\"content\":\"caf\"") DELTA("\"content\":\"\\u00e9 \"")
                    DELTA("\"content\":\"\U0001f642\"") STOP("stop") "[DONE]\n",
            [WIRE_PARTED_PAIR] = DELTA("\"content\":\"a\\ud83d\"")
                DELTA("\"content\":\"\\ude42b\\ud83d\"") STOP("stop"),
            [WIRE_ONE_CALL] = CALL_ADD STOP("tool_calls") "[DONE]\n",
            [WIRE_TEXT_AND_CALLS] = DELTA("\"content\":\"Sure.\"")
                CALL("\"index\":0,\"id\":\"c1\"," FUNCTION("add", "{\\\"a\\\":1}"))
                    CALL("\"index\":1,\"id\":\"c2\"," FUNCTION("files__read",
                                                               "{\\\"p\\\":\\\"x\\\"}"))
                        STOP("tool_calls") "[DONE]\n",
            [WIRE_CALL_WITHOUT_INPUT] = CALL("\"index\":0,\"id\":\"c1\"," FUNCTION(
                "now", "")) STOP("tool_calls") "[DONE]\n",
            [WIRE_REASONING] = DELTA("\"reasoning_content\":\"Two and two.\"")
                DELTA("\"content\":\"Four.\"") STOP("stop") "[DONE]\n",
            [WIRE_USAGE] = HELLO STOP(
                "stop") "{\"choices\":[],\"usage\":{\"prompt_tokens\":10,"
                        "\"completion_tokens\":4,\"prompt_tokens_details\":{"
                        "\"cached_tokens\":3},\"completion_tokens_details\":{"
                        "\"reasoning_tokens\":2}}}\n[DONE]\n",
            [WIRE_LENGTH] = DELTA("\"content\":\"Cut\"") STOP("length") "[DONE]\n",
            [WIRE_LENGTH_IN_CALL] = DELTA("\"content\":\"x\"")
                CALL("\"index\":0,\"id\":\"a\"," FUNCTION("f", "{")) STOP("length"),
            [WIRE_FILTERED] = DELTA("\"content\":\"No\"") STOP("content_filter"),
            [WIRE_NO_END] = HELLO,
            [WIRE_NO_WORD] = STOP("stop") "[DONE]\n",
            [WIRE_OVERLOADED] = HELLO ERROR("overloaded_error"),
            [WIRE_RATE_LIMITED] = ERROR("rate_limit_exceeded"),
            [WIRE_NOT_JSON] = HELLO "upstream failed\n",
            [WIRE_UNKNOWN] = "{\"object\":\"new\",\"x\":[{}]}\n" DELTA(
                "\"y\":{\"z\":[1,null]},\"content\":\"Hello.\"") STOP("stop"),
            [WIRE_WHOLE_TEXT] = "{\"choices\":[{\"index\":0,\"message\":{\"role\":"
                                "\"assistant\",\"content\":\"Hello.\"},"
                                "\"finish_reason\":\"stop\"}]}",
            [WIRE_WHOLE_CALL] =
                "{\"choices\":[{\"message\":{\"content\":null,\"tool_calls\":[{\"id\":"
                "\"c1\"," FUNCTION("add", ADD_ARGUMENTS) "}]},\"finish_reason\":"
                                                         "\"tool_calls\"}]}",
            [WIRE_WHOLE_ERROR] = ERROR("rate_limit_exceeded"),
            [WIRE_BAD_KEY] = ERROR("invalid_api_key"),
            [WIRE_TOO_LONG] = ERROR("context_length_exceeded"),
            [WIRE_TOO_MANY] = ERROR("rate_limit_exceeded"),
            [WIRE_BUSY] = ERROR("service_unavailable"),
        },
    .usages = usages,
    .n_usages = sizeof(usages) / sizeof(usages[0]),
    .rows = rows,
    .n_rows = sizeof(rows) / sizeof(rows[0]),
};
