// A folder with a team, its script and a store, and the built program run on them.
//
//     lab it;
//     program_result ran;
//     if (!lab_make(&it, team, script))
//         return;
//     if (LAB_RUN(&it, &ran, "run", "team.yaml", "hi", "--offline")) {
//         CHECK_INT(ran.exit_status, 0);
//         program_result_fini(&ran);
//     }
//     lab_remove(&it);
//
// Thread: any of the running test.
#ifndef LAB_H
#define LAB_H

#include "support/folder.h"
#include "support/program.h"

#include <jansson.h>

#define LAB_MAX_WORDS 12

typedef struct lab {
    test_folder folder;
    char directory[4096]; // that commands run in
    char store[FOLDER_PATH_SIZE];
    char trace[32]; // of the run that was told last
} lab;

// Writes team.yaml and script.yaml. False: the test has failed.
bool lab_make(lab *it, const char *team, const char *script);

// Makes one with a store alone, whose commands run in a folder of the sources.
bool lab_make_in(lab *it, const char *directory);
void lab_remove(lab *it);

// Runs `cadre WORDS --store STORE` in the directory, at most LAB_MAX_WORDS words with
// NULL at the end. `action` may be NULL. As program_run.
bool lab_run(lab *it, const char *const *words, const program_action *action,
             program_result *ran);

#define LAB_WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define LAB_RUN(it, ran, ...) lab_run((it), LAB_WORDS(__VA_ARGS__), NULL, (ran))

// A command that must end so, with that on stdout (NULL: not looked at) and that in
// stderr.
void lab_check(lab *it, const char *const *words, int exit_status, const char *out,
               const char *err);

#define LAB_CHECK(it, exit_status, out, err, ...)                                      \
    lab_check((it), LAB_WORDS(__VA_ARGS__), (exit_status), (out), (err))

// Files of its folder. What is read is to be freed; NULL: there is none.
void lab_write(const lab *it, const char *name, const char *text);
char *lab_read(const lab *it, const char *name);
void lab_check_file(const lab *it, const char *name, const char *expected);

// A script of tests/cli/teams/desk.yaml whose second agent speaks slowly.
extern const char lab_slow_script[];

// Makes one in tests/cli/teams with a run of that desk, of the session (NULL: of none),
// which was killed while its second agent spoke.
bool lab_make_cut(lab *it, const char *session);

// The id of the first frame of that kind or key, of the run `trace`; in `id`, "" when
// there is none.
void lab_frame(lab *it, const char *which, char id[32]);

#endif
