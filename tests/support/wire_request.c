// See wire_request.h.
#include "support/wire_request.h"

#include "support/check.h"
#include "support/model_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *must(void *memory)
{
    if (!memory) {
        (void)fputs("no memory for a request\n", stderr);
        abort();
    }
    return memory;
}

// As model_open, with the model's name and a base URL.
static void *open_model(const cadre_model_ops *ops, const wire_request *request,
                        cadre_error *err)
{
    json_t *options =
        must(json_loads(request->options ? request->options : "{}", 0, NULL));
    const cadre_model_config config = {
        .struct_size = sizeof(config),
        .name = "m",
        .model = request->model ? request->model : "m",
        .base_url = request->base_url ? request->base_url : "http://h",
        .api_key_env = "TEST_KEY",
        .options = options,
    };
    void *state = must(calloc(1, ops->state_size + 1));
    CHECK_OK(ops->init(state, &config, err), err);
    json_decref(options);
    return state;
}

static void encode(const wire_request *from, cadre_http *http)
{
    char name[128];
    cadre_error err = CADRE_ERROR_INIT;
    const cadre_model_ops *ops = model_ops_find(from->provider);
    if (!CHECK(ops != NULL))
        return;
    json_t *schema =
        from->output_schema ? must(json_loads(from->output_schema, 0, NULL)) : NULL;
    cadre_request_item *items = must(calloc(from->n_messages + 1, sizeof(*items)));
    (void)snprintf(name, sizeof(name), "%s/%s", from->provider,
                   from->model ? from->model : "m");
    for (size_t i = 0; i < from->n_messages; i++)
        items[i] = (cadre_request_item){.message = &from->messages[i],
                                        .text = from->messages[i].text};
    const cadre_request request = {.system = from->system ? from->system : "Be brief.",
                                   .items = items,
                                   .n_items = from->n_messages,
                                   .tools = from->tools,
                                   .n_tools = from->n_tools,
                                   .api_key = "k",
                                   .agent = "a",
                                   .model = name,
                                   .output_schema = schema,
                                   .output_name = schema ? "report" : ""};
    void *state = open_model(ops, from, &err);
    if (err.status == CADRE_OK)
        CHECK_OK(model_encode(ops, state, &request, http, &err), &err);
    CHECK(!http->failed);
    model_close(ops, state);
    json_decref(schema);
    free(items);
}

char *wire_request_encode(const wire_request *request, cadre_http *http)
{
    cadre_http own;
    cadre_http *to = http ? http : &own;
    cdr_http_init(to);
    encode(request, to);
    char *body = must(strdup(cdr_buf_text(&to->body)));
    json_t *json = json_loads(body, JSON_REJECT_DUPLICATES, NULL);
    if (!CHECK(json_is_object(json)))
        (void)printf("\n  body: %s\n", body);
    json_decref(json);
    if (!http)
        cdr_http_fini(&own);
    return body;
}
