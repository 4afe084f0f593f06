// What Gemini's generateContent sends.
#include "support/wire_table.h"

#define CONTENT(parts) "\"content\":{\"role\":\"model\",\"parts\":[" parts "]}"
#define CHUNK(fields)                                                                  \
    "{\"candidates\":[{" fields ",\"index\":0}],\"modelVersion\":\"g\"}\n"
#define PARTS(parts) CHUNK(CONTENT(parts))
#define STOP(reason) CHUNK("\"content\":{},\"finishReason\":\"" reason "\"")
#define TEXT(text) "{\"text\":\"" text "\"}"
#define CALL(name, rest) "{\"functionCall\":{\"name\":\"" name "\"" rest "}}"
#define SIGNED(fields, signature) "{" fields ",\"thoughtSignature\":\"" signature "\"}"
#define ERROR(code, status)                                                            \
    "{\"error\":{\"code\":" code ",\"message\":\"m\",\"status\":\"" status "\"}}\n"
#define HELLO PARTS(TEXT("Hello."))
#define ADD CALL("add", ",\"id\":\"c1\",\"args\":{\"a\":3,\"b\":\"\\\"4\\\"\"}")

static const wire_row rows[] = {
    {"the signature of the first of two calls stays with it",
     PARTS(SIGNED("\"functionCall\":{\"name\":\"f\",\"args\":{}}",
                  "s1") "," CALL("g", ",\"args\":{}")) STOP("STOP"),
     "||tool_calls|* f {};* g {};",
     "[{\"place\":2,\"item\":{\"thoughtSignature\":\"s1\"}}]"},
    {"the signature of a text in a part of its own",
     HELLO CHUNK(CONTENT(SIGNED("\"text\":\"\"", "s")) ",\"finishReason\":\"STOP\""),
     "Hello.||stop|",
     "[{\"place\":1,\"at\":6,\"item\":{\"text\":\"\",\"thoughtSignature\":\"s\"}}]"},
    {"the signature of a text beside it",
     PARTS(SIGNED("\"text\":\"Hello.\"", "a\\/b+=")) STOP("STOP"), "Hello.||stop|",
     "[{\"place\":1,\"at\":6,\"item\":{\"text\":\"\",\"thoughtSignature\":\"a\\/"
     "b+=\"}}]"},
    {"the signature of a thought, before a call",
     PARTS(SIGNED("\"text\":\"hm\",\"thought\":true", "s") "," CALL("f", ""))
         STOP("STOP"),
     "|hm|tool_calls|* f {};",
     "[{\"place\":0,\"item\":{\"thought\":true,\"text\":\"\",\"thoughtSignature\":"
     "\"s\"}}]"},
    {"thoughts between texts",
     PARTS("{\"thought\":true,\"text\":\"x\"}") PARTS(TEXT("a"))
         PARTS("{\"text\":\"y\",\"thought\":true}") PARTS("{\"thought\":false,\"text\":"
                                                          "\"b\"}") STOP("STOP"),
     "ab|xy|stop|", ""},
    {"ids that the model gave",
     PARTS(CALL("f", ",\"id\":\"i1\",\"args\":{}") "," CALL(
         "f", ",\"args\":{},\"id\":\"i2\"")) STOP("STOP"),
     "||tool_calls|i1 f {};i2 f {};", NULL},
    {"code that the server ran is kept",
     PARTS("{\"executableCode\":{\"language\":\"PYTHON\",\"code\":\"1+1\"}}")
         PARTS("{\"codeExecutionResult\":{\"outcome\":\"OUTCOME_OK\",\"output\":"
               "\"2\"}}") PARTS(TEXT("Two.")) STOP("STOP"),
     "Two.||stop|",
     "[{\"place\":0,\"item\":{\"executableCode\":{\"language\":\"PYTHON\",\"code\":"
     "\"1+1\"}}},{\"place\":0,\"item\":{\"codeExecutionResult\":{\"outcome\":"
     "\"OUTCOME_OK\",\"output\":\"2\"}}}]"},
    {"arguments of a wrong type stay wrong; null and an empty list are none",
     PARTS(CALL("f", ",\"args\":[1]") "," CALL("g", ",\"args\":null") "," CALL(
         "h", ",\"args\":[]")) STOP("STOP"),
     "||tool_calls|* f [1];* g {};* h {};", NULL},
    {"arguments as text", PARTS(CALL("f", ",\"args\":\"{\\\"a\\\":1}\"")) STOP("STOP"),
     "||tool_calls|* f {\"a\":1};", NULL},
    {"an end before the first word is none", STOP("STOP") HELLO, "truncated|1", NULL},
    {"an end before the first word, and one behind the last",
     STOP("STOP") HELLO HELLO STOP("STOP"), "Hello.Hello.||stop|", NULL},
    {"an end with each piece",
     CHUNK(CONTENT(TEXT("a")) ",\"finishReason\":\"STOP\"")
         CHUNK(CONTENT(TEXT("b")) ",\"finishReason\":\"STOP\""),
     "ab||stop|", NULL},
    {"a call beside a text",
     PARTS("{\"text\":\"a\",\"functionCall\":{\"name\":\"f\"}}") STOP("STOP"),
     "a||tool_calls|* f {};", NULL},
    {"the end marker of gateways", HELLO STOP("STOP") "[DONE]\n", "Hello.||stop|",
     NULL},
    {"the end marker of gateways without a reason", HELLO "[DONE]\n", "Hello.||stop|",
     NULL},
    {"the other candidates are other answers",
     "{\"candidates\":[{\"index\":1," CONTENT(TEXT(
         "B")) ",\"finishReason\":\"SAFETY\"},{" CONTENT(TEXT("A")) "}]}\n" STOP("STO"
                                                                                 "P"),
     "A||stop|", NULL},
    {"the finish in the last part's chunk, the usage behind it",
     CHUNK(
         CONTENT(TEXT("a")) ",\"finishReason\":\"STOP\"") "{\"usageMetadata\":{"
                                                          "\"promptTokenCount\":1}}\n",
     "a||stop|", NULL},
    {"no reason yet",
     CHUNK(CONTENT(TEXT("a")) ",\"finishReason\":\"FINISH_REASON_UNSPECIFIED\""),
     "truncated|1", NULL},
    {"a call that it could not write",
     "{\"candidates\":[{\"content\":{},\"index\":0,\"finishReason\":"
     "\"MALFORMED_FUNCTION_CALL\",\"finishMessage\":\"print(\"}]}\n",
     "bad_response|1", NULL},
    {"a call of a tool that there is not", STOP("UNEXPECTED_TOOL_CALL"),
     "bad_response|1", NULL},
    {"a call of a tool that there is not, beside its reason",
     CHUNK(CONTENT(CALL("f", "")) ",\"finishReason\":\"UNEXPECTED_TOOL_CALL\""),
     "||tool_calls|* f {};", NULL},
    {"recitation", PARTS(TEXT("a")) STOP("RECITATION"), "content_filter|0", NULL},
    {"a language that it does not speak", STOP("LANGUAGE"), "content_filter|0", NULL},
    {"personal data", STOP("SPII"), "content_filter|0", NULL},
    {"a picture that is not shown", STOP("IMAGE_SAFETY"), "content_filter|0", NULL},
    {"calls as the reason of other servers", PARTS(CALL("f", "")) STOP("FUNCTION_CALL"),
     "||tool_calls|* f {};", NULL},
    {"any other reason, after text", HELLO STOP("OTHER"), "bad_response|1", NULL},
    {"a reason of the future", HELLO STOP("NEW_REASON"), "bad_response|1", NULL},
    {"a signature that we lost", STOP("MISSING_THOUGHT_SIGNATURE"), "invalid_request|0",
     NULL},
    {"a prompt that is blocked",
     "{\"promptFeedback\":{\"blockReason\":\"PROHIBITED_CONTENT\"},\"usageMetadata\":{"
     "\"promptTokenCount\":3}}\n",
     "content_filter|0", NULL},
    {"a list of errors",
     "["
     "{\"error\":{\"code\":503,\"message\":\"m\",\"status\":"
     "\"UNAVAILABLE\"}}"
     "]\n",
     "overloaded|1", NULL},
    {"an error that is null is none", "{\"error\":null}\n" HELLO STOP("STOP"),
     "Hello.||stop|", NULL},
    {"a request that is wrong", ERROR("400", "INVALID_ARGUMENT"), "invalid_request|0",
     NULL},
    {"a call without a name", PARTS("{\"functionCall\":{\"args\":{}}}") STOP("STOP"),
     "bad_response|1", NULL},
    {"wrong types everywhere",
     "{\"candidates\":7}\n{\"candidates\":[7,{\"content\":{\"parts\":7}},{\"content\":"
     "{\"parts\":[7,null,[],{\"text\":7},{\"functionCall\":[]},{\"thoughtSignature\":"
     "{}}]}},{\"content\":null,\"finishReason\":7}],\"usageMetadata\":[],"
     "\"promptFeedback\":7}\n" HELLO STOP("STOP"),
     "Hello.||stop|", ""},
};

#define COUNTS(counts) "{\"usageMetadata\":{" counts "}}\n"

static const wire_usage usages[] = {
    {"in two chunks",
     HELLO COUNTS("\"promptTokenCount\":9,\"cachedContentTokenCount\":3")
         COUNTS("\"promptTokenCount\":0,\"candidatesTokenCount\":4") STOP("STOP"),
     9, 3, 0, 4, 0},
    {"more and more",
     HELLO COUNTS("\"promptTokenCount\":9,\"candidatesTokenCount\":1")
         COUNTS("\"promptTokenCount\":9,\"candidatesTokenCount\":4,"
                "\"toolUsePromptTokenCount\":2,\"thoughtsTokenCount\":5") STOP("STOP"),
     11, 0, 0, 9, 5},
    {"what the candidates took is the rest",
     HELLO COUNTS("\"promptTokenCount\":9,\"thoughtsTokenCount\":2,"
                  "\"totalTokenCount\":15") STOP("STOP"),
     9, 0, 0, 6, 2},
};

const wire_table wire_table_gemini = {
    .provider = "gemini",
    .nth_call = PARTS(CALL("f", "")),
    .claims =
        {
            [WIRE_TEXT] = HELLO STOP("STOP"),
            [WIRE_TEXT_IN_PIECES] = PARTS(TEXT("caf")) PARTS(TEXT("\\u00e9 "))
                PARTS(TEXT("\U0001f642")) STOP("STOP"),
            [WIRE_PARTED_PAIR] =
                PARTS(TEXT("a\\ud83d")) PARTS(TEXT("\\ude42b\\ud83d")) STOP("STOP"),
            [WIRE_ONE_CALL] = PARTS(ADD) STOP("STOP"),
            [WIRE_TEXT_AND_CALLS] = PARTS(TEXT("Sure."))
                PARTS(CALL("add", ",\"id\":\"c1\",\"args\":{\"a\":1}"))
                    PARTS(CALL("files__read", ",\"id\":\"c2\",\"args\":{\"p\":\"x\"}"))
                        STOP("STOP"),
            [WIRE_CALL_WITHOUT_INPUT] =
                PARTS(CALL("now", ",\"id\":\"c1\"")) STOP("STOP"),
            [WIRE_REASONING] = PARTS("{\"text\":\"Two and two.\",\"thought\":true}")
                PARTS(TEXT("Four.")) STOP("STOP"),
            [WIRE_USAGE] = "{\"candidates\":[{" CONTENT(
                TEXT("Hello.")) ",\"finishReason\":\"STOP\"}],\"usageMetadata\":{"
                                "\"promptTokenCount\":8,\"toolUsePromptTokenCount\":2,"
                                "\"cachedContentTokenCount\":3,"
                                "\"candidatesTokenCount\":2,\"thoughtsTokenCount\":2,"
                                "\"totalTokenCount\":14}}\n",
            [WIRE_LENGTH] = PARTS(TEXT("Cut")) STOP("MAX_TOKENS"),
            [WIRE_LENGTH_IN_CALL] =
                PARTS(TEXT("x")) PARTS(CALL("f", ",\"args\":{}")) STOP("MAX_TOKENS"),
            [WIRE_FILTERED] = PARTS(TEXT("No")) STOP("SAFETY"),
            [WIRE_NO_END] = HELLO,
            [WIRE_NO_WORD] = STOP("STOP"),
            [WIRE_OVERLOADED] = HELLO ERROR("503", "UNAVAILABLE"),
            [WIRE_RATE_LIMITED] = ERROR("429", "RESOURCE_EXHAUSTED"),
            [WIRE_NOT_JSON] = HELLO "upstream failed\n",
            [WIRE_UNKNOWN] = "{\"x\":[{}]}\n" CHUNK(
                "\"y\":1,\"content\":{\"z\":{},\"parts\":[{\"new\":1},"
                "{\"text\":\"Hello.\",\"w\":[]}]}") STOP("STOP"),
            [WIRE_WHOLE_TEXT] = "[{\"candidates\":[{" CONTENT(TEXT(
                "Hel")) "}]},\n{\"candidates\":[{" CONTENT(TEXT("lo.")) ",\"finishReaso"
                                                                        "n\":\"STOP\"}]"
                                                                        "}]",
            [WIRE_WHOLE_CALL] =
                "{\"candidates\":[{" CONTENT(ADD) ",\"finishReason\":\"STOP\"}]}",
            [WIRE_WHOLE_ERROR] = "["
                                 "{\"error\":{\"code\":429,\"message\":\"m\","
                                 "\"status\":\"RESOURCE_EXHAUSTED\"}}"
                                 "]",
            [WIRE_BAD_KEY] = ERROR("401", "UNAUTHENTICATED"),
            [WIRE_TOO_LONG] =
                "{\"error\":{\"code\":400,\"message\":\"The input token count "
                "(1100000) "
                "exceeds the maximum number of tokens allowed (1048576).\",\"status\":"
                "\"INVALID_ARGUMENT\"}}",
            [WIRE_TOO_MANY] = ERROR("429", "RESOURCE_EXHAUSTED"),
            [WIRE_BUSY] = ERROR("503", "UNAVAILABLE"),
        },
    .usages = usages,
    .n_usages = sizeof(usages) / sizeof(usages[0]),
    .rows = rows,
    .n_rows = sizeof(rows) / sizeof(rows[0]),
};
