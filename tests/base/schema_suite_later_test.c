// The official cases of a later release, with drafts 2019-09 and 2020-12: Debian's
// package libtest-json-schema-acceptance-perl. Those of 2020-12 also as schemas that
// name no draft, as most that people write.
#include "support/check.h"
#include "support/schema_suite.h"

#include <stdio.h>

#define NOT_RUN 77 // see tests/CMakeLists.txt
#define FOLDER "/usr/share/perl5/auto/share/dist/Test-JSON-Schema-Acceptance/tests"

static const schema_suite all = {
    .folder = FOLDER,
    .expected = "acceptance.txt",
};

static const schema_suite nameless = {
    .folder = FOLDER,
    .expected = "acceptance-nameless.txt",
    .drops_draft = true,
};

static void test_schema_suite_later__answers_no_case_wrong(void)
{
    schema_suite_check(&all);
}

static void test_schema_suite_later__reads_nameless_schemas_as_the_last_draft(void)
{
    schema_suite_check(&nameless);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_schema_suite_later__answers_no_case_wrong),
        CHECK_TEST(test_schema_suite_later__reads_nameless_schemas_as_the_last_draft),
        CU_TEST_INFO_NULL,
    };
    if (!schema_suite_is_there(&all)) {
        printf("not run: %s is missing (libtest-json-schema-acceptance-perl)\n",
               FOLDER);
        return NOT_RUN;
    }
    return check_main("base/schema_suite_later", tests);
}
