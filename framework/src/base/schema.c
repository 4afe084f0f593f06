// Checks of plain JSON: a plan is made for each.
#include "base/schema.h"

#include "base/json_same.h"
#include "base/schema_plan.h"

#include <string.h>

// What one check may take, besides what it may take for each value.
#define STEPS 1000000
#define STEPS_A_VALUE 128
#define MAX_VALUES 10000000

int cdr_schema_check_schema(const json_t *schema, cdr_schema_on_problem on_problem,
                            void *ctx)
{
    int n_problems = 0;
    cdr_schema_plan *plan = cdr_schema_plan_new(schema, on_problem, ctx, &n_problems);
    if (!plan) {
        cdr_schema_problem problem = {
            .path = "", .text = "no memory to check a schema", .value = schema};
        if (on_problem)
            on_problem(ctx, &problem);
        return 1;
    }
    cdr_schema_plan_free(plan);
    return n_problems;
}

static int report_whole(const cdr_schema_ear *ear, const json_t *value,
                        const char *text)
{
    cdr_schema_problem problem = {.path = "", .text = text, .value = value};
    if (ear->on_problem)
        ear->on_problem(ear->ctx, &problem);
    return 1;
}

int cdr_schema_check_whole(const cdr_schema_plan *plan, const json_t *value,
                           const cdr_schema_ear *ear)
{
    cdr_json_extent extent = cdr_json_measure(value, CDR_SCHEMA_MAX_DEPTH, MAX_VALUES);
    if (extent.depth > CDR_SCHEMA_MAX_DEPTH)
        return report_whole(ear, value, "nested deeper than 128");
    if (extent.n_values >= MAX_VALUES)
        return report_whole(ear, value, "holds too many values to check");
    int64_t steps = STEPS + STEPS_A_VALUE * extent.n_values;
    return cdr_schema_check_node(plan, plan->root, value, &steps, ear);
}

int cdr_schema_check(const json_t *schema, const json_t *value,
                     cdr_schema_on_problem on_problem, void *ctx)
{
    return cdr_schema_check_in(NULL, schema, value, on_problem, ctx);
}

int cdr_schema_check_in(const cdr_schema_terms *terms, const json_t *schema,
                        const json_t *value, cdr_schema_on_problem on_problem,
                        void *ctx)
{
    cdr_schema_ear ear = {on_problem, ctx, terms};
    cdr_schema_plan *plan = cdr_schema_plan_new(schema, NULL, NULL, NULL);
    if (!plan)
        return report_whole(&ear, value, "no memory to check a value");
    int n_problems = cdr_schema_check_whole(plan, value, &ear);
    cdr_schema_plan_free(plan);
    return n_problems;
}

typedef struct problem_list {
    cdr_buf text;
    int n_left_out;
} problem_list;

// Leaves room in a cadre_error's text for the count of what was left out.
#define MAX_LIST_BYTES 460

static void list_problem(void *ctx, const cdr_schema_problem *problem)
{
    problem_list *list = ctx;
    size_t added = strlen(problem->path) + strlen(problem->text) + strlen("; : ");
    if (list->n_left_out > 0 ||
        (list->text.len > 0 && list->text.len + added > MAX_LIST_BYTES)) {
        list->n_left_out++;
        return;
    }
    cdr_buf_printf(&list->text, "%s%s%s%s", list->text.len > 0 ? "; " : "",
                   problem->path, *problem->path ? ": " : "", problem->text);
}

static cadre_status check_text(const cdr_schema_plan *plan, const json_t *value,
                               cadre_error *err)
{
    problem_list list = {CDR_BUF_INIT, 0};
    cdr_schema_ear ear = {list_problem, &list, NULL};
    int n_problems = cdr_schema_check_whole(plan, value, &ear);
    if (list.n_left_out > 0)
        cdr_buf_printf(&list.text, "; and %d more", list.n_left_out);
    cadre_status status = CADRE_OK;
    if (list.text.failed)
        status = cadre_fail(err, CADRE_ENOMEM, "no memory to check a value");
    else if (n_problems > 0)
        status = cadre_fail(err, CADRE_EINVAL, "%s", cdr_buf_text(&list.text));
    cdr_buf_fini(&list.text);
    return status;
}

cadre_status cdr_schema_check_text(const json_t *schema, const json_t *value,
                                   cadre_error *err)
{
    cdr_schema_plan *plan = cdr_schema_plan_new(schema, NULL, NULL, NULL);
    if (!plan)
        return cadre_fail(err, CADRE_ENOMEM, "no memory to check a value");
    cadre_status status = check_text(plan, value, err);
    cdr_schema_plan_free(plan);
    return status;
}

cadre_status cdr_schema_plan_take(const cdr_schema_plan *plan, json_t **value,
                                  cadre_error *err)
{
    cadre_status status = check_text(plan, *value, err);
    if (status != CADRE_OK || !plan->has_defaults)
        return status;
    json_t *filled = cdr_schema_fill(plan, *value, true);
    if (!filled)
        return cadre_fail(err, CADRE_ENOMEM, "no memory to fill in a value");
    json_decref(*value);
    *value = filled;
    return CADRE_OK;
}
