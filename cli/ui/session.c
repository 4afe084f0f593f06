// See session.h.
#include "session.h"

#include "record.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

typedef struct reader {
    const char *name;
    cli_session *session;
} reader;

static cli_session_state state_of(const cadre_record_info *info)
{
    if (cli_record_has_ended(info))
        return CLI_SESSION_READY;
    if (info->is_held)
        return CLI_SESSION_AT_WORK;
    return info->status == CADRE_FRAME_WAITING ? CLI_SESSION_WAITS : CLI_SESSION_CUT;
}

// They come newest first.
static cadre_status take_run(void *ctx, const cadre_record_info *info, cadre_error *err)
{
    const reader *it = ctx;
    cli_session *session = it->session;

    if (strcmp(info->session, it->name) != 0 || session->n_turns++ > 0)
        return CADRE_OK;
    session->state = state_of(info);
    session->is_offline = info->offline;
    session->last = strdup(info->trace_id);
    return session->last ? CADRE_OK : cadre_fail(err, CADRE_ENOMEM, "out of memory");
}

cadre_status cli_session_read(cadre_runtime *runtime, const char *name,
                              cli_session *session, cadre_error *err)
{
    reader it = {.name = name, .session = session};

    *session = (cli_session){.state = CLI_SESSION_READY};
    return cadre_record_list(runtime, 0, take_run, &it, err);
}

void cli_session_fini(cli_session *session)
{
    free(session->last);
    session->last = NULL;
}

void cli_session_make_name(char name[CLI_SESSION_NAME_SIZE])
{
    static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz";
    unsigned char bytes[8] = {0};

    (void)!getrandom(bytes, sizeof(bytes), 0); // short reads do not happen below 256
    memcpy(name, "chat-", 5);
    for (size_t i = 0; i < sizeof(bytes); i++)
        name[5 + i] = digits[bytes[i] % 32];
    name[5 + sizeof(bytes)] = '\0';
}
