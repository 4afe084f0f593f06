// See script_schema.h.
#include "team/script_schema.h"

#include <stdbool.h>

#define NOTES "\"additionalProperties\": false, \"patternProperties\": {\"^x-\": true}"
#define AN_HOUR "{\"type\": \"string\", \"format\": \"duration\", \"maximum\": 3600000}"
#define TEXT "{\"type\": \"string\"}"
#define FLAG "{\"type\": \"boolean\"}"
#define TOKENS "{\"type\": \"integer\", \"minimum\": 0, \"maximum\": 1000000000000}"
#define COUNT "{\"type\": \"integer\", \"minimum\": 0}"
#define AT "\"at\": {\"type\": \"string\", \"minLength\": 1}"
#define AFTER "\"after\": {\"type\": \"array\", \"items\": " TEXT "}"
#define HANDOFF                                                                        \
    "{\"type\": \"object\", \"required\": [\"to\"], \"properties\": {"                 \
    "\"to\": {\"type\": \"string\"}, \"message\": {\"type\": \"string\"}}, " NOTES "}"

static const char agents_text[] =
    "{\"type\": \"object\", \"additionalProperties\": {"
    "  \"type\": \"array\", \"items\": {\"type\": \"object\", \"properties\": {"
    "   \"text\": {\"type\": \"string\"},"
    "   \"tool_calls\": {\"type\": \"array\", \"minItems\": 1, \"items\": {"
    "    \"type\": \"object\", \"required\": [\"name\"], \"properties\": {"
    "     \"id\": {\"type\": \"string\"}, \"name\": {\"type\": \"string\"},"
    "     \"arguments\": {\"type\": [\"object\", \"string\"]}}, " NOTES "}},"
    "   \"handoff\": " HANDOFF ","
    "   \"handoffs\": {\"type\": \"array\", \"minItems\": 1, \"items\": " HANDOFF "},"
    "   \"ask\": {\"type\": \"string\", \"minLength\": 1},"
    "   \"escalate\": {\"type\": [\"boolean\", \"string\"]},"
    "   \"delay\": " AN_HOUR ","
    "   \"chunks\": {\"type\": \"integer\", \"minimum\": 1, \"maximum\": 100000},"
    "   \"times\": {\"type\": \"integer\", \"minimum\": 1, \"maximum\": 1000000},"
    "   \"error\": {\"type\": \"object\", \"properties\": {"
    "    \"status\": {\"type\": [\"integer\", \"string\"], \"minimum\": 400,"
    "     \"maximum\": 599},"
    "    \"message\": {\"type\": \"string\"},"
    "    \"retry_after\": " AN_HOUR ", \"class\": " TEXT ","
    "    \"retryable\": " FLAG "}, " NOTES "},"
    "   \"usage\": {\"type\": \"object\", \"properties\": {"
    "    \"input_tokens\": " TOKENS ", \"output_tokens\": " TOKENS ","
    "    \"cached_input_tokens\": " TOKENS ","
    "    \"reasoning_tokens\": " TOKENS "}, " NOTES "},"
    "   \"when\": {\"type\": \"object\", \"properties\": {"
    "    \"contains\": {\"type\": \"string\"},"
    "    \"equals\": {\"type\": \"string\"}}, " NOTES "},"
    "   " AT ", " AFTER ","
    "   \"asked\": {\"type\": \"object\", \"properties\": {"
    "    \"model\": " TEXT ", \"input\": " TEXT ", \"files\": " TEXT ","
    "    \"messages\": " COUNT ","
    "    \"system\": " TEXT ","
    "    \"tools\": {\"type\": \"array\", \"items\": " TEXT "}}, " NOTES "},"
    "   \"reasoning\": " TEXT ", \"stopped\": " FLAG ","
    "   \"attempts\": {\"type\": \"integer\", \"minimum\": 2, \"maximum\": 10000},"
    "   \"finish\": {\"type\": \"string\", \"enum\": [\"length\"]}}, " NOTES "}}}";

static const char tools_text[] =
    "{\"type\": \"object\", \"additionalProperties\": {"
    "  \"type\": \"array\", \"minItems\": 1, \"items\": {\"type\": \"object\","
    "   \"properties\": {"
    "    \"result\": {\"type\": [\"string\", \"object\", \"array\"]},"
    "    \"error\": {\"type\": \"string\"},"
    "    " AT ", " AFTER ", \"runs\": " FLAG ", \"stopped\": " FLAG ","
    "    \"arguments\": {\"type\": [\"object\", \"string\"]},"
    "    \"code\": {\"type\": \"string\","
    "     \"enum\": [\"timeout\", \"interrupted\", \"restart_limit\"]},"
    "    \"state\": {\"type\": \"object\"}}, " NOTES "}}}";

// What only recordings have.
static const char recording_text[] =
    "{\"recording\": {\"type\": \"object\", \"properties\": {"
    "  \"team\": " TEXT ", \"inputs\": {\"type\": \"array\", \"items\": " TEXT "}},"
    "  " NOTES "},"
    " \"answers\": {\"type\": \"array\", \"items\": {\"type\": \"object\","
    "  \"required\": [\"at\", \"answer\"], \"properties\": {"
    "   " AT ", " AFTER ", \"question\": {}, \"answer\": {}}, " NOTES "}},"
    " \"values\": {\"type\": \"array\", \"items\": {\"type\": \"object\","
    "  \"required\": [\"at\", \"name\"], \"properties\": {"
    "   " AT ", " AFTER ", \"name\": " TEXT ", \"value\": {}, \"error\": " TEXT ","
    "   \"class\": " TEXT ", \"state\": {\"type\": \"object\"}}, " NOTES "}},"
    " \"messages\": {\"type\": \"array\", \"items\": {\"type\": \"object\","
    "  \"required\": [\"at\", \"text\"], \"properties\": {"
    "   " AT ", \"agent\": " TEXT ", \"text\": " TEXT "}, " NOTES "}},"
    " \"stopped\": {\"type\": \"array\", \"items\": {\"type\": \"object\","
    "  \"required\": [\"at\", \"reason\"], \"properties\": {"
    "   " AT ", " AFTER ", \"reason\": " TEXT "}, " NOTES "}}}";

// Takes the parts over; NULL: no memory.
static json_t *join(json_t *agents, json_t *tools, json_t *recording)
{
    json_t *schema =
        json_pack("{s:s, s:[s], s:b, s:{s:b}, s:{s:{s:s}, s:o, s:o}}", "type", "object",
                  "required", "agents", "additionalProperties", false,
                  "patternProperties", "^x-", true, "properties", "strict", "type",
                  "boolean", "agents", agents, "tools", tools);
    json_t *properties = json_object_get(schema, "properties");
    if (!recording || !properties || json_object_update(properties, recording) != 0) {
        json_decref(schema);
        schema = NULL;
    }
    json_decref(recording);
    return schema;
}

json_t *cdr_script_schema(void)
{
    return join(json_loads(agents_text, 0, NULL), json_loads(tools_text, 0, NULL),
                json_loads(recording_text, 0, NULL));
}
