// Going over what only one model can read; see cadre/ext/transcript.h.
#include "cadre/ext/transcript.h"

bool cadre_turn_items_begin(cadre_scan *list, const cadre_turn *turn)
{
    const char *items = turn->is_own ? turn->items[0]->message->items : NULL;
    if (items == NULL || items[0] == '\0')
        return false;
    cadre_scan_init(list, items, strlen(items));
    return cadre_scan_array(list);
}

bool cadre_turn_items_next(cadre_scan *list, cadre_turn_item *out)
{
    cadre_scan_text key;
    *out = (cadre_turn_item){.json = {"", 0, false}};
    if (!cadre_scan_item(list) || !cadre_scan_object(list))
        return false;
    while (cadre_scan_key(list, &key)) {
        if (cadre_scan_is(key, "place"))
            cadre_scan_integer(list, &out->place);
        else if (cadre_scan_is(key, "item"))
            cadre_scan_raw(list, &out->json);
        else
            cadre_scan_skip(list);
    }
    return !list->failed && out->json.len > 0;
}
