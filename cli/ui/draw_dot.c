// A team as a graph for Graphviz.
//
// A place with others in it is a cluster, with a point before its entries. Edges lead
// to nodes only: one to a cluster leads to its point and is cut at its border.
#include "draw.h"

#include <stdlib.h>
#include <string.h>

// Inside quotes: a backslash begins an escape, an ampersand an entity.
static void print_text(FILE *stream, const char *text)
{
    char *safe = cli_draw_safe_text(text);

    for (const char *c = safe ? safe : ""; *c; c++) {
        if (*c == '"' || *c == '\\')
            fputc('\\', stream);
        fputc(*c, stream);
        if (*c == '&')
            fputs("amp;", stream);
    }
    free(safe);
}

static bool is_cluster(const cli_places *places, size_t at)
{
    return cli_place_shape(&places->items[at])->n_nodes > 0;
}

static void print_title(FILE *stream, const cli_place *place)
{
    const char *agent = cli_place_agent(place);

    print_text(stream, place->node.name);
    fputs("\\n", stream);
    if (agent) {
        print_text(stream, agent);
        fputs(", ", stream);
    }
    print_text(stream, cli_place_type(place));
}

static void print_leaf(FILE *stream, const cli_places *places, size_t at, int depth)
{
    const cli_place *place = &places->items[at];
    cadre_tools tools = cli_place_tools(place);

    cli_draw_indent(stream, depth);
    fprintf(stream, "p%zu [label=\"", at);
    print_title(stream, place);
    for (size_t i = 0; i < tools.count; i++) {
        fputs(i == 0 ? "\\ntools: " : ", ", stream);
        print_text(stream, cadre_tool_get_name(tools.items[i]));
    }
    fputs(cli_place_is_end(places, place) ? "\", peripheries=2];\n" : "\"];\n", stream);
}

// "p3" or, of a cluster, its point.
static void print_end_of_edge(FILE *stream, const cli_places *places, size_t at)
{
    fprintf(stream, "%c%zu", is_cluster(places, at) ? 's' : 'p', at);
}

static void print_edge(FILE *stream, const cli_places *places, size_t first,
                       const cadre_shape_edge *edge)
{
    static const char *const styles[] = {"style=solid", "style=dashed",
                                         "style=dashed, constraint=false"};
    size_t from = first + edge->from;
    size_t to = first + edge->to;

    print_end_of_edge(stream, places, from);
    fputs(" -> ", stream);
    print_end_of_edge(stream, places, to);
    fprintf(stream, " [%s", styles[edge->kind]);
    if (is_cluster(places, from))
        fprintf(stream, ", ltail=cluster_p%zu", from);
    if (is_cluster(places, to))
        fprintf(stream, ", lhead=cluster_p%zu", to);
    if (*edge->label) {
        fputs(", label=\"", stream);
        print_text(stream, edge->label);
        fputc('"', stream);
    }
    fputs("];\n", stream);
}

static void print_entry(FILE *stream, const cli_places *places, size_t at, size_t entry)
{
    fprintf(stream, "s%zu -> ", at);
    print_end_of_edge(stream, places, entry);
    if (is_cluster(places, entry))
        fprintf(stream, " [lhead=cluster_p%zu]", entry);
    fputs(";\n", stream);
}

static void print_edges(FILE *stream, const cli_places *places, size_t at, int depth)
{
    const cadre_shape_info *shape = cli_place_shape(&places->items[at]);
    size_t first = places->items[at].first_child;

    for (size_t i = 0; i < shape->n_nodes; i++) {
        if (!shape->nodes[i].is_entry)
            continue;
        cli_draw_indent(stream, depth);
        print_entry(stream, places, at, first + i);
    }
    for (size_t i = 0; i < shape->n_edges; i++) {
        cli_draw_indent(stream, depth);
        print_edge(stream, places, first, &shape->edges[i]);
    }
}

static void open_cluster(FILE *stream, const cli_places *places, size_t at, int depth)
{
    cli_draw_indent(stream, depth);
    fprintf(stream, "subgraph cluster_p%zu {\n", at);
    cli_draw_indent(stream, depth + 1);
    fputs("label=\"", stream);
    print_title(stream, &places->items[at]);
    fputs("\";\n", stream);
    cli_draw_indent(stream, depth + 1);
    fprintf(stream, "s%zu [shape=point];\n", at);
}

static void close_clusters(FILE *stream, int n, int *depth)
{
    while (n-- > 0) {
        cli_draw_indent(stream, --*depth);
        fputs("}\n", stream);
    }
}

void cli_draw_dot(FILE *stream, const cli_places *places)
{
    int depth = 1, n_left = 0;

    fputs("digraph team {\n"
          "  compound=true;\n"
          "  node [shape=box, fontname=\"sans-serif\"];\n"
          "  edge [fontname=\"sans-serif\"];\n"
          "  fontname=\"sans-serif\";\n",
          stream);
    for (size_t at = 0; at < places->count; at = cli_places_next(places, at, &n_left)) {
        close_clusters(stream, n_left, &depth);
        if (is_cluster(places, at))
            open_cluster(stream, places, at, depth++);
        else
            print_leaf(stream, places, at, depth);
    }
    close_clusters(stream, n_left, &depth);
    // After all nodes, so that none is born in a cluster it does not belong to.
    for (size_t at = 0; at < places->count; at++)
        print_edges(stream, places, at, 1);
    fputs("}\n", stream);
}
