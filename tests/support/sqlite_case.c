#include "support/sqlite_case.h"

#include "team/kinds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const cadre_store_ops *find_ops(void)
{
    const cadre_store_ops *const *at = cdr_kinds_stores;
    while (*at && strcmp((*at)->type, "sqlite") != 0)
        at++;
    return *at;
}

void sqlite_case_make(sqlite_case *f)
{
    *f = (sqlite_case){.s = {.ops = find_ops()}};
    CHECK(f->s.ops != NULL && folder_make(&f->folder));
    snprintf(f->path, sizeof(f->path), "%s/store.db", f->folder.path);
}

void sqlite_case_remove(sqlite_case *f)
{
    folder_remove(&f->folder);
}

cadre_status sqlite_case_open_url(store_case *s, const char *url)
{
    cadre_error_clear(&s->err);
    s->state = calloc(1, s->ops->state_size);
    cadre_status status = s->ops->init(s->state, url, &s->err);
    if (status != CADRE_OK) {
        free(s->state);
        s->state = NULL;
    }
    return status;
}

void sqlite_case_open(sqlite_case *f)
{
    CHECK_OK(sqlite_case_open_url(&f->s, f->path), &f->s.err);
}

void sqlite_case_close_store(store_case *s)
{
    s->ops->fini(s->state);
    free(s->state);
    s->state = NULL;
}

void sqlite_case_close(sqlite_case *f)
{
    sqlite_case_close_store(&f->s);
}

void sqlite_case_fill(sqlite_case *f)
{
    sqlite_case_open(f);
    store_start(&f->s);
    sqlite_case_close(f);
}
