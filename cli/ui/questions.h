// What a run asks people, and waits for: told to people with the commands that answer
// it, and to programs as JSON.
//
// Thread: one thread.
#ifndef CLI_QUESTIONS_H
#define CLI_QUESTIONS_H

#include "json_output.h"

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
    size_t n_open; // without an answer; only these are told
} cli_questions;

// Finds those that a run waits with, in the order of the calls that ask. The frames
// must outlive it. False: no memory, told on stderr.
bool cli_questions_init(cli_questions *questions, cli_frames frames);
void cli_questions_fini(cli_questions *questions);

// The same from a record, which must outlive it and knows what was answered meanwhile.
bool cli_questions_init_record(cli_questions *questions, const cadre_record *record);

const cli_question *cli_questions_find(const cli_questions *questions, const char *id);

// Is the answer one that the question can have?
bool cli_question_allows(const cli_question *question, const json_t *answer);

// The list of --json: {id, agent, question, choices, tool, arguments}; new reference,
// NULL: no memory.
json_t *cli_questions_json(const cli_questions *questions);

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
