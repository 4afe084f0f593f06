// See background.h.
#include "background.h"

#include "report.h"

void cli_background_wait(cadre_runtime *runtime, bool is_quiet)
{
    if (cadre_runtime_wait(runtime, 1, NULL) == CADRE_OK)
        return;
    if (!is_quiet)
        cli_report_note("background runs are at work; this waits for them (Ctrl-C "
                        "leaves them to `cadre resume --all`)");
    cadre_runtime_wait(runtime, 0, NULL);
}
