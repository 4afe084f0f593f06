// What OpenAI's Responses API, and servers that speak the same, send.
#include "support/wire_table.h"

#define COMPLETED                                                                      \
    "{\"type\":\"response.completed\",\"response\":{\"status\":\"completed\","         \
    "\"error\":null,\"usage\":{\"input_tokens\":7,\"input_tokens_details\":{"          \
    "\"cached_tokens\":4},\"output_tokens\":5,\"output_tokens_details\":{"             \
    "\"reasoning_tokens\":2}}}}\n"
#define TEXT(text)                                                                     \
    "{\"type\":\"response.output_text.delta\",\"output_index\":0,\"delta\":\"" text    \
    "\"}\n"
#define ITEM(kind, index, item)                                                        \
    "{\"type\":\"response.output_item." kind "\",\"output_index\":" index              \
    ",\"item\":{" item "}}\n"
#define CALL(id, arguments)                                                            \
    "\"type\":\"function_call\",\"id\":\"fc\",\"call_id\":\"" id                       \
    "\",\"name\":\"add\",\"arguments\":\"" arguments "\""
#define DELTA(item, piece)                                                             \
    "{\"type\":\"response.function_call_arguments.delta\",\"item_id\":\"" item         \
    "\",\"output_index\":0,\"delta\":\"" piece "\"}\n"
#define REASONING                                                                      \
    "\"id\":\"rs\",\"type\":\"reasoning\",\"summary\":[],\"encrypted_content\":\"E\""
#define MESSAGE(text)                                                                  \
    "\"type\":\"message\",\"content\":[{\"type\":\"output_text\",\"text\":\"" text     \
    "\"}]"

static const wire_row rows[] = {
    {"text", TEXT("Hel") TEXT("lo\\n\\u00e9") COMPLETED, "Hello\n\xC3\xA9||stop|", ""},
    {"the whole text is the same data",
     ITEM("added", "0", "\"type\":\"message\",\"content\":[]")
         TEXT("one") "{\"type\":\"response.output_text.done\",\"text\":\"one\"}"
                     "\n" ITEM("done", "0", MESSAGE("one")) COMPLETED,
     "one||stop|", ""},
    {"a text that only comes whole", ITEM("done", "0", MESSAGE("one")) COMPLETED,
     "one||stop|", ""},
    {"texts that only come whole, in events of their own",
     "{\"type\":\"response.reasoning_summary_text.done\",\"text\":\"r\"}\n"
     "{\"type\":\"response.output_text.done\",\"text\":\"one\"}\n" ITEM(
         "done", "0", MESSAGE("one")) "{\"type\":\"response.refusal.done\","
                                      "\"refusal\":\"two\"}\n" COMPLETED,
     "onetwo|r|stop|", ""},
    {"two messages, the second only whole",
     TEXT("one") ITEM("done", "0", MESSAGE("one")) ITEM("done", "1", MESSAGE("two"))
         COMPLETED,
     "onetwo||stop|", ""},
    {"a call by deltas",
     ITEM("added", "1", CALL("c1", "")) "{\"type\":\"response.function_call_arguments."
                                        "delta\",\"output_index\":1,"
                                        "\"delta\":\"{\\\"a\\\":\"}\n"
                                        "{\"type\":\"response.function_call_arguments."
                                        "delta\",\"output_index\":1,"
                                        "\"delta\":\"3}\"}\n"
                                        "{\"type\":\"response.function_call_arguments."
                                        "done\",\"output_index\":1,"
                                        "\"arguments\":\"{\\\"a\\\":3}\"}\n" ITEM(
                                            "done", "1", CALL("c1", "{\\\"a\\\":3}"))
                                            COMPLETED,
     "||tool_calls|c1 add {\"a\":3};", ""},
    {"places that no item can have",
     ITEM("done", "9223372036854775807", CALL("c1", "{}"))
         ITEM("done", "-9223372036854775808", CALL("c2", "")) COMPLETED,
     "||tool_calls|c1 add {};c2 add {};", ""},
    {"calls that only come whole",
     ITEM("done", "0", CALL("c1", "{}")) ITEM("done", "1", CALL("c2", "")) COMPLETED,
     "||tool_calls|c1 add {};c2 add {};", ""},
    {"arguments that only come whole",
     ITEM("added", "0",
          CALL("c1", "")) "{\"type\":\"response.function_call_arguments.done\","
                          "\"output_index\":0,\"arguments\":\"{}\"}\n" ITEM(
                              "added", "1",
                              CALL("c2", "")) "{\"type\":\"response.completed\","
                                              "\"response\":{\"status\":\"completed\","
                                              "\"output\":[{" CALL(
                                                  "c1", "{}") "},{" CALL("c2",
                                                                         "{\\\"a"
                                                                         "\\\":"
                                                                         "3}") "}"
                                                                               "]"
                                                                               "}"
                                                                               "}"
                                                                               "\n",
     "||tool_calls|c1 add {};c2 add {\"a\":3};", ""},
    {"arguments as an object",
     ITEM("done", "0",
          "\"type\":\"function_call\",\"call_id\":\"c1\",\"name\":\"add\","
          "\"arguments\":{\"a\":3}") COMPLETED,
     "||tool_calls|c1 add {\"a\":3};", ""},
    {"calls at one place are told apart by their ids",
     ITEM("added", "0",
          "\"type\":\"function_call\",\"id\":\"i1\",\"call_id\":\"c1\",\"name\":"
          "\"f\"") ITEM("added", "0",
                        "\"type\":\"function_call\",\"id\":\"i2\",\"call_id\":"
                        "\"c2\",\"name\":\"g\"") DELTA("i1", "{\\\"a\\\":")
         DELTA("i2", "{\\\"b\\\":") DELTA("i1", "1}") DELTA("i2", "2}") COMPLETED,
     "||tool_calls|c1 f {\"a\":1};c2 g {\"b\":2};", ""},
    {"one call whose ids change",
     ITEM("added", "0",
          "\"type\":\"function_call\",\"id\":\"i1\",\"call_id\":\"c1\",\"name\":"
          "\"f\"") DELTA("i2", "{}")
         ITEM("done", "0",
              "\"type\":\"function_call\",\"id\":\"i3\",\"call_id\":\"c3\","
              "\"name\":\"f\","
              "\"arguments\":\"{}\"") "{\"type\":\"response.completed\","
                                      "\"response\":{\"output\":[{\"type\":"
                                      "\"function_call\","
                                      "\"call_id\":\"c4\",\"name\":\"f\","
                                      "\"arguments\":\"{}\"}]}}\n",
     "||tool_calls|c1 f {};", ""},
    {"calls without a place",
     "{\"type\":\"response.output_item.added\",\"item\":{" CALL(
         "c1", "") "}}\n"
                   "{\"type\":\"response.function_call_arguments.delta\",\"delta\":"
                   "\"{}\"}\n"
                   "{\"type\":\"response.output_item.done\",\"item\":{" CALL(
                       "c1", "{}") "}}\n"
                                   "{\"type\":\"response.output_item.done\",\"item\":{"
                                   "\"type\":\"function_call\",\"call_id\":\"c2\","
                                   "\"name\":\"f\",\"arguments\":\"{}\"}}\n" COMPLETED,
     "||tool_calls|c1 add {};c2 f {};", ""},
    {"two calls that grow in turn",
     ITEM("added", "0", CALL("c1", ""))
         ITEM("added", "1", CALL("c2", "")) "{\"type\":\"response.function_call_"
                                            "arguments.delta\",\"output_index\":0,"
                                            "\"delta\":\"{\\\"a\\\":1}\"}\n"
                                            "{\"type\":\"response.function_call_"
                                            "arguments.delta\",\"output_index\":1,"
                                            "\"delta\":\"{\\\"b\\\":2}\"}\n" COMPLETED,
     "||tool_calls|c1 add {\"a\":1};c2 add {\"b\":2};", ""},
    {"reasoning is kept whole in its place",
     ITEM("done", "0", REASONING) ITEM("done", "1", CALL("c1", "{}"))
         ITEM("done", "2", REASONING) ITEM("done", "3", CALL("c2", "{}")) COMPLETED,
     "||tool_calls|c1 add {};c2 add {};",
     "[{\"place\":0,\"item\":{" REASONING "}},{\"place\":2,\"item\":{" REASONING "}}]"},
    {"reasoning between two messages stands there",
     ITEM("done", "0", REASONING) ITEM("done", "1", MESSAGE("one"))
         ITEM("done", "2", REASONING) ITEM("done", "3", MESSAGE("two")) COMPLETED,
     "onetwo||stop|",
     "[{\"place\":0,\"item\":{" REASONING
     "}},{\"place\":1,\"at\":3,\"item\":{" REASONING "}}]"},
    {"a summary is reasoning",
     "{\"type\":\"response.reasoning_summary_part.added\",\"summary_index\":0}\n"
     "{\"type\":\"response.reasoning_summary_text.delta\",\"delta\":\"one\"}\n"
     "{\"type\":\"response.reasoning_summary_part.added\",\"summary_index\":1}\n"
     "{\"type\":\"response.reasoning_summary_text.delta\",\"delta\":\"two\"}"
     "\n" TEXT("x") COMPLETED,
     "x|one\n\ntwo|stop|", ""},
    {"reasoning that only comes whole",
     ITEM("done", "0",
          "\"type\":\"reasoning\",\"encrypted_content\":\"E\",\"summary\":[{"
          "\"type\":"
          "\"summary_text\",\"text\":\"one\"},{\"type\":\"summary_text\",\"text\":"
          "\"two\"}]") TEXT("x") COMPLETED,
     "x|one\n\ntwo|stop|", NULL},
    {"reasoning that is not sealed is kept with its content",
     ITEM("done", "0",
          "\"type\":\"reasoning\",\"content\":[{\"type\":\"reasoning_text\","
          "\"text\":\"hm\"}]") TEXT("x") COMPLETED,
     "x|hm|stop|",
     "[{\"place\":0,\"item\":{\"type\":\"reasoning\",\"content\":[{\"type\":"
     "\"reasoning_text\","
     "\"text\":\"hm\"}]}}]"},
    {"reasoning without content could not be sent back",
     ITEM("done", "0",
          "\"type\":\"reasoning\",\"id\":\"rs\",\"summary\":[],\"content\":[],"
          "\"encrypted_content\":null") TEXT("x") COMPLETED,
     "x||stop|", ""},
    {"a refusal is what it says",
     "{\"type\":\"response.refusal.delta\",\"delta\":\"I won't.\"}\n" COMPLETED,
     "I won't.||stop|", ""},
    {"all at the end only",
     "{\"type\":\"response.completed\",\"response\":{\"status\":\"completed\","
     "\"output\":[{" MESSAGE("one") "},{" CALL("c1", "{}") "}]}}\n",
     "one||tool_calls|c1 add {};", ""},
    {"at the end only what was not told yet",
     "{\"type\":\"response.reasoning_text.delta\",\"delta\":\"r\"}\n" TEXT("one")
         ITEM("done", "1",
              MESSAGE("one")) "{\"type\":\"response.completed\",\"response\":{"
                              "\"output\":[{" REASONING
                              "},{" MESSAGE("one") "},{" CALL("c1", "{}") "}]}}\n",
     "one|r|tool_calls|c1 add {};", ""},
    {"the answer at the end, its reasoning before",
     "{\"type\":\"response.reasoning_text.delta\",\"delta\":\"r\"}\n{\"type\":"
     "\"response.completed\",\"response\":{\"output\":[{" REASONING
     "},{" MESSAGE("one") "}]}}\n",
     "one|r|stop|", "[{\"place\":0,\"item\":{" REASONING "}}]"},
    {"the output at the end is the same data",
     TEXT("one") "{\"type\":\"response.completed\",\"response\":{\"output\":["
                 "{" MESSAGE("one") "}],\"status\":\"completed\"}}\n",
     "one||stop|", ""},
    {"cut by its length",
     TEXT("one") "{\"type\":\"response.incomplete\",\"response\":{\"status\":"
                 "\"incomplete\",\"incomplete_details\":{\"reason\":\"max_output_"
                 "tokens\"}}}\n",
     "one||length|", ""},
    {"stopped by a filter",
     TEXT("one") "{\"type\":\"response.incomplete\",\"response\":{\"status\":"
                 "\"incomplete\",\"incomplete_details\":{\"reason\":\"content_"
                 "filter\"}"
                 "}}\n",
     "content_filter|0", NULL},
    {"an end without a status, or without a response",
     TEXT("one") "{\"type\":\"response.incomplete\",\"response\":{\"incomplete_"
                 "details\":null}}\n",
     "one||length|", ""},
    {"an end that says nothing", TEXT("one") "{\"type\":\"response.completed\"}\n",
     "one||stop|", ""},
    {"other servers' words for an end",
     TEXT("one") "{\"type\":\"response.done\",\"response\":{\"status\":"
                 "\"completed\"}}\n[DONE]\n",
     "one||stop|", ""},
    {"[DONE] after text, or after a whole call, is an end",
     TEXT("one") ITEM("done", "1", CALL("c1", "{}")) "[DONE]\n",
     "one||tool_calls|c1 add {};", ""},
    {"[DONE] inside a call",
     ITEM("added", "0", CALL("c1", "")) DELTA("fc", "{\\\"a\\\"") "[DONE]\n",
     "truncated|1", NULL},
    {"unknown events and items",
     "{\"type\":\"response.some_future_event\",\"x\":{}}\n{\"type\":\"keepalive\"}"
     "\n" ITEM("done", "0", "\"type\":\"web_search_call\"") TEXT("one") COMPLETED,
     "one||stop|", ""},
    {"a failure",
     TEXT("one") "{\"type\":\"response.failed\",\"response\":{\"status\":\"failed\","
                 "\"error\":{\"code\":\"rate_limit_exceeded\",\"message\":\"slow "
                 "down\"}}}\n",
     "rate_limited|1", NULL},
    {"a failure without a status",
     TEXT("one") "{\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":"
                 "\"rate_limit_exceeded\",\"message\":\"m\"}}}\n",
     "rate_limited|1", NULL},
    {"a failure without a response",
     "{\"type\":\"response.failed\",\"error\":{\"code\":\"rate_limit_exceeded\"}}"
     "\n",
     "rate_limited|1", NULL},
    {"a failure that says nothing", TEXT("one") "{\"type\":\"response.cancelled\"}\n",
     "server|1", NULL},
    {"a failure under the name of an error",
     "{\"type\":\"response.error\",\"code\":\"rate_limit_error\",\"message\":\"m\"}"
     "\n",
     "rate_limited|1", NULL},
    {"an error as text", "{\"error\":\"model is overloaded\"}\n", "overloaded|1", NULL},
    {"vLLM's error",
     "{\"object\":\"error\",\"message\":\"m\",\"type\":\"invalid_request_error\","
     "\"code\":400}\n",
     "invalid_request|0", NULL},
    {"a list with an error", "[{\"error\":{\"code\":429,\"message\":\"m\"}}]\n",
     "rate_limited|1", NULL},
    {"an error event, flat",
     "{\"type\":\"error\",\"code\":\"server_error\",\"message\":\"m\"}\n", "server|1",
     NULL},
    {"an error event, nested",
     "{\"type\":\"error\",\"error\":{\"code\":\"insufficient_quota\",\"message\":"
     "\"m\"}}\n",
     "quota|0", NULL},
    {"an error without a type", "{\"error\":{\"message\":\"overloaded\"}}\n",
     "overloaded|1", NULL},
    {"no end", TEXT("one"), "truncated|1", NULL},
    {"a call without an end", ITEM("done", "0", CALL("c1", "{}")), "truncated|1", NULL},
    {"nothing said", COMPLETED, "empty_response|1", NULL},
    {"not JSON", "oops\n", "bad_response|1", NULL},
};

#define HELLO TEXT("Hello.")
#define CALL_OF(id, name, arguments)                                                   \
    "\"type\":\"function_call\",\"id\":\"f" id "\",\"call_id\":\"" id                  \
    "\",\"name\":\"" name "\",\"arguments\":\"" arguments "\""
#define ARGUMENTS(index, piece)                                                        \
    "{\"type\":\"response.function_call_arguments.delta\",\"output_index\":" index     \
    ",\"delta\":\"" piece "\"}\n"
#define ADD_ARGUMENTS "{\\\"a\\\":3,\\\"b\\\":\\\"\\\\\\\"4\\\\\\\"\\\"}"
#define INCOMPLETE(reason)                                                             \
    "{\"type\":\"response.incomplete\",\"response\":{\"status\":\"incomplete\","       \
    "\"incomplete_details\":{\"reason\":\"" reason "\"}}}\n"
#define FAILED(code)                                                                   \
    "{\"type\":\"response.failed\",\"response\":{\"status\":\"failed\",\"error\":{"    \
    "\"code\":\"" code "\",\"message\":\"m\"}}}\n"
#define ERROR(code)                                                                    \
    "{\"error\":{\"message\":\"m\",\"type\":\"" code "\",\"code\":\"" code "\"}}\n"
#define WHOLE(output)                                                                  \
    "{\"status\":\"completed\",\"error\":null,\"output\":[" output "]}"

const wire_table wire_table_openai_responses =
    {
        .provider = "openai_responses",
        .nth_call = ITEM("done", "@", CALL("c@", "{}")),
        .names_events = true,
        .claims =
            {
                [WIRE_TEXT] = HELLO COMPLETED,
                [WIRE_TEXT_IN_PIECES] =
                    TEXT("caf") TEXT("\\u00e9 ") TEXT("\U0001f642") COMPLETED,
                [WIRE_PARTED_PAIR] = TEXT("a\\ud83d") TEXT("\\ude42b\\ud83d") COMPLETED,
                [WIRE_ONE_CALL] = ITEM("added", "0", CALL_OF("c1", "add", ""))
                    ARGUMENTS("0", "{\\\"a\\\":3,")
                        ARGUMENTS("0", "\\\"b\\\":\\\"\\\\\\\"4\\\\\\\"\\\"}") ITEM(
                            "done", "0", CALL_OF("c1", "add", ADD_ARGUMENTS)) COMPLETED,
                [WIRE_TEXT_AND_CALLS] =
                    TEXT("Sure.")
                        ITEM("done", "0", MESSAGE("Sure."))
                            ITEM("added", "1", CALL_OF("c1", "add", ""))
                                ARGUMENTS("1", "{\\\"a\\\":1}")
                                    ITEM("added", "2", CALL_OF("c2", "files__read", ""))
                                        ARGUMENTS("2", "{\\\"p\\\":\\\"x\\\"}")
                                            COMPLETED,
                [WIRE_CALL_WITHOUT_INPUT] =
                    ITEM("added", "0", CALL_OF("c1", "now", ""))
                        ITEM("done", "0", CALL_OF("c1", "now", "")) COMPLETED,
                [WIRE_REASONING] =
                    "{\"type\":\"response.reasoning_summary_text.delta\","
                    "\"delta\":\"Two and two.\"}\n" TEXT("Four.") COMPLETED,
                [WIRE_USAGE] =
                    HELLO "{\"type\":\"response.completed\",\"response\":{\"status\":"
                          "\"completed\",\"usage\":{\"input_tokens\":10,"
                          "\"input_tokens_details\":{\"cached_tokens\":3},"
                          "\"output_tokens\":4,\"output_tokens_details\":{"
                          "\"reasoning_tokens\":2}}}}\n",
                [WIRE_LENGTH] = TEXT("Cut") INCOMPLETE("max_output_tokens"),
                [WIRE_LENGTH_IN_CALL] =
                    TEXT("x")
                        ITEM("added", "1", CALL_OF("a", "f", ""))
                            ARGUMENTS("1", "{") INCOMPLETE("max_output_tokens"),
                [WIRE_FILTERED] = TEXT("No") INCOMPLETE("content_filter"),
                [WIRE_NO_END] = HELLO,
                [WIRE_NO_WORD] = COMPLETED,
                [WIRE_OVERLOADED] = HELLO ERROR("overloaded_error"),
                [WIRE_RATE_LIMITED] = FAILED("rate_limit_exceeded"),
                [WIRE_NOT_JSON] = HELLO "upstream failed\n",
                [WIRE_UNKNOWN] = "{\"type\":\"response.new\",\"x\":[{}]}\n"
                                 "{\"y\":1}\n" HELLO COMPLETED,
                [WIRE_WHOLE_TEXT] = WHOLE("{" MESSAGE("Hello.") "}"),
                [WIRE_WHOLE_CALL] = WHOLE("{" CALL_OF("c1", "add", ADD_ARGUMENTS) "}"),
                [WIRE_WHOLE_ERROR] = ERROR("rate_limit_exceeded"),
                [WIRE_BAD_KEY] = ERROR("invalid_api_key"),
                [WIRE_TOO_LONG] = ERROR("context_length_exceeded"),
                [WIRE_TOO_MANY] = ERROR("rate_limit_exceeded"),
                [WIRE_BUSY] = ERROR("service_unavailable"),
            },
        .rows = rows,
        .n_rows = sizeof(rows) / sizeof(rows[0]),
};
