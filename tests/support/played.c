#include "support/played.h"

#include "support/case_files.h"
#include "support/check.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char *played_path(const played *p, const char *name, char path[PLAYED_PATH_SIZE])
{
    snprintf(path, PLAYED_PATH_SIZE, "%s/%s", p->folder.path, name);
    return path;
}

bool played_begin(played *p, const char *name)
{
    char folder[CASE_PATH_BYTES];
    char path[PLAYED_PATH_SIZE];
    *p = (played){.err = CADRE_ERROR_INIT};
    DIR *files = opendir(case_folder(name, folder));
    if (!CHECK(files != NULL) || !CHECK(folder_make(&p->folder)))
        return false;
    snprintf(p->store, sizeof p->store, "%s/runs.db", p->folder.path);
    for (const struct dirent *at; (at = readdir(files)) != NULL;) {
        size_t len = 0;
        struct stat found;
        char *bytes =
            at->d_name[0] == '.' ? NULL : case_file_read(folder, at->d_name, &len);
        if (bytes == NULL)
            continue;
        FILE *copy = fopen(played_path(p, at->d_name, path), "wb");
        CHECK(copy != NULL && fwrite(bytes, 1, len, copy) == len && fclose(copy) == 0);
        if (fstatat(dirfd(files), at->d_name, &found, 0) == 0)
            CHECK_INT(chmod(path, found.st_mode & 0777), 0);
        free(bytes);
    }
    closedir(files);
    return true;
}

bool played_open(played *p, const char *file)
{
    char path[PLAYED_PATH_SIZE];
    char url[PLAYED_PATH_SIZE];
    snprintf(url, sizeof url, "sqlite:%s", p->store);
    return cadre_runtime_open(CADRE_RUNTIME(.store = url, .offline = true), &p->runtime,
                              &p->err) == CADRE_OK &&
           cadre_team_load(p->runtime, played_path(p, file, path), &p->team, &p->err) ==
               CADRE_OK;
}

void played_close(played *p)
{
    cadre_team_free(p->team);
    cadre_runtime_close(p->runtime);
    p->team = NULL;
    p->runtime = NULL;
}

void played_end(played *p)
{
    folder_remove(&p->folder);
}

const char *played_ask(const played *p, const char *sql)
{
    static char said[512];
    return sqlite_file_ask(p->store, sql, said, sizeof said);
}

cadre_run *played_start(played *p, const char *input)
{
    cadre_run *run = NULL;
    CHECK_OK(cadre_run_start(p->team, CADRE_RUN(.input = input), &run, &p->err),
             &p->err);
    return run;
}

void played_check_resumes(played *p, const char *team, const char *answer)
{
    char trace[64];
    cadre_run *run = NULL;
    const cadre_result *result = NULL;
    snprintf(trace, sizeof trace, "%s", played_ask(p, "SELECT id FROM traces"));
    if (CHECK(played_open(p, team)) &&
        CHECK_OK(cadre_run_resume(p->team, trace, NULL, &run, &p->err), &p->err) &&
        CHECK_OK(cadre_run_wait(run, &result, &p->err), &p->err))
        CHECK_TEXT(result->text, answer);
    cadre_run_free(run);
    played_close(p);
    CHECK_TEXT(played_ask(p, "PRAGMA integrity_check"), "ok");
}

size_t played_log(const played *p, char lines[][64], size_t max)
{
    char path[PLAYED_PATH_SIZE];
    size_t n = 0;
    FILE *file = fopen(played_path(p, "log", path), "r");
    while (file != NULL && n < max && fgets(lines[n], 64, file) != NULL) {
        lines[n][strcspn(lines[n], "\n")] = '\0';
        n++;
    }
    if (file != NULL)
        fclose(file);
    return n;
}
