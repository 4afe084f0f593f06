// What the bodies and addresses of all wire formats have in common.
#include "cadre/ext/wire_body.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

bool cadre_wire_pass(const json_t *options, const char *const *names, json_t *body)
{
    for (; *names; names++) {
        json_t *value = json_object_get(options, *names);
        if (value && json_object_set(body, *names, value) != 0)
            return false;
    }
    return true;
}

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

static cadre_status add_extra(const cadre_model_config *config, json_t *body,
                              const char *const *reserved, cadre_error *err)
{
    json_t *extra = json_object_get(config->options, "extra_body");
    void *at = json_object_iter(extra);
    for (; at; at = json_object_iter_next(extra, at)) {
        const char *key = json_object_iter_key(at);
        if (is_listed(reserved, key))
            return cadre_fail(err, CADRE_EINVAL,
                              "model '%s': extra_body: '%s' is written by cadre",
                              config->name, key);
        if (json_object_set(body, key, json_object_iter_value(at)) != 0)
            return no_memory(config, err);
    }
    return CADRE_OK;
}

cadre_status cadre_wire_head(const cadre_model_config *config, json_t *body,
                             const char *const *reserved, char **out, cadre_error *err)
{
    cadre_status status = add_extra(config, body, reserved, err);
    if (status != CADRE_OK)
        return status;
    // 15 digits: 0.2 is written as 0.2, not as 0.20000000000000001.
    char *text = json_dumps(body, JSON_COMPACT | JSON_REAL_PRECISION(15));
    if (!text)
        return no_memory(config, err);
    text[strlen(text) - 1] = '\0';
    *out = text;
    return CADRE_OK;
}

void cadre_wire_tell_schema(cadre_http *http, const json_t *schema)
{
    char *text = json_dumps(schema, JSON_COMPACT);
    if (text) {
        cadre_http_append_escaped(http, "Answer with one JSON value and nothing else. "
                                        "It must fit this JSON Schema: ");
        cadre_http_append_escaped(http, text);
    } else {
        cadre_http_fail(http);
    }
    free(text);
}
