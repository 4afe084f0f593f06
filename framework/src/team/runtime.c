// Runtimes: opened, closed, and told of types from outside.
#include "team/runtime.h"

#include "cadre/run.h"

#include "base/brief.h"
#include "base/buf.h"
#include "net/governor.h"
#include "team/kinds.h"
#include "team/settings.h"
#include "team/sized.h"

#include <curl/curl.h>
#include <lua.h>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#define DEFAULT_MAX_THREADS 30000
#define MAX_IDLE_THREADS 64
#define MAX_NAMED 32

// Opens the store that `url` names: "type" or "type:what the type makes of it".
static cadre_status open_store(cadre_runtime *runtime, const char *url,
                               cadre_error *err)
{
    size_t type_len = strcspn(url, ":");
    const char *rest = url[type_len] ? url + type_len + 1 : "";
    const cadre_store_ops *ops = NULL;
    for (size_t i = 0; cdr_kinds_stores[i] && !ops; i++) {
        const char *type = cdr_kinds_stores[i]->type;
        if (strlen(type) == type_len && strncmp(type, url, type_len) == 0)
            ops = cdr_kinds_stores[i];
    }
    if (!ops) {
        char brief[CDR_BRIEF_SIZE];
        const char *names[MAX_NAMED];
        size_t n_names =
            cdr_runtime_type_names(NULL, CADRE_KIND_STORE, names, MAX_NAMED);
        cdr_buf known = CDR_BUF_INIT;
        for (size_t i = 0; i < n_names; i++)
            cdr_buf_printf(&known, "%s%s", i > 0 ? ", " : "", names[i]);
        cadre_fail(err, CADRE_EINVAL, "unknown store %s (stores: %s)",
                   cdr_brief_text(brief, url, '\''), cdr_buf_text(&known));
        cdr_buf_fini(&known);
        return CADRE_EINVAL;
    }
    runtime->store = calloc(1, ops->state_size > 0 ? ops->state_size : 1);
    if (!runtime->store)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a store");
    runtime->store_ops = ops;
    return ops->init(runtime->store, rest, err);
}

static cadre_status check_config(const cadre_runtime_config *config, cadre_error *err)
{
    if (config->max_threads < 0)
        return cadre_fail(err, CADRE_EINVAL,
                          "max_threads is %d; it must be at least 1, or 0 for %d",
                          config->max_threads, DEFAULT_MAX_THREADS);
    if (config->script && !*config->script)
        return cadre_fail(err, CADRE_EINVAL,
                          "script is an empty text; name a file, or leave it out");
    return CADRE_OK;
}

static cadre_status open_parts(cadre_runtime *runtime,
                               const cadre_runtime_config *config, cadre_error *err)
{
    int max_threads = config->max_threads ? config->max_threads : DEFAULT_MAX_THREADS;
    runtime->clock = cdr_clock_real();
    runtime->offline = config->offline || config->script;
    if (config->script) {
        runtime->script = strdup(config->script);
        if (!runtime->script)
            return cadre_fail(err, CADRE_ENOMEM, "no memory for a runtime");
    }
    cadre_status status =
        cdr_pool_open(max_threads, MAX_IDLE_THREADS, &runtime->pool, err);
    if (status != CADRE_OK)
        return status;
    return open_store(runtime, config->store ? config->store : "memory", err);
}

cadre_status cadre_runtime_open(const cadre_runtime_config *config, cadre_runtime **out,
                                cadre_error *err)
{
    cadre_runtime_config own = {.struct_size = sizeof(own)};
    if (!out)
        return cadre_fail(err, CADRE_EINVAL, "cadre_runtime_open: no place for it");
    if (config && !cdr_sized_copy(&own, sizeof(own), config))
        return cadre_fail(err, CADRE_EINVAL,
                          "cadre_runtime_config: struct_size is not set; make it with "
                          "CADRE_RUNTIME(...)");
    cadre_status status = check_config(&own, err);
    if (status != CADRE_OK)
        return status;
    cadre_runtime *runtime = calloc(1, sizeof(*runtime));
    if (!runtime)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a runtime");
    cdr_governors_ref();
    cdr_mutex_init(&runtime->mu);
    cdr_watch_init(&runtime->watch);
    cdr_background_init(&runtime->background);
    status = open_parts(runtime, &own, err);
    if (status != CADRE_OK) {
        cadre_runtime_close(runtime);
        return status;
    }
    *out = runtime;
    return CADRE_OK;
}

void cadre_runtime_close(cadre_runtime *runtime)
{
    if (!runtime)
        return;
    // Jobs may still use the network and the store, so the threads go first.
    cdr_pool_close(runtime->pool);
    cdr_network_close(runtime->network);
    cdr_watch_fini(&runtime->watch);
    cdr_background_fini(&runtime->background);
    if (runtime->store_ops && runtime->store_ops->fini)
        runtime->store_ops->fini(runtime->store);
    free(runtime->store);
    free(runtime->script);
    free(runtime->agents.items);
    free(runtime->tools.items);
    free(runtime->models.items);
    free(runtime->holder);
    cdr_mutex_fini(&runtime->mu);
    cdr_governors_unref();
    free(runtime);
}

cadre_status cadre_runtime_wait(cadre_runtime *runtime, int64_t timeout_ms,
                                cadre_error *err)
{
    int64_t deadline_ms = CDR_NEVER;
    if (!runtime || timeout_ms < 0)
        return cadre_fail(err, CADRE_EINVAL,
                          "cadre_runtime_wait: needs a runtime, and a time of 0 ms "
                          "(none) or more");
    if (timeout_ms > 0)
        deadline_ms = cdr_clock_now_ms(cdr_clock_real()) + timeout_ms;
    if (cdr_background_wait(&runtime->background, deadline_ms))
        return CADRE_OK;
    return cadre_fail(err, CADRE_ETIMEOUT, "background runs are still under way");
}

cadre_status cdr_runtime_network(cadre_runtime *runtime, cdr_network **out,
                                 cadre_error *err)
{
    cadre_status status = CADRE_OK;
    cdr_mutex_lock(&runtime->mu);
    if (!runtime->network)
        status = cdr_network_open(&runtime->network, err);
    if (status == CADRE_OK)
        *out = runtime->network;
    cdr_mutex_unlock(&runtime->mu);
    return status;
}

// What all tables have in common, for registering.
typedef struct new_type {
    const void *ops;
    const char *what; // "agent type"
    const char *name;
    size_t struct_size, least_size;
    bool is_complete;
    const char *options_schema;
} new_type;

static void keep_first(void *ctx, const cdr_schema_problem *problem)
{
    cadre_fail(ctx, CADRE_EINVAL, "%s: %s", *problem->path ? problem->path : "it",
               problem->text);
}

static cadre_status check_type(const new_type *type, cadre_error *err)
{
    if (!type->name || !*type->name)
        return cadre_fail(err, CADRE_EINVAL, "%s: the table has no name", type->what);
    if (type->struct_size < type->least_size)
        return cadre_fail(err, CADRE_EINVAL,
                          "%s '%s': struct_size is %zu, not %zu; set it with sizeof, "
                          "and build against this version of cadre",
                          type->what, type->name, type->struct_size, type->least_size);
    if (!type->is_complete)
        return cadre_fail(err, CADRE_EINVAL,
                          "%s '%s': the table lacks a required function", type->what,
                          type->name);
    cadre_error cause = CADRE_ERROR_INIT;
    json_t *schema = cdr_settings_schema(type->options_schema, &cause);
    bool is_sound = schema && cdr_schema_check_schema(schema, keep_first, &cause) == 0;
    json_decref(schema);
    if (!is_sound)
        return cadre_fail(err, CADRE_EINVAL, "%s '%s': options_schema is no schema: %s",
                          type->what, type->name, cause.text);
    return CADRE_OK;
}

static cadre_status add_type(cadre_runtime *runtime, cdr_registered *list,
                             const new_type *type, cadre_error *err)
{
    cadre_status status = CADRE_ENOMEM;
    cdr_mutex_lock(&runtime->mu);
    const void **items = realloc(list->items, (list->count + 1) * sizeof(const void *));
    if (items) {
        list->items = items;
        list->items[list->count++] = type->ops;
        status = CADRE_OK;
    }
    cdr_mutex_unlock(&runtime->mu);
    if (status != CADRE_OK)
        return cadre_fail(err, status, "no memory for %s '%s'", type->what, type->name);
    return CADRE_OK;
}

static cadre_status fail_taken(const new_type *type, cadre_error *err)
{
    return cadre_fail(err, CADRE_EINVAL, "%s '%s' is there already", type->what,
                      type->name);
}

cadre_status cadre_runtime_register(cadre_runtime *runtime, const cadre_agent_ops *ops,
                                    cadre_error *err)
{
    if (!runtime || !ops)
        return cadre_fail(err, CADRE_EINVAL, "cadre_runtime_register: NULL argument");
    new_type type = {
        ops,          "agent type",     ops->type,          ops->struct_size,
        sizeof(*ops), ops->run != NULL, ops->options_schema};
    cadre_status status = check_type(&type, err);
    if (status != CADRE_OK)
        return status;
    if (cdr_runtime_agent_ops(runtime, ops->type))
        return fail_taken(&type, err);
    return add_type(runtime, &runtime->agents, &type, err);
}

cadre_status cadre_runtime_register_tool(cadre_runtime *runtime,
                                         const cadre_tool_ops *ops, cadre_error *err)
{
    if (!runtime || !ops)
        return cadre_fail(err, CADRE_EINVAL,
                          "cadre_runtime_register_tool: NULL argument");
    new_type type = {
        ops,          "tool type",      ops->type,          ops->struct_size,
        sizeof(*ops), ops->run != NULL, ops->options_schema};
    cadre_status status = check_type(&type, err);
    if (status != CADRE_OK)
        return status;
    if (cdr_runtime_tool_ops(runtime, ops->type))
        return fail_taken(&type, err);
    return add_type(runtime, &runtime->tools, &type, err);
}

cadre_status cadre_runtime_register_model(cadre_runtime *runtime,
                                          const cadre_model_ops *ops, cadre_error *err)
{
    if (!runtime || !ops)
        return cadre_fail(err, CADRE_EINVAL,
                          "cadre_runtime_register_model: NULL argument");
    bool is_format = ops->encode && ops->event && ops->body;
    bool has_part = ops->encode || ops->event || ops->body;
    new_type type = {
        .ops = ops,
        .what = "provider",
        .name = ops->provider,
        .struct_size = ops->struct_size,
        .least_size = sizeof(*ops),
        .is_complete = ops->answer ? !has_part : is_format,
        .options_schema = ops->options_schema,
    };
    cadre_status status = check_type(&type, err);
    if (status != CADRE_OK)
        return status;
    if (cdr_runtime_model_ops(runtime, ops->provider))
        return fail_taken(&type, err);
    return add_type(runtime, &runtime->models, &type, err);
}

const char *cadre_version(void)
{
    return CADRE_VERSION;
}

// State of the process, as ids are (base/id.c): what is linked does not change.
static char linked_versions[512];
static pthread_once_t linked_versions_once = PTHREAD_ONCE_INIT;

// Stores name what they are linked to by themselves: the core knows none of it.
static void add_store_libraries(void)
{
    for (size_t i = 0; cdr_kinds_stores[i]; i++) {
        const cadre_store_ops *ops = cdr_kinds_stores[i];
        size_t len = strlen(linked_versions);
        if (ops->library)
            snprintf(linked_versions + len, sizeof(linked_versions) - len, "\n%s %s",
                     ops->library, ops->library_version);
    }
}

static void write_linked_versions(void)
{
    char pcre2[64] = "";
    if (pcre2_config(PCRE2_CONFIG_VERSION, NULL) <= (int)sizeof(pcre2))
        pcre2_config(PCRE2_CONFIG_VERSION, pcre2);
    const curl_version_info_data *curl = curl_version_info(CURLVERSION_NOW);
    int major = 0;
    int minor = 0;
    int patch = 0;
    yaml_get_version(&major, &minor, &patch);
    snprintf(linked_versions, sizeof(linked_versions),
             "libcurl %s (%s)\njansson %s\nlibyaml %d.%d.%d\n" LUA_RELEASE "\nPCRE2 %s",
             curl->version, curl->ssl_version ? curl->ssl_version : "no TLS",
             jansson_version_str(), major, minor, patch, pcre2);
    add_store_libraries();
}

const char *cadre_linked_versions(void)
{
    pthread_once(&linked_versions_once, write_linked_versions);
    return linked_versions;
}
