// See race_case.h.
#include "support/race_case.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

race_result raced;

int64_t race_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void keep(void)
{
    raced.returned_ns = race_now_ns();
    for (size_t i = 0; i < raced.n; i++)
        (void)snprintf(raced.texts[i], sizeof raced.texts[i], "%s%s %s%s",
                       raced.out[i].agent, raced.out[i].error[0] == '\0' ? ":" : "!",
                       raced.out[i].text, raced.out[i].error);
}

cadre_status race_lead(void *ctx, cadre_frame *frame, cadre_error *err)
{
    cadre_call made[RACE_MAX_CALLS];
    const cadre_call *calls[RACE_MAX_CALLS];
    (void)ctx;
    for (size_t i = 0; i < raced.n; i++) {
        const cadre_agent *agent =
            raced.names[i][0] == '\0' ? NULL : batch_member(frame, raced.names[i]);
        made[i] = *CADRE_CALL(.agent = agent, .input = "work");
        calls[i] = &made[i];
        raced.out[i].text = raced.out[i].error = "of before";
    }
    raced.winner = 99;
    cadre_error_clear(&raced.err);
    raced.status =
        cadre_frame_batch(frame,
                          CADRE_BATCH(.wait = raced.wait, .calls = calls,
                                      .n_calls = raced.n, .winner = &raced.winner),
                          raced.out, &raced.err);
    keep();
    if (raced.passes_on)
        return cadre_fail_class(err, raced.status, raced.err.error_class,
                                raced.err.retryable, "%s", raced.err.text);
    return cadre_frame_set_output(frame, "returned", err);
}

void race_set(cadre_wait wait, const char *first, const char *second, const char *third)
{
    memset(&raced, 0, sizeof raced);
    raced.wait = wait;
    raced.names[0] = first;
    raced.names[1] = second;
    raced.names[2] = third;
    raced.n = third == NULL ? 2 : 3;
}

void race_check_loser(size_t i)
{
    char expected[100];
    CHECK_INT(raced.out[i].status, CADRE_FRAME_ABORTED);
    CHECK_INT(raced.out[i].stop_reason, CADRE_STOP_ABORTED);
    CHECK_INT(raced.out[i].error_class, CADRE_CLASS_ABORTED);
    (void)snprintf(expected, sizeof expected,
                   "%s! aborted: its work is not needed any more", raced.names[i]);
    CHECK_TEXT(raced.texts[i], expected);
}
