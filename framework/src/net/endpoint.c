// See endpoint.h.
#include "cadre/ext/endpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- The URL ---

// `before` is how long the base is without its query.
static char *join_url(const char *base_url, size_t before, const char *version,
                      const char *path)
{
    size_t version_len = strlen(version);
    size_t size = strlen(base_url) + version_len + strlen(path) + 1;
    char *url = malloc(size);
    if (url)
        (void)snprintf(url, size, "%.*s%s%s%s", (int)before, base_url, version, path,
                       base_url + before);
    return url;
}

char *cadre_wire_url(const char *base_url, const char *path)
{
    return join_url(base_url, strcspn(base_url, "?"), "", path);
}

// Is the last part of the path `v`, digits and perhaps a word?
static bool ends_in_version(const char *base_url, size_t len)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    size_t at = len;
    while (at > 0 && base_url[at - 1] != '/')
        at--;
    const char *part = base_url + at;
    return at > 0 && len - at >= 2 && part[0] == 'v' && part[1] >= '0' &&
           part[1] <= '9' && strspn(part, letters) >= len - at;
}

char *cadre_wire_versioned_url(const char *base_url, const char *version,
                               const char *path)
{
    size_t before = strcspn(base_url, "?");
    bool has_version = ends_in_version(base_url, before);
    return join_url(base_url, before, has_version ? "" : version, path);
}

// --- The body ---

static bool is_listed(const char *const *list, const char *key)
{
    for (; *list; list++)
        if (strcmp(*list, key) == 0)
            return true;
    return false;
}

static cadre_status no_memory(const cadre_model_config *config, cadre_error *err)
{
    return cadre_fail(err, CADRE_ENOMEM, "model '%s': no memory", config->name);
}

static cadre_status fill(const cadre_model_config *config,
                         const cadre_endpoint_plan *plan, json_t *body,
                         cadre_error *err)
{
    if (!body || !plan->fill_body(config, body))
        return no_memory(config, err);
    json_t *extra = json_object_get(config->options, "extra_body");
    void *at = json_object_iter(extra);
    for (; at; at = json_object_iter_next(extra, at)) {
        const char *key = json_object_iter_key(at);
        if (is_listed(plan->reserved, key))
            return cadre_fail(err, CADRE_EINVAL,
                              "model '%s': extra_body: '%s' is written by cadre",
                              config->name, key);
        if (json_object_set(body, key, json_object_iter_value(at)) != 0)
            return no_memory(config, err);
    }
    return CADRE_OK;
}

static cadre_status make_head(const cadre_model_config *config,
                              const cadre_endpoint_plan *plan, char **out,
                              cadre_error *err)
{
    json_t *body = json_object();
    cadre_status status = fill(config, plan, body, err);
    // 15 digits: 0.2 is written as 0.2, not as 0.20000000000000001.
    if (status == CADRE_OK)
        *out = json_dumps(body, JSON_COMPACT | JSON_REAL_PRECISION(15));
    json_decref(body);
    if (status == CADRE_OK && !*out)
        return no_memory(config, err);
    if (*out)
        (*out)[strlen(*out) - 1] = '\0';
    return status;
}

// --- All of it ---

cadre_status cadre_endpoint_init(cadre_endpoint *endpoint,
                                 const cadre_model_config *config,
                                 const cadre_endpoint_plan *plan, cadre_error *err)
{
    endpoint->url = plan->url;
    endpoint->key_env = strdup(config->api_key_env ? config->api_key_env : "");
    endpoint->key_header = strdup(plan->key_header);
    endpoint->key_prefix = plan->key_prefix;
    endpoint->headers = json_incref(json_object_get(config->options, "headers"));
    if (!endpoint->url || !endpoint->key_env || !endpoint->key_header)
        return no_memory(config, err);
    return make_head(config, plan, &endpoint->head, err);
}

void cadre_endpoint_fini(cadre_endpoint *endpoint)
{
    free(endpoint->url);
    free(endpoint->key_env);
    free(endpoint->key_header);
    free(endpoint->head);
    json_decref(endpoint->headers);
}

void cadre_endpoint_begin(const cadre_endpoint *endpoint, const char *key,
                          cadre_http *http)
{
    cadre_http_set_url(http, "%s", endpoint->url);
    cadre_http_set_header(http, "Content-Type", "application/json");
    cadre_http_set_header(http, "Accept", "text/event-stream");
    if (key && key[0])
        cadre_http_set_header(http, endpoint->key_header, "%s%s", endpoint->key_prefix,
                              key);
    void *at = json_object_iter(endpoint->headers);
    for (; at; at = json_object_iter_next(endpoint->headers, at))
        cadre_http_set_header(http, json_object_iter_key(at), "%s",
                              json_string_value(json_object_iter_value(at)));
}
