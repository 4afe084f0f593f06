// See parts.h.
#include "run/parts.h"

#include "base/base64.h"
#include "base/brief.h"
#include "base/buf.h"
#include "base/utf8.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

typedef struct signature {
    size_t at;
    const char *bytes;
    size_t len;
    const char *media_type;
} signature;

static const signature signatures[] = {
    {0, "\x89PNG\r\n\x1a\n", 8, "image/png"},
    {0, "\xFF\xD8\xFF", 3, "image/jpeg"},
    {0, "GIF87a", 6, "image/gif"},
    {0, "GIF89a", 6, "image/gif"},
    {8, "WEBP", 4, "image/webp"},
    {0, "%PDF-", 5, "application/pdf"},
    {8, "WAVE", 4, "audio/wav"},
    {0, "ID3", 3, "audio/mpeg"},
    {0, "\xFF\xFB", 2, "audio/mpeg"},
    {0, "\xFF\xFA", 2, "audio/mpeg"},
    {0, "\xFF\xF3", 2, "audio/mpeg"}, // of low rates
    {0, "\xFF\xF2", 2, "audio/mpeg"},
};

const char *cadre_file_media_type(const void *data, size_t size_bytes)
{
    const char *bytes = data;
    if (bytes == NULL)
        return NULL;
    for (size_t i = 0; i < sizeof signatures / sizeof signatures[0]; i++) {
        const signature *s = &signatures[i];
        if (size_bytes >= s->at + s->len &&
            memcmp(bytes + s->at, s->bytes, s->len) == 0)
            return s->media_type;
    }
    bool is_text = cdr_utf8_prefix(bytes, size_bytes) == size_bytes &&
                   memchr(bytes, '\0', size_bytes) == NULL;
    return is_text ? "text/plain" : NULL;
}

static const char *name_of(const cadre_file *file)
{
    return file->name == NULL || file->name[0] == '\0' ? "file" : file->name;
}

static cadre_status refuse(const cadre_file *file, const char *why, cadre_error *err)
{
    char brief[CDR_BRIEF_SIZE];
    return cadre_fail(err, CADRE_EINVAL, "file %s: %s",
                      cdr_brief_text(brief, name_of(file), '\''), why);
}

static cadre_status check(const cadre_file *file, cadre_error *err)
{
    size_t name_len = strlen(name_of(file));
    if ((file->data == NULL) == (file->url == NULL))
        return refuse(file, "needs data or a url, and not both", err);
    if (file->url != NULL && file->media_type == NULL)
        return refuse(file, "media_type must be given with a url", err);
    if (cdr_utf8_prefix(name_of(file), name_len) != name_len)
        return refuse(file, "its name is not UTF-8", err);
    if (file->data != NULL && file->size_bytes == 0)
        return refuse(file, "is empty", err);
    if (file->size_bytes > CADRE_FILE_MAX_BYTES)
        return refuse(file, "is larger than 20 MiB", err);
    return CADRE_OK;
}

static int set_text(json_t *part, const char *key, const char *text, size_t len)
{
    return json_object_set_new(part, key, json_stringn(text, len));
}

// What is text goes as text: every model reads that.
static int set_data(json_t *part, const cadre_file *file, const char *media_type)
{
    cdr_buf data = CDR_BUF_INIT;
    if (strncmp(media_type, "text/", 5) == 0)
        return set_text(part, "text", file->data, file->size_bytes);
    cdr_base64_append(&data, file->data, file->size_bytes);
    int bad =
        data.failed
            ? -1
            : json_object_set_new(part, "data",
                                  json_stringn_nocheck(cdr_buf_text(&data), data.len));
    cdr_buf_fini(&data);
    return bad;
}

static cadre_status add_part(json_t *list, const cadre_file *file, cadre_error *err)
{
    cadre_status status = check(file, err);
    if (status != CADRE_OK)
        return status;
    const char *media_type = file->media_type != NULL
                                 ? file->media_type
                                 : cadre_file_media_type(file->data, file->size_bytes);
    if (media_type == NULL)
        return refuse(file,
                      "is of no kind that models take (PNG, JPEG, GIF, WebP, PDF, WAV, "
                      "MP3 or text in UTF-8)",
                      err);
    bool is_image = strncmp(media_type, "image/", 6) == 0;
    json_t *part = json_pack("{s:s, s:s, s:s}", "type", is_image ? "image" : "file",
                             "media_type", media_type, "name", name_of(file));
    int bad = part == NULL ? -1 : 0;
    if (file->url != NULL)
        bad |= set_text(part, "url", file->url, strlen(file->url));
    else
        bad |= set_data(part, file, media_type);
    bad |= json_array_append_new(list, part);
    return bad == 0 ? CADRE_OK : cadre_fail(err, CADRE_ENOMEM, "no memory for a file");
}

cadre_status cdr_parts_make(const cadre_file *files, size_t n_files, char **out,
                            cadre_error *err)
{
    if (n_files > 0 && files == NULL)
        return cadre_fail(err, CADRE_EINVAL, "%zu files at NULL", n_files);
    json_t *list = json_array();
    cadre_status status = CADRE_OK;
    for (size_t i = 0; i < n_files && status == CADRE_OK; i++)
        status = add_part(list, &files[i], err);
    char *text = NULL;
    if (status == CADRE_OK)
        text = n_files == 0 ? strdup("") : json_dumps(list, JSON_COMPACT);
    json_decref(list);
    if (status == CADRE_OK && text == NULL)
        status = cadre_fail(err, CADRE_ENOMEM, "no memory for a file");
    if (status == CADRE_OK)
        *out = text;
    return status;
}
