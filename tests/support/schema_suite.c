#include "support/schema_suite.h"

#include "support/check.h"

#include "base/buf.h"
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

typedef struct listing {
    char *text;      // the file of what is expected
    json_t *seen;    // the files it names
    json_t *refused; // "FILE ! GROUP" it names; true: it was refused
    bool is_other;   // the suite has other cases than those it is about
} listing;

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

// A refused schema is listed by its name.
static void check_refused(const listing *list, const char *file, const json_t *group,
                          const char *why)
{
    char name[PATH_SIZE];
    const char *description = json_string_value(json_object_get(group, "description"));
    (void)snprintf(name, sizeof(name), "%s ! %s", file, description);
    if (!CHECK(json_object_get(list->refused, name) != NULL))
        printf("%s\n    %s\n", name, why);
    json_object_set_new(list->refused, name, json_true());
}

static void keep_first(void *ctx, const cdr_schema_problem *problem)
{
    cdr_buf *why = ctx;
    if (why->len == 0)
        cdr_buf_printf(why, "%s: %s", problem->path, problem->text);
}

static void run_group(const listing *list, const char *file, const json_t *group,
                      score *sum)
{
    const json_t *schema = json_object_get(group, "schema");
    cdr_buf why = CDR_BUF_INIT;
    bool is_refused = cdr_schema_check_schema(schema, keep_first, &why) > 0;
    if (is_refused && list)
        check_refused(list, file, group, cdr_buf_text(&why));
    cdr_buf_fini(&why);
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

static int count_cases(const json_t *groups)
{
    size_t n = 0;
    size_t i;
    json_t *group;
    json_array_foreach(groups, i, group)
    {
        n += json_array_size(json_object_get(group, "tests"));
    }
    return (int)n;
}

static void check_line(const schema_suite *suite, listing *list, const line *listed,
                       score *total)
{
    const score *expected = &listed->expected;
    score sum = {0, 0, 0, 0};
    char path[PATH_SIZE];
    size_t i;
    json_t *group;
    (void)snprintf(path, sizeof(path), "%s/%s", suite->folder, listed->file);
    json_t *groups = read_json(path);
    if (!CHECK(groups != NULL)) {
        printf("cannot be read: %s\n", listed->file);
        return;
    }
    bool is_known = count_cases(groups) == expected->cases;
    list->is_other |= !is_known;
    json_array_foreach(groups, i, group)
    {
        name_draft(suite, listed->file, json_object_get(group, "schema"));
        run_group(is_known ? list : NULL, listed->file, group, &sum);
    }
    json_decref(groups);
    CHECK_INT(sum.wrong, 0);
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
    if (*text == '#' || strstr(text, " ! "))
        return false;
    out->is_left_out = sscanf(text, "%127s %c", out->file, &dash) == 2 && dash == '-';
    return out->is_left_out || sscanf(text, "%127s %d %d %d", out->file, &s->cases,
                                      &s->right, &s->refused) == 4;
}

static bool open_listing(const schema_suite *suite, listing *list)
{
    const char *source = getenv("CADRE_SOURCE_DIR");
    char path[PATH_SIZE];
    size_t len = 0;
    cadre_error err = CADRE_ERROR_INIT;
    (void)snprintf(path, sizeof(path), "%s/tests/base/suites/%s", source ? source : ".",
                   suite->expected);
    list->seen = json_object();
    list->refused = json_object();
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

// Reads the lines that name refused schemas.
static void list_refused(listing *list)
{
    const char *at = list->text;
    while (*at) {
        size_t len = strcspn(at, "\n");
        char *name = strndup(at, len);
        if (*at != '#' && strstr(name, " ! "))
            json_object_set_new(list->refused, name, json_false());
        free(name);
        at += len + (at[len] == '\n');
    }
}

// A name that was not needed: nothing of that name is refused any more.
static void check_needed(const listing *list)
{
    const char *name;
    json_t *is_refused;
    json_object_foreach(list->refused, name, is_refused)
    {
        if (!list->is_other && !CHECK(json_is_true(is_refused)))
            printf("not refused: %s\n", name);
    }
}

bool schema_suite_is_there(const schema_suite *suite)
{
    struct stat info;
    return stat(suite->folder, &info) == 0 && S_ISDIR(info.st_mode);
}

void schema_suite_check(const schema_suite *suite)
{
    listing list = {NULL, NULL, NULL, false};
    score total = {0, 0, 0, 0};
    int n_left_out = 0;
    line one;
    if (!open_listing(suite, &list))
        return;
    list_refused(&list);
    char *rest = NULL;
    for (char *at = strtok_r(list.text, "\n", &rest); at;
         at = strtok_r(NULL, "\n", &rest)) {
        if (!read_line(at, &one))
            continue;
        json_object_set_new(list.seen, one.file, json_true());
        n_left_out += one.is_left_out;
        if (!one.is_left_out)
            check_line(suite, &list, &one, &total);
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
    check_needed(&list);
    json_decref(folders);
    json_decref(list.refused);
    json_decref(list.seen);
    free(list.text);
}
