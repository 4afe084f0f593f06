// A team drawn as a tree for people:
//
//   desk (handoff)
//   ├─ triage (llm), entry ~> returns, tech
//   └─ ...
#include "draw.h"

#include "text.h"
#include "tree_layout.h"

#include <stdlib.h>
#include <string.h>

#define MAX_LISTED 16

static void print_word(FILE *stream, const char *text)
{
    cli_text_print(stream, text, strlen(text), CLI_TEXT_ONE_LINE);
}

static void print_tools(FILE *stream, const cli_place *place)
{
    cadre_tools tools = cli_place_tools(place);

    for (size_t i = 0; i < tools.count; i++) {
        fputs(i == 0 ? " [" : ", ", stream);
        print_word(stream, cadre_tool_get_name(tools.items[i]));
    }
    if (tools.count > 0)
        fputc(']', stream);
}

static void print_marks(FILE *stream, const cli_places *places, const cli_place *place)
{
    const cadre_shape_info *shape = cli_place_shape(place);

    if (place->node.is_entry)
        fputs(", entry", stream);
    if (cli_place_is_end(places, place))
        fputs(", end", stream);
    if (!place->node.is_reached)
        fputs(", never reached", stream);
    if (shape->n_nodes > 0 && !shape->is_known)
        fputs(", calls its members as it likes", stream);
}

static void print_edge(FILE *stream, const cadre_shape_info *shape,
                       const cadre_shape_edge *edge)
{
    print_word(stream, shape->nodes[edge->to].name);
    bool is_back = edge->kind == CADRE_SHAPE_BACK;
    if (!*edge->label && !is_back)
        return;
    fputs(" (", stream);
    print_word(stream, edge->label);
    fputs(!is_back ? ")" : *edge->label ? ", back)" : "back)", stream);
}

// " -> a, b" of edges that are always taken, " ~> c" of the others.
static void print_edges(FILE *stream, const cli_place *parent, size_t node, bool always)
{
    const cadre_shape_info *shape = cli_place_shape(parent);
    size_t n = 0;

    for (size_t i = parent->starts[node]; i < parent->starts[node + 1]; i++) {
        const cadre_shape_edge *edge = parent->edges[i];
        if ((edge->kind == CADRE_SHAPE_ALWAYS) != always)
            continue;
        if (n++ >= MAX_LISTED)
            continue;
        fputs(n > 1 ? ", " : always ? " -> " : " ~> ", stream);
        print_edge(stream, shape, edge);
    }
    if (n > MAX_LISTED)
        fprintf(stream, " and %zu more", n - MAX_LISTED);
}

static void print_place(FILE *stream, const cli_places *places, size_t at)
{
    const cli_place *place = &places->items[at];
    const char *agent = cli_place_agent(place);

    print_word(stream, place->node.name);
    if (agent) {
        fputs(": ", stream);
        print_word(stream, agent);
    }
    fputs(" (", stream);
    print_word(stream, cli_place_type(place));
    fputc(')', stream);
    print_tools(stream, place);
    print_marks(stream, places, place);
    if (place->parent >= 0) {
        const cli_place *parent = &places->items[place->parent];
        size_t node = at - parent->first_child;
        print_edges(stream, parent, node, true);
        print_edges(stream, parent, node, false);
    }
    fputc('\n', stream);
}

bool cli_draw_text(FILE *stream, const cli_places *places, bool has_utf8)
{
    cli_tree_layout layout;
    int *parents = calloc(places->count + 1, sizeof(*parents));

    if (!parents)
        return false;
    for (size_t i = 0; i < places->count; i++)
        parents[i] = places->items[i].parent;
    bool has_memory = cli_tree_layout_init(&layout, parents, places->count);
    for (size_t i = 0; has_memory && i < layout.n; i++) {
        cli_tree_layout_print(&layout, layout.order[i], has_utf8, stream);
        print_place(stream, places, (size_t)layout.order[i]);
    }
    if (has_memory)
        cli_tree_layout_fini(&layout);
    free(parents);
    return has_memory;
}

void cli_draw_indent(FILE *stream, int depth)
{
    for (int i = 0; i < depth; i++)
        fputs("  ", stream);
}

char *cli_draw_safe_text(const char *text)
{
    char *safe = NULL;
    size_t len = 0;
    FILE *stream = open_memstream(&safe, &len);

    if (!stream)
        return NULL;
    print_word(stream, text);
    if (fclose(stream) == 0)
        return safe;
    free(safe);
    return NULL;
}
