// What the bodies and addresses of all wire formats have in common.
#include "cadre/ext/wire_body.h"

#include <stdlib.h>
#include <string.h>

char *cadre_wire_url(const char *base_url, const char *path)
{
    size_t len = strlen(base_url);
    size_t before = strcspn(base_url, "?");
    size_t path_len = strlen(path);
    char *url = malloc(len + path_len + 1);
    if (!url)
        return NULL;
    memcpy(url, base_url, before);
    memcpy(url + before, path, path_len);
    memcpy(url + before + path_len, base_url + before, len - before + 1);
    return url;
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
