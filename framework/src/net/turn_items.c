// Going over what only one model can read; see cadre/ext/transcript.h.
#include "cadre/ext/transcript.h"

#include "base/utf8.h"

bool cadre_turn_items_begin(cadre_turn_items *items, const cadre_turn *turn)
{
    const char *text = turn->items[0]->text;
    const char *json = turn->is_own ? turn->items[0]->message->items : NULL;
    if (json == NULL || json[0] == '\0')
        return false;
    items->len = cdr_utf8_trimmed(text, strlen(text));
    cadre_scan_init(&items->list, json, strlen(json));
    return cadre_scan_array(&items->list);
}

bool cadre_turn_items_next(cadre_turn_items *items, cadre_turn_item *out)
{
    cadre_scan_text key;
    cadre_scan *list = &items->list;
    int64_t at = -1;
    *out = (cadre_turn_item){.json = {"", 0, false}};
    if (!cadre_scan_item(list) || !cadre_scan_object(list))
        return false;
    while (cadre_scan_key(list, &key)) {
        if (cadre_scan_is(key, "place"))
            cadre_scan_integer(list, &out->place);
        else if (cadre_scan_is(key, "at"))
            cadre_scan_integer(list, &at);
        else if (cadre_scan_is(key, "item"))
            cadre_scan_raw(list, &out->json);
        else
            cadre_scan_skip(list);
    }
    if (out->place == 0)
        at = 0;
    out->is_in_text = out->place <= 1 && at >= 0 && (uint64_t)at < items->len;
    out->n_text = out->is_in_text ? (size_t)at : 0;
    return !list->failed && out->json.len > 0;
}
