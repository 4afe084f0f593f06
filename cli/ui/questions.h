// What a run asks people, and waits for: told to people, with the commands that answer
// it or at a prompt, and to programs as JSON.
//
// Thread: one thread.
#ifndef CLI_QUESTIONS_H
#define CLI_QUESTIONS_H

#include "json_output.h"
#include "terminal.h"

#include <cadre/record.h>
#include <stdio.h>

typedef struct cli_question {
    const char *id, *agent; // of its frame, and who asks; borrowed from the frames
    int parent;             // the frame it is asked for
    const char *tool;       // that may run or not; NULL: it is no approval
    json_t *stored;         // an object: "question", "choices" and what stands with it
    const char *answer;     // JSON, that somebody gave and the run has not read yet;
                            // borrowed from the record; NULL: none
} cli_question;

typedef struct cli_questions {
    cli_question *items;
    size_t n;
    size_t n_open;        // without an answer; only these are told
    cadre_record *record; // owned; NULL: they are of what somebody else has
} cli_questions;

// Finds those that a run waits with, in the order of the calls that ask. The frames
// must outlive it. False: no memory, told on stderr.
bool cli_questions_init(cli_questions *questions, cli_frames frames);
void cli_questions_fini(cli_questions *questions);

// The same from a record, which must outlive it and knows what was answered meanwhile.
bool cli_questions_init_record(cli_questions *questions, const cadre_record *record);

// The same of a run of a store. False: told on stderr; there are none then.
bool cli_questions_read(cli_questions *questions, cadre_runtime *runtime,
                        const char *trace);

const cli_question *cli_questions_find(const cli_questions *questions, const char *id);

// Is the answer one that the question can have?
bool cli_question_allows(const cli_question *question, const json_t *answer);

// The answer that was meant by what somebody typed: one of the choices, for yes and no
// in any case and by their first letter; without choices, what was typed. NULL: none.
const char *cli_question_match(const cli_question *question, const char *typed);

// The list of --json: {id, agent, question, choices, tool, arguments}; new reference,
// NULL: no memory.
json_t *cli_questions_json(const cli_questions *questions);

// Prints who asks what, what goes with it, and the choices. No terminal obeys any of
// it; `terminal` may be NULL: no colours.
void cli_question_print(FILE *stream, const cli_question *question,
                        const cli_terminal *terminal);

// Prints each with the commands that answer it. `options`: what stands at the end of
// such a command; NULL: nobody can answer.
void cli_questions_print(FILE *stream, const cli_questions *questions,
                         const char *trace, const char *options);

// The same, on stderr in one piece.
void cli_questions_report(const cli_questions *questions, const char *trace,
                          const char *options);

// The question of a frame of kind "ask", and an answer that is given as JSON, as people
// read them. malloc; NULL: no memory.
char *cli_question_text(const cadre_frame_info *frame);
char *cli_question_said(const char *answer);

#endif
