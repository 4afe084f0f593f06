#include "support/schema_suite.h"

#include "support/check.h"

#include "base/file_text.h"
#include "base/json_text.h"
#include "base/schema.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_FILE_BYTES (4 << 20)
#define PATH_SIZE 512
#define NAME_SIZE 128

typedef struct score {
    int cases, right, refused, wrong;
} score;

typedef struct line {
    char file[NAME_SIZE];
    score expected;
    bool is_left_out;
} line;

static const struct draft {
    const char *folder;
    const char *uri;
} drafts[] = {
    {"draft4", "http://json-schema.org/draft-04/schema#"},
    {"draft6", "http://json-schema.org/draft-06/schema#"},
    {"draft7", "http://json-schema.org/draft-07/schema#"},
    {"draft2019-09", "https://json-schema.org/draft/2019-09/schema"},
    {"draft2020-12", "https://json-schema.org/draft/2020-12/schema"},
};

static json_t *read_json(const char *path)
{
    char *text = NULL;
    size_t len = 0;
    if (cdr_file_text_read(path, MAX_FILE_BYTES, &text, &len, NULL) != CADRE_OK)
        return NULL;
    json_t *json = cdr_json_parse(text, len, NULL);
    free(text);
    return json;
}

// The schema as who writes it for the draft of its folder would.
static void name_draft(const schema_suite *suite, const char *file, json_t *schema)
{
    if (!json_is_object(schema))
        return;
    if (suite->drops_draft)
        json_object_del(schema, "$schema");
    for (size_t i = 0; !suite->drops_draft && i < sizeof(drafts) / sizeof(*drafts);
         i++) {
        size_t len = strlen(drafts[i].folder);
        if (strncmp(file, drafts[i].folder, len) == 0 && file[len] == '/' &&
            !json_object_get(schema, "$schema"))
            json_object_set_new(schema, "$schema", json_string(drafts[i].uri));
    }
}

static void run_group(const char *file, const json_t *group, score *sum)
{
    const json_t *schema = json_object_get(group, "schema");
    bool is_refused = cdr_schema_check_schema(schema, NULL, NULL) > 0;
    size_t i;
    json_t *test;
    json_array_foreach(json_object_get(group, "tests"), i, test)
    {
        sum->cases++;
        sum->refused += is_refused;
        if (is_refused)
            continue;
        bool fits =
            cdr_schema_check(schema, json_object_get(test, "data"), NULL, NULL) == 0;
        bool is_right = fits == json_is_true(json_object_get(test, "valid"));
        sum->right += is_right;
        sum->wrong += !is_right;
        if (!is_right)
            printf("wrong: %s: %s: %s\n", file,
                   json_string_value(json_object_get(group, "description")),
                   json_string_value(json_object_get(test, "description")));
    }
}

static bool run_file(const schema_suite *suite, const char *file, score *sum)
{
    char path[PATH_SIZE];
    (void)snprintf(path, sizeof(path), "%s/%s", suite->folder, file);
    json_t *groups = read_json(path);
    size_t i;
    json_t *group;
    json_array_foreach(groups, i, group)
    {
        name_draft(suite, file, json_object_get(group, "schema"));
        run_group(file, group, sum);
    }
    json_decref(groups);
    return groups != NULL;
}

static void check_line(const schema_suite *suite, const line *listed, score *total)
{
    const score *expected = &listed->expected;
    score sum = {0, 0, 0, 0};
    if (!CHECK(run_file(suite, listed->file, &sum))) {
        printf("cannot be read: %s\n", listed->file);
        return;
    }
    CHECK_INT(sum.wrong, 0);
    bool is_known = sum.cases == expected->cases;
    if (!is_known || sum.right != expected->right || sum.refused != expected->refused)
        printf("%s %d %d %d\n", listed->file, sum.cases, sum.right, sum.refused);
    if (is_known) {
        CHECK_INT(sum.right, expected->right);
        CHECK_INT(sum.refused, expected->refused);
    }
    total->cases += sum.cases;
    total->right += sum.right;
    total->refused += sum.refused;
    total->wrong += sum.wrong;
}

// Reads one line of what is expected. False: it says nothing.
static bool read_line(const char *text, line *out)
{
    char dash = 0;
    score *s = &out->expected;
    *out = (line){.is_left_out = false};
    if (*text == '#')
        return false;
    out->is_left_out = sscanf(text, "%127s %c", out->file, &dash) == 2 && dash == '-';
    return out->is_left_out || sscanf(text, "%127s %d %d %d", out->file, &s->cases,
                                      &s->right, &s->refused) == 4;
}

typedef struct listing {
    char *text;   // the file of what is expected
    json_t *seen; // the files it names
} listing;

static bool open_listing(const schema_suite *suite, listing *list)
{
    const char *source = getenv("CADRE_SOURCE_DIR");
    char path[PATH_SIZE];
    size_t len = 0;
    cadre_error err = CADRE_ERROR_INIT;
    (void)snprintf(path, sizeof(path), "%s/tests/base/suites/%s", source ? source : ".",
                   suite->expected);
    list->seen = json_object();
    return CHECK_OK(cdr_file_text_read(path, MAX_FILE_BYTES, &list->text, &len, &err),
                    &err);
}

// A file of the suite that nobody decided on.
static void check_listed(const schema_suite *suite, const listing *list,
                         const char *folder)
{
    char path[2 * PATH_SIZE];
    (void)snprintf(path, sizeof(path), "%s/%s", suite->folder, folder);
    DIR *files = opendir(path);
    for (struct dirent *one; files && (one = readdir(files)) != NULL;) {
        char name[PATH_SIZE + 300]; // a folder and a name
        struct stat info;
        if (*one->d_name == '.')
            continue;
        (void)snprintf(name, sizeof(name), "%s/%s", folder, one->d_name);
        (void)snprintf(path, sizeof(path), "%s/%s", suite->folder, name);
        if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
            check_listed(suite, list, name);
        else if (!CHECK(json_object_get(list->seen, name) != NULL))
            printf("not listed: %s\n", name);
    }
    if (files)
        closedir(files);
}

bool schema_suite_is_there(const schema_suite *suite)
{
    struct stat info;
    return stat(suite->folder, &info) == 0 && S_ISDIR(info.st_mode);
}

void schema_suite_check(const schema_suite *suite)
{
    listing list = {NULL, NULL};
    score total = {0, 0, 0, 0};
    int n_left_out = 0;
    line one;
    if (!open_listing(suite, &list))
        return;
    for (const char *at = list.text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        if (!read_line(at, &one))
            continue;
        json_object_set_new(list.seen, one.file, json_true());
        n_left_out += one.is_left_out;
        if (!one.is_left_out)
            check_line(suite, &one, &total);
    }
    printf("%s: %d cases: %d right, %d of refused schemas, %d wrong; %d files left "
           "out\n",
           suite->expected, total.cases, total.right, total.refused, total.wrong,
           n_left_out);
    CHECK(total.right > 0);
    const char *key;
    json_t *value;
    json_t *folders = json_object();
    json_object_foreach(list.seen, key, value)
    {
        char folder[NAME_SIZE];
        (void)snprintf(folder, sizeof(folder), "%.*s", (int)strcspn(key, "/"), key);
        json_object_set(folders, folder, value);
    }
    json_object_foreach(folders, key, value) check_listed(suite, &list, key);
    json_decref(folders);
    json_decref(list.seen);
    free(list.text);
}
