// A team as a flowchart of Mermaid.
//
// A place with others in it is a subgraph, with a small circle before its entries. An
// edge to such a place leads to the subgraph as a whole.
#include "draw.h"

#include <stdlib.h>
#include <string.h>

// Mermaid reads quotes, entities, tags and Markdown in its quoted texts; what could
// begin one of them is written by its number.
static void print_text(FILE *stream, const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_ .,:/()?=+-";
    char *safe = cli_draw_safe_text(text);

    for (const char *c = safe ? safe : ""; *c; c++) {
        if (strchr(plain, *c) || ((unsigned char)*c & 0x80) != 0)
            fputc(*c, stream);
        else
            fprintf(stream, "#%d;", *c);
    }
    free(safe);
}

static void print_title(FILE *stream, const cli_place *place)
{
    const char *agent = cli_place_agent(place);

    print_text(stream, place->node.name);
    fputs(" (", stream);
    if (agent) {
        print_text(stream, agent);
        fputs(", ", stream);
    }
    print_text(stream, cli_place_type(place));
    fputc(')', stream);
}

static void print_leaf(FILE *stream, const cli_places *places, size_t at, int depth)
{
    const cli_place *place = &places->items[at];
    cadre_tools tools = cli_place_tools(place);
    bool is_end = cli_place_is_end(places, place);

    cli_draw_indent(stream, depth);
    fprintf(stream, is_end ? "p%zu([\"" : "p%zu[\"", at);
    print_title(stream, place);
    for (size_t i = 0; i < tools.count; i++) {
        fputs(i == 0 ? "<br/>tools: " : ", ", stream);
        print_text(stream, cadre_tool_get_name(tools.items[i]));
    }
    fputs(is_end ? "\"])\n" : "\"]\n", stream);
}

static void print_edge(FILE *stream, size_t first, const cadre_shape_edge *edge)
{
    bool is_always = edge->kind == CADRE_SHAPE_ALWAYS;
    bool is_back = edge->kind == CADRE_SHAPE_BACK;

    fprintf(stream, "p%zu %s", first + edge->from, is_always ? "-->" : "-.->");
    if (*edge->label || is_back) {
        fputs("|\"", stream);
        print_text(stream, edge->label);
        fputs(is_back ? *edge->label ? ", back\"|" : "back\"|" : "\"|", stream);
    }
    fprintf(stream, " p%zu\n", first + edge->to);
}

static void print_edges(FILE *stream, const cli_places *places, size_t at)
{
    const cadre_shape_info *shape = cli_place_shape(&places->items[at]);
    size_t first = places->items[at].first_child;

    for (size_t i = 0; i < shape->n_nodes; i++) {
        if (!shape->nodes[i].is_entry)
            continue;
        fprintf(stream, "  s%zu --> p%zu\n", at, first + i);
    }
    for (size_t i = 0; i < shape->n_edges; i++) {
        fputs("  ", stream);
        print_edge(stream, first, &shape->edges[i]);
    }
}

static void open_subgraph(FILE *stream, const cli_places *places, size_t at, int depth)
{
    cli_draw_indent(stream, depth);
    fprintf(stream, "subgraph p%zu[\"", at);
    print_title(stream, &places->items[at]);
    fputs("\"]\n", stream);
    cli_draw_indent(stream, depth + 1);
    fprintf(stream, "s%zu(( ))\n", at);
}

static void close_subgraphs(FILE *stream, int n, int *depth)
{
    while (n-- > 0) {
        cli_draw_indent(stream, --*depth);
        fputs("end\n", stream);
    }
}

void cli_draw_mermaid(FILE *stream, const cli_places *places)
{
    int depth = 1, n_left = 0;

    fputs("flowchart TD\n", stream);
    for (size_t at = 0; at < places->count; at = cli_places_next(places, at, &n_left)) {
        close_subgraphs(stream, n_left, &depth);
        if (cli_place_shape(&places->items[at])->n_nodes > 0)
            open_subgraph(stream, places, at, depth++);
        else
            print_leaf(stream, places, at, depth);
    }
    close_subgraphs(stream, n_left, &depth);
    // After all nodes, so that none is born in a subgraph it does not belong to.
    for (size_t at = 0; at < places->count; at++)
        print_edges(stream, places, at);
}
