// See wire_table.h.
#include "support/wire_table.h"

#include <string.h>

static const wire_table *const tables[] = {
    &wire_table_openai,
    &wire_table_openai_responses,
    &wire_table_anthropic,
    &wire_table_gemini,
};

const wire_table *wire_table_find(const char *provider)
{
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        if (strcmp(tables[i]->provider, provider) == 0)
            return tables[i];
    return NULL;
}
