// See json_same.h.
#include "base/json_same.h"

#include "base/json_iterable.h"
#include "base/json_number.h"

#include <string.h>

#define BYTES_A_STEP 32

static bool spend(int64_t *steps, size_t n_bytes)
{
    *steps -= 1 + (int64_t)(n_bytes / BYTES_A_STEP);
    return *steps >= 0;
}

static bool is_same_text(const json_t *a, const json_t *b, int64_t *steps)
{
    size_t len = json_string_length(a);
    return len == json_string_length(b) && spend(steps, len) &&
           memcmp(json_string_value(a), json_string_value(b), len) == 0;
}

static bool is_same_array(const json_t *a, const json_t *b, int64_t *steps)
{
    if (json_array_size(a) != json_array_size(b))
        return false;
    for (size_t i = 0; i < json_array_size(a); i++) {
        if (!cdr_json_is_same(json_array_get(a, i), json_array_get(b, i), steps))
            return false;
    }
    return true;
}

static bool is_same_object(const json_t *a, const json_t *b, int64_t *steps)
{
    const char *key;
    json_t *value;
    if (json_object_size(a) != json_object_size(b))
        return false;
    json_object_foreach(cdr_json_iterable(a), key, value)
    {
        const json_t *other = json_object_get(b, key);
        if (!other || !cdr_json_is_same(value, other, steps))
            return false;
    }
    return true;
}

bool cdr_json_is_same(const json_t *a, const json_t *b, int64_t *steps)
{
    if (!spend(steps, 0))
        return false;
    if (json_is_number(a) && json_is_number(b))
        return cdr_json_number_compare(a, b) == 0;
    if (json_typeof(a) != json_typeof(b))
        return false;
    switch (json_typeof(a)) {
    case JSON_STRING:
        return is_same_text(a, b, steps);
    case JSON_ARRAY:
        return is_same_array(a, b, steps);
    case JSON_OBJECT:
        return is_same_object(a, b, steps);
    default:
        return true; // null, true, false
    }
}

// The finaliser of splitmix64: every bit of the input moves every bit of the result.
static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

static uint64_t hash_bytes(uint64_t seed, const char *data, size_t len)
{
    uint64_t hash = mix(seed ^ len);
    for (; len >= sizeof(uint64_t); data += sizeof(uint64_t), len -= sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, data, sizeof(word));
        hash = mix(hash ^ word);
    }
    for (; len > 0; data++, len--)
        hash = mix(hash ^ (unsigned char)*data);
    return hash;
}

static uint64_t hash_number(const json_t *number)
{
    double real = json_number_value(number);
    bool is_small = real >= -0x1p63 && real < 0x1p63;
    uint64_t bits;
    if (json_is_integer(number))
        return mix((uint64_t)json_integer_value(number));
    if (is_small && cdr_json_is_integral(number))
        return mix((uint64_t)(json_int_t)real);
    memcpy(&bits, &real, sizeof(bits));
    return mix(~bits);
}

static uint64_t hash_array(const json_t *array, int64_t *steps)
{
    uint64_t hash = JSON_ARRAY;
    for (size_t i = 0; i < json_array_size(array) && *steps >= 0; i++)
        hash = mix(hash * 31 + cdr_json_hash(json_array_get(array, i), steps));
    return hash;
}

// Members in any order: their hashes are added.
static uint64_t hash_object(const json_t *object, int64_t *steps)
{
    uint64_t hash = mix(JSON_OBJECT + json_object_size(object));
    const char *key;
    json_t *value;
    json_object_foreach(cdr_json_iterable(object), key, value)
    {
        size_t len = strlen(key);
        if (!spend(steps, len))
            break;
        hash += hash_bytes(cdr_json_hash(value, steps), key, len);
    }
    return hash;
}

uint64_t cdr_json_hash(const json_t *value, int64_t *steps)
{
    size_t len = json_string_length(value);
    if (!spend(steps, len))
        return 0;
    switch (json_typeof(value)) {
    case JSON_INTEGER:
    case JSON_REAL:
        return hash_number(value);
    case JSON_STRING:
        return hash_bytes(JSON_STRING, json_string_value(value), len);
    case JSON_ARRAY:
        return hash_array(value, steps);
    case JSON_OBJECT:
        return hash_object(value, steps);
    default:
        return mix(0x9e3779b97f4a7c15ULL + json_typeof(value));
    }
}

typedef struct measuring {
    cdr_json_extent extent;
    int max_depth;
    int64_t max_values;
} measuring;

static void measure(measuring *m, const json_t *value, int depth)
{
    const char *key;
    json_t *part;
    m->extent.n_values++;
    if (!json_is_object(value) && !json_is_array(value))
        return;
    m->extent.depth = depth > m->extent.depth ? depth : m->extent.depth;
    if (depth > m->max_depth)
        return;
    json_object_foreach(cdr_json_iterable(value), key, part)
    {
        if (m->extent.n_values >= m->max_values)
            return;
        measure(m, part, depth + 1);
    }
    for (size_t i = 0; i < json_array_size(value) && m->extent.n_values < m->max_values;
         i++)
        measure(m, json_array_get(value, i), depth + 1);
}

cdr_json_extent cdr_json_measure(const json_t *value, int max_depth, int64_t max_values)
{
    measuring m = {{0, 0}, max_depth, max_values};
    measure(&m, value, 1);
    return m.extent;
}
