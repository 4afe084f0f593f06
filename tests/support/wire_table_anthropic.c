// What Anthropic's Messages API, and servers that speak the same, send.
#include "support/wire_table.h"

#define START                                                                          \
    "{\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\","      \
    "\"role\":\"assistant\",\"content\":[],\"model\":\"m\",\"stop_reason\":null,"      \
    "\"usage\":{\"input_tokens\":5,\"output_tokens\":1}}}\n{\"type\":\"ping\"}\n"
#define BEGIN(index, block)                                                            \
    "{\"type\":\"content_block_start\",\"index\":" index ",\"content_block\":{" block  \
    "}}\n"
#define DELTA(index, delta)                                                            \
    "{\"type\":\"content_block_delta\",\"index\":" index ",\"delta\":{" delta "}}\n"
#define END(index) "{\"type\":\"content_block_stop\",\"index\":" index "}\n"
#define STOP(reason)                                                                   \
    "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"" reason                 \
    "\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":4}}\n"
#define DONE "{\"type\":\"message_stop\"}\n"

#define TEXT_BLOCK "\"type\":\"text\",\"text\":\"\""
#define TEXT(text) "\"type\":\"text_delta\",\"text\":\"" text "\""
#define SAID(index, text) BEGIN(index, TEXT_BLOCK) DELTA(index, TEXT(text)) END(index)
#define USE(id, name)                                                                  \
    "\"type\":\"tool_use\",\"id\":\"" id "\",\"name\":\"" name "\",\"input\":{}"
#define INPUT(json) "\"type\":\"input_json_delta\",\"partial_json\":\"" json "\""
#define CALLED(index, id, name, json)                                                  \
    BEGIN(index, USE(id, name)) DELTA(index, INPUT(json)) END(index)
#define THINKING_BLOCK "\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\""
#define THINKING(text) "\"type\":\"thinking_delta\",\"thinking\":\"" text "\""
#define SIGNATURE(text) "\"type\":\"signature_delta\",\"signature\":\"" text "\""
#define THOUGHT(index, text, signature)                                                \
    BEGIN(index, THINKING_BLOCK)                                                       \
    DELTA(index, THINKING(text)) DELTA(index, SIGNATURE(signature)) END(index)
#define ERROR(type)                                                                    \
    "{\"type\":\"error\",\"error\":{\"type\":\"" type "\",\"message\":\"m\"},"         \
    "\"request_id\":\"r\"}\n"
#define HELLO START SAID("0", "Hello.")

static const wire_row rows[] = {
    {"a thought keeps its signature and its place, byte for byte",
     START THOUGHT("0", "So\\n\\u00e9 \\ud83d\\ude42.", "sig+/=") SAID("1", "a")
         STOP("end_turn") DONE,
     "a|So\n\xC3\xA9 \xF0\x9F\x99\x82.|stop|",
     "[{\"place\":0,\"item\":{\"type\":\"thinking\",\"thinking\":\"So\\n\\u00e9 "
     "\\ud83d\\ude42.\",\"signature\":\"sig+/=\"}}]"},
    {"thoughts between calls stand between them",
     START THOUGHT("0", "x", "s1") SAID("1", "t") CALLED("2", "c1", "f", "{}")
         THOUGHT("3", "y", "s2") CALLED("4", "c2", "g", "{}") STOP("tool_use") DONE,
     "t|xy|tool_calls|c1 f {};c2 g {};",
     "[{\"place\":0,\"item\":{\"type\":\"thinking\",\"thinking\":\"x\",\"signature\":"
     "\"s1\"}},{\"place\":2,\"item\":{\"type\":\"thinking\",\"thinking\":\"y\","
     "\"signature\":\"s2\"}}]"},
    {"a thought that is hidden from us",
     START BEGIN("0", "\"type\":\"redacted_thinking\",\"data\":\"EmwKAh\"") END("0")
         SAID("1", "a") STOP("end_turn") DONE,
     "a||stop|",
     "[{\"place\":0,\"item\":{\"type\":\"redacted_thinking\",\"data\":\"EmwKAh\"}}]"},
    {"a thought of which only the signature is sent",
     START BEGIN("0", THINKING_BLOCK) DELTA("0", SIGNATURE("s")) END("0") SAID("1", "a")
         STOP("end_turn") DONE,
     "a||stop|",
     "[{\"place\":0,\"item\":{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":"
     "\"s\"}}]"},
    {"a thought without a signature is shown and not kept",
     START BEGIN("0", THINKING_BLOCK) DELTA("0", THINKING("x")) END("0") SAID("1", "a")
         STOP("end_turn") DONE,
     "a|x|stop|", ""},
    {"tokens that are counted in the middle of a thought",
     START BEGIN("0", THINKING_BLOCK)
         DELTA("0", THINKING("x")) "{\"type\":\"message_delta\",\"delta\":{\"stop_"
                                   "reason\":null},\"usage\":{"
                                   "\"output_tokens\":2}}\n" DELTA("0", SIGNATURE("s"))
                                       END("0") SAID("1", "a") STOP("end_turn") DONE,
     "a|x|stop|",
     "[{\"place\":0,\"item\":{\"type\":\"thinking\",\"thinking\":\"x\",\"signature\":"
     "\"s\"}}]"},
    {"a signature in pieces, and no end of the block",
     START BEGIN("0", THINKING_BLOCK) DELTA("0", THINKING("x"))
         DELTA("0", SIGNATURE("s1")) DELTA("0", SIGNATURE("s2")) SAID("1", "a")
             STOP("end_turn") DONE,
     "a|x|stop|",
     "[{\"place\":0,\"item\":{\"type\":\"thinking\",\"thinking\":\"x\",\"signature\":"
     "\"s1s2\"}}]"},
    {"what a tool of the server did is kept",
     START SAID("0", "I look.")
         BEGIN("1", "\"type\":\"server_tool_use\",\"id\":\"srv\",\"name\":"
                    "\"web_search\",\"input\":{}") DELTA("1", INPUT("{\\\"q\\\":"))
             DELTA("1", INPUT("\\\"x\\\"}")) END("1")
                 BEGIN("2", "\"type\":\"web_search_tool_result\",\"tool_use_id\":"
                            "\"srv\",\"content\":[{\"encrypted_content\":\"e\"}]")
                     END("2") SAID("3", " Found.") STOP("end_turn") DONE,
     "I look. Found.||stop|",
     "[{\"place\":1,\"at\":7,\"item\":{\"type\":\"server_tool_use\",\"id\":\"srv\","
     "\"name\":"
     "\"web_search\",\"input\":{\"q\":\"x\"}}},{\"place\":1,\"at\":7,\"item\":{"
     "\"type\":"
     "\"web_search_tool_result\",\"tool_use_id\":\"srv\",\"content\":[{"
     "\"encrypted_content\":\"e\"}]}}]"},
    {"a thought within the text stands there",
     START SAID("0", "\\u00fc. ") THOUGHT("1", "x", "s") SAID("2", "b") STOP("end_turn")
         DONE,
     "\xC3\xBC. b|x|stop|",
     "[{\"place\":1,\"at\":4,\"item\":{\"type\":\"thinking\",\"thinking\":\"x\","
     "\"signature\":\"s\"}}]"},
    {"a tool of the server without input",
     START BEGIN("0", "\"id\":\"srv\",\"input\":{},\"name\":\"n\",\"type\":"
                      "\"server_tool_use\"") END("0") SAID("1", "a") STOP("end_turn")
         DONE,
     "a||stop|",
     "[{\"place\":0,\"item\":{\"id\":\"srv\",\"name\":\"n\",\"type\":"
     "\"server_tool_use\",\"input\":{}}}]"},
    {"input that came whole with its block counts once",
     START BEGIN("0", "\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"f\",\"input\":{"
                      "\"a\": [1]}") DELTA("0", INPUT("{\\\"a\\\":[1]}")) END("0")
         STOP("tool_use") DONE,
     "||tool_calls|c f {\"a\": [1]};", NULL},
    {"input as text, and as pieces that are none",
     START BEGIN("0", "\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"f\",\"input\":"
                      "\"{\\\"a\\\":1}\"") END("0") BEGIN("1", USE("d", "g"))
         DELTA("1", "\"partial_json\":{\"b\":2}") END("1") STOP("tool_use") DONE,
     "||tool_calls|c f {\"a\":1};d g {\"b\":2};", NULL},
    {"input as text that deltas bring, too",
     START BEGIN("0",
                 "\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"f\",\"input\":\"{}\"")
         DELTA("0", INPUT("{\\\"a\\\":1}")) STOP("tool_use") DONE,
     "||tool_calls|c f {\"a\":1};", NULL},
    {"input of a wrong type stays wrong; an empty list is none",
     START BEGIN("0", "\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"f\",\"input\":"
                      "[1]") BEGIN("1", "\"type\":\"tool_use\",\"id\":\"d\","
                                        "\"name\":\"g\",\"input\":[]")
         DELTA("1", INPUT("{\\\"b\\\":2}")) STOP("tool_use") DONE,
     "||tool_calls|c f [1];d g {\"b\":2};", NULL},
    {"blocks of calls that are mixed",
     START BEGIN("0", USE("c1", "f")) BEGIN("1", USE("c2", "g"))
         DELTA("0", INPUT("{\\\"a\\\"")) DELTA("1", INPUT("{\\\"b\\\""))
             DELTA("0", INPUT(":1}")) DELTA("1", INPUT(":2}")) END("0") END("1")
                 STOP("tool_use") DONE,
     "||tool_calls|c1 f {\"a\":1};c2 g {\"b\":2};", NULL},
    {"a message that begins with a text alone",
     "{\"type\":\"message_start\",\"message\":{\"content\":\"a\"}}\n" SAID("0", "b")
         STOP("end_turn") DONE,
     "ab||stop|", NULL},
    {"citations and unknown blocks are ignored",
     START BEGIN("0", TEXT_BLOCK) DELTA("0", TEXT("a"))
         DELTA("0", "\"type\":\"citations_delta\",\"citation\":{\"cited_text\":\"c\"}")
             END("0") BEGIN("1", "\"type\":\"new_block\",\"x\":1")
                 DELTA("1", "\"type\":\"new_delta\",\"y\":\"z\"") END("1")
                     STOP("end_turn") DONE,
     "a||stop|", ""},
    {"a stop sequence", HELLO STOP("stop_sequence") DONE, "Hello.||stop|", NULL},
    {"an unknown reason", HELLO STOP("new_reason") DONE, "Hello.||stop|", NULL},
    {"the context is full", HELLO STOP("model_context_window_exceeded") DONE,
     "Hello.||length|", NULL},
    {"the context is full before the first word",
     START STOP("model_context_window_exceeded") DONE, "context_length|0", NULL},
    {"the end marker of gateways", HELLO STOP("end_turn") "[DONE]\n", "Hello.||stop|",
     NULL},
    {"a turn that the server paused", HELLO STOP("pause_turn") DONE, "Hello.||length|",
     NULL},
    {"stop with a call", START CALLED("0", "c", "f", "{}") STOP("end_turn") DONE,
     "||tool_calls|c f {};", NULL},
    {"the end without a reason, after text", HELLO DONE, "Hello.||stop|", NULL},
    {"the end without a reason, after nothing", START DONE, "truncated|1", NULL},
    {"a gateway's error", "{\"error\":{\"message\":\"m\",\"code\":502}}\n", "server|1",
     NULL},
    {"an error that is null is none",
     START "{\"type\":\"ping\",\"error\":null}\n" SAID("0", "a") STOP("end_turn") DONE,
     "a||stop|", NULL},
    {"errors of a kind", ERROR("api_error"), "server|1", NULL},
    {"a request that is wrong", ERROR("invalid_request_error"), "invalid_request|0",
     NULL},
    {"a key that is wrong", ERROR("authentication_error"), "auth|0", NULL},
    {"no money", ERROR("billing_error"), "quota|0", NULL},
    {"a call without a name", START CALLED("0", "c", "", "{}") STOP("tool_use") DONE,
     "bad_response|1", NULL},
    {"wrong types everywhere",
     START "{\"type\":7}\n{\"type\":\"content_block_start\",\"index\":\"x\","
           "\"content_block\":[]}\n{\"type\":\"content_block_delta\",\"index\":0,"
           "\"delta\":7}\n{\"type\":\"message_delta\",\"delta\":null,\"usage\":7}\n"
           "{\"type\":\"message_start\",\"message\":[]}\n"
           "{\"type\":\"content_block_stop\",\"index\":{}}\n" SAID("0", "a")
               STOP("end_turn") DONE,
     "a||stop|", NULL},
    {"deltas whose block was never begun",
     START DELTA("0", TEXT("a")) DELTA("1", THINKING("r")) DELTA("2", SIGNATURE("s"))
         DELTA("3", INPUT("{}")) STOP("end_turn") DONE,
     "a|r|stop|", ""},
};

#define COUNTS(counts)                                                                 \
    "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},"            \
    "\"usage\":" counts "}\n" DONE

static const wire_usage usages[] = {
    {"all of it at the end",
     START SAID("0", "a")
         COUNTS("{\"input_tokens\":7,\"cache_read_input_tokens\":4,"
                "\"cache_creation_input_tokens\":2,\"output_tokens\":3}"),
     13, 4, 2, 3, 0},
    {"nothing at the end", START SAID("0", "a") COUNTS("null"), 5, 0, 0, 1, 0},
    {"nulls and numbers with a point",
     START SAID("0", "a") COUNTS("{\"input_tokens\":null,\"output_tokens\":3.0,"
                                 "\"cache_read_input_tokens\":null}"),
     5, 0, 0, 3, 0},
};

const wire_table wire_table_anthropic =
    {
        .provider = "anthropic",
        .nth_call = CALLED("@", "c@", "f", "{}"),
        .names_events = true,
        .claims =
            {
                [WIRE_TEXT] = HELLO STOP("end_turn") DONE,
                [WIRE_TEXT_IN_PIECES] = START BEGIN("0", TEXT_BLOCK)
                    DELTA("0", TEXT("caf")) DELTA("0", TEXT("\\u00e9 "))
                        DELTA("0", TEXT("\U0001f642")) END("0") STOP("end_turn") DONE,
                [WIRE_PARTED_PAIR] =
                    START BEGIN("0", TEXT_BLOCK)
                        DELTA("0", TEXT("a\\ud83d"))
                            DELTA("0", TEXT("\\ude42b\\ud83d"))
                                END("0") STOP("end_turn") DONE,
                [WIRE_ONE_CALL] =
                    START BEGIN("0", USE("c1", "add"))
                        DELTA("0", INPUT(""))
                            DELTA("0", INPUT("{\\\"a\\\":3,"))
                                DELTA("0",
                                      INPUT("\\\"b\\\":\\\"\\\\\\\"4\\\\\\\"\\\"}"))
                                    END("0") STOP("tool_use") DONE,
                [WIRE_TEXT_AND_CALLS] =
                    START SAID("0", "Sure.")
                        CALLED("1", "c1", "add", "{\\\"a\\\":1}")
                            CALLED("2", "c2", "files__read", "{\\\"p\\\":\\\"x\\\"}")
                                STOP("tool_use") DONE,
                [WIRE_CALL_WITHOUT_INPUT] =
                    START CALLED("0", "c1", "now", "") STOP("tool_use") DONE,
                [WIRE_REASONING] =
                    START THOUGHT("0", "Two and two.", "s")
                        SAID("1", "Four.") STOP("end_turn") DONE,
                [WIRE_USAGE] =
                    "{\"type\":\"message_start\",\"message\":{\"usage\":{\"input_"
                    "tokens\":5,"
                    "\"cache_creation_input_tokens\":2,\"cache_read_input_tokens\":3,"
                    "\"output_tokens\":1}}}\n" SAID(
                        "0",
                        "Hello.") "{\"type\":\"message_delta\",\"delta\":{\"stop_"
                                  "reason\":\"end_turn\""
                                  "},\"usage\":{\"input_tokens\":0,\"output_tokens\":4,"
                                  "\"output_tokens_details\":{\"thinking_tokens\":2}}}"
                                  "\n" DONE,
                [WIRE_LENGTH] = START SAID("0", "Cut") STOP("max_tokens") DONE,
                [WIRE_LENGTH_IN_CALL] =
                    START SAID("0", "x")
                        CALLED("1", "a", "f", "{\\\"b\\\"") STOP("max_tokens") DONE,
                [WIRE_FILTERED] = START SAID("0", "No") STOP("refusal") DONE,
                [WIRE_NO_END] = HELLO,
                [WIRE_NO_WORD] = START STOP("end_turn") DONE,
                [WIRE_OVERLOADED] = HELLO ERROR("overloaded_error"),
                [WIRE_RATE_LIMITED] = ERROR("rate_limit_error"),
                [WIRE_NOT_JSON] = HELLO "upstream failed\n",
                [WIRE_UNKNOWN] =
                    START "{\"type\":\"new_event\",\"delta\":{\"text\":\"x\"}}\n"
                          "{\"x\":[{}]}\n" SAID("0", "Hello.") STOP("end_turn") DONE,
                [WIRE_WHOLE_TEXT] =
                    "{\"type\":\"message\",\"content\":[{\"type\":\"text\","
                    "\"text\":\"Hello.\"}],\"stop_reason\":\"end_turn\"}",
                [WIRE_WHOLE_CALL] =
                    "{\"stop_reason\":\"tool_use\",\"content\":[{\"type\":\"tool_use\","
                    "\"id\":\"c1\",\"name\":\"add\",\"input\":{\"a\":3,\"b\":"
                    "\"\\\"4\\\"\""
                    "}}],\"type\":\"message\"}",
                [WIRE_WHOLE_ERROR] = ERROR("rate_limit_error"),
                [WIRE_BAD_KEY] = ERROR("authentication_error"),
                [WIRE_TOO_LONG] =
                    "{\"type\":\"error\",\"error\":{\"type\":"
                    "\"invalid_request_error\",\"message\":\"prompt is too "
                    "long: 210000 tokens > 200000 maximum\"}}",
                [WIRE_TOO_MANY] = ERROR("rate_limit_error"),
                [WIRE_BUSY] = ERROR("overloaded_error"),
            },
        .usages = usages,
        .n_usages = sizeof(usages) / sizeof(usages[0]),
        .rows = rows,
        .n_rows = sizeof(rows) / sizeof(rows[0]),
};
