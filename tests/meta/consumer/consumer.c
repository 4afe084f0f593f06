// Opens and closes a runtime: enough to make the linker look for everything.
#include <cadre/cadre.h>
#include <stdio.h>

int main(void)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_runtime *runtime = NULL;

    if (cadre_runtime_open(NULL, &runtime, &err) != CADRE_OK)
        fprintf(stderr, "%s\n", err.text);
    cadre_runtime_close(runtime);
    return err.status == CADRE_OK ? 0 : 1;
}
