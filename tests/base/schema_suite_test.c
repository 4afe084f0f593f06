// The official cases of drafts 4, 6 and 7: Debian's package json-schema-test-suite.
#include "support/check.h"
#include "support/schema_suite.h"

#include <stdio.h>

#define NOT_RUN 77 // see tests/CMakeLists.txt

static const schema_suite suite = {
    .folder = "/usr/share/json-schema-test-suite/tests",
    .expected = "json-schema-test-suite.txt",
};

static void test_schema_suite__answers_no_case_wrong(void)
{
    schema_suite_check(&suite);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_schema_suite__answers_no_case_wrong),
        CU_TEST_INFO_NULL,
    };
    if (!schema_suite_is_there(&suite)) {
        printf("not run: %s is missing (json-schema-test-suite)\n", suite.folder);
        return NOT_RUN;
    }
    return check_main("base/schema_suite", tests);
}
