// Files that come with an input: kept with the user's message, and the same request
// only with the same files.
#include "cadre/cadre.h"

#include "run/parts.h"

#include "support/check.h"

#include <stdlib.h>
#include <string.h>

static const char png[] = "\x89PNG\r\n\x1a\n....";

static void check_parts(const cadre_file *file, const char *expected)
{
    cadre_error err = CADRE_ERROR_INIT;
    char *parts = NULL;
    if (CHECK_OK(cdr_parts_make(file, 1, &parts, &err), &err))
        CHECK_TEXT(parts, expected);
    free(parts);
}

static void test_files__become_parts_by_what_they_are(void)
{
    check_parts(&(const cadre_file){.name = "a.txt", .data = png, .size_bytes = 12},
                "[{\"type\":\"image\",\"media_type\":\"image/png\",\"name\":\"a.txt\","
                "\"data\":\"iVBORw0KGgouLi4u\"}]");
    check_parts(&(const cadre_file){.data = "h\xC3\xA9", .size_bytes = 3},
                "[{\"type\":\"file\",\"media_type\":\"text/plain\",\"name\":\"file\","
                "\"text\":\"h\xC3\xA9\"}]");
    check_parts(&(const cadre_file){.name = "b", .data = "%PDF-1", .size_bytes = 6},
                "[{\"type\":\"file\",\"media_type\":\"application/pdf\",\"name\":\"b\","
                "\"data\":\"JVBERi0x\"}]");
    // Sound of a low rate, without a tag before it.
    check_parts(&(const cadre_file){.name = "s", .data = "\xFF\xF3@", .size_bytes = 3},
                "[{\"type\":\"file\",\"media_type\":\"audio/mpeg\",\"name\":\"s\","
                "\"data\":\"//NA\"}]");
    check_parts(&(const cadre_file){.media_type = "image/png", .url = "https://h/x"},
                "[{\"type\":\"image\",\"media_type\":\"image/png\",\"name\":\"file\","
                "\"url\":\"https://h/x\"}]");
}

static void test_files__that_no_model_takes_are_refused_by_name(void)
{
    const struct {
        cadre_file file;
        const char *says;
    } rows[] = {
        {{.name = "x.bin", .data = "\x01\x00\x02", .size_bytes = 3},
         "'x.bin': is of no kind"},
        {{.name = "x", .data = "a"}, "'x': is empty"},
        {{.name = "x"}, "'x': needs data or a url"},
        {{.name = "x", .data = "a", .size_bytes = 1, .url = "u"}, "not both"},
        {{.name = "x", .url = "https://h"}, "media_type must be given"},
        {{.name = "x", .data = "a", .size_bytes = CADRE_FILE_MAX_BYTES + 1},
         "larger than 20 MiB"},
        {{.name = "\xFF", .data = "a", .size_bytes = 1}, "not UTF-8"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cadre_error err = CADRE_ERROR_INIT;
        char *parts = NULL;
        CHECK_STATUS(cdr_parts_make(&rows[i].file, 1, &parts, &err), CADRE_EINVAL,
                     &err);
        CHECK_CONTAINS(err.text, rows[i].says);
        CHECK(parts == NULL);
    }
}

enum {
    MAX_RUNS = 8
};

typedef struct fixture {
    cadre_runtime *runtime;
    cadre_run *runs[MAX_RUNS]; // the store keeps what is not freed
    size_t n_runs;
    cadre_team *team;
    cadre_error err;
} fixture;

static const char *seen_parts;

static cadre_status look(void *ctx, cadre_frame *frame, cadre_error *err)
{
    const cadre_message *const *messages = NULL;
    size_t n = 0;
    (void)ctx;
    cadre_status status = cadre_frame_messages(frame, &messages, &n, err);
    if (status != CADRE_OK)
        return status;
    seen_parts = n > 0 ? messages[0]->parts : "";
    return cadre_frame_set_output(frame, seen_parts, err);
}

static cadre_status run(fixture *f, const char *id, const cadre_file *file,
                        const char *expected)
{
    cadre_run *run = NULL;
    const cadre_result *result = NULL;
    cadre_error_clear(&f->err);
    cadre_status status =
        cadre_run_start(f->team,
                        CADRE_RUN(.input = "What is it?", .files = file,
                                  .n_files = file ? 1 : 0, .request_id = id),
                        &run, &f->err);
    if (status == CADRE_OK && CHECK_OK(cadre_run_wait(run, &result, &f->err), &f->err))
        CHECK_TEXT(result->text, expected);
    f->runs[f->n_runs++] = run;
    return status;
}

static void test_files__stand_in_the_users_message_and_in_the_request(void)
{
    fixture f = {.err = CADRE_ERROR_INIT};
    const cadre_file one = {.name = "a", .data = "one", .size_bytes = 3};
    const cadre_file two = {.name = "a", .data = "two", .size_bytes = 3};
    static const char kept[] = "[{\"type\":\"file\",\"media_type\":\"text/plain\","
                               "\"name\":\"a\",\"text\":\"one\"}]";
    CHECK_OK(cadre_runtime_open(NULL, &f.runtime, &f.err), &f.err);
    f.team = cadre_team_new(f.runtime, "t");
    cadre_team_add_function(f.team, CADRE_FUNCTION(.name = "looker", .run = look));
    CHECK_OK(run(&f, NULL, &one, kept), &f.err);
    CHECK_OK(run(&f, NULL, NULL, ""), &f.err);
    CHECK_OK(run(&f, "r1", &one, kept), &f.err);
    CHECK_OK(run(&f, "r1", &one, kept), &f.err);
    CHECK_STATUS(run(&f, "r1", &two, ""), CADRE_EINVAL, &f.err);
    CHECK_STATUS(run(&f, "r1", NULL, ""), CADRE_EINVAL, &f.err);
    for (size_t i = 0; i < f.n_runs; i++)
        cadre_run_free(f.runs[i]);
    cadre_team_free(f.team);
    cadre_runtime_close(f.runtime);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_files__become_parts_by_what_they_are),
    CHECK_TEST(test_files__that_no_model_takes_are_refused_by_name),
    CHECK_TEST(test_files__stand_in_the_users_message_and_in_the_request),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/files", tests);
}
