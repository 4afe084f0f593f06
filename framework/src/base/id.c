// Ids: a random prefix of the process and a counter.
#include "cadre/ext/id.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define PREFIX_BITS 60
#define PREFIX_DIGITS (PREFIX_BITS / 5)

static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz";

// State that belongs to the process and not to an object: two runtimes in one process
// must not give the same id.
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Atomic uint64_t process_prefix;
static _Atomic uint64_t last_counter;

// The finaliser of splitmix64: every bit of the input moves every bit of the result.
static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

// For a sandbox that forbids getrandom: differs between processes and starts.
static uint64_t weak_random(void)
{
    struct timespec mono = {0, 0};
    struct timespec wall = {0, 0};
    clock_gettime(CLOCK_MONOTONIC, &mono);
    clock_gettime(CLOCK_REALTIME, &wall);
    uint64_t x = mix((uint64_t)wall.tv_sec * 1000000000U + (uint64_t)wall.tv_nsec);
    x = mix(x ^ ((uint64_t)mono.tv_sec * 1000000000U + (uint64_t)mono.tv_nsec));
    return mix(x ^ ((uint64_t)getpid() << 32) ^ (uint64_t)(uintptr_t)&mono);
}

static void seed(void)
{
    uint64_t value = 0;
    ssize_t n;
    do {
        n = getrandom(&value, sizeof(value), 0);
    } while (n < 0 && errno == EINTR);
    if (n != (ssize_t)sizeof(value))
        value = weak_random();
    value >>= 64 - PREFIX_BITS;
    atomic_store(&process_prefix, value ? value : 1);
    atomic_store(&last_counter, 0);
}

static void seed_first(void)
{
    seed();
    pthread_atfork(NULL, NULL, seed); // a forked child goes on under its own prefix
}

cadre_id cadre_id_new(void)
{
    pthread_once(&once, seed_first);
    return (cadre_id){
        .prefix = atomic_load_explicit(&process_prefix, memory_order_relaxed),
        .counter =
            atomic_fetch_add_explicit(&last_counter, 1, memory_order_relaxed) + 1,
    };
}

void cadre_id_text(cadre_id id, char text[CADRE_ID_TEXT_SIZE])
{
    if (!text)
        return;
    if (cadre_id_is_none(id)) {
        text[0] = '\0';
        return;
    }
    assert(id.prefix >> PREFIX_BITS == 0);
    for (int i = 0; i < PREFIX_DIGITS; i++)
        text[i] = digits[(id.prefix >> (PREFIX_BITS - 5 * (i + 1))) & 31];
    char *at = text + PREFIX_DIGITS;
    *at++ = '-';
    int shift = 60;
    while (shift > 0 && id.counter >> shift == 0)
        shift -= 5;
    for (; shift >= 0; shift -= 5)
        *at++ = digits[(id.counter >> shift) & 31];
    *at = '\0';
}

// Reads base 32 up to `end`. False: another character, or more than 64 bits.
static bool parse_number(const char *text, const char *end, uint64_t *out)
{
    uint64_t value = 0;
    for (; text < end; text++) {
        const char *digit = memchr(digits, *text, sizeof(digits) - 1);
        if (!digit || value >> 59)
            return false;
        value = value << 5 | (uint64_t)(digit - digits);
    }
    *out = value;
    return true;
}

bool cadre_id_parse(const char *text, cadre_id *id)
{
    if (!text || !id)
        return false;
    size_t len = strnlen(text, CADRE_ID_TEXT_SIZE);
    if (len < PREFIX_DIGITS + 2 || len == CADRE_ID_TEXT_SIZE ||
        text[PREFIX_DIGITS] != '-')
        return false;
    const char *counter = text + PREFIX_DIGITS + 1;
    bool is_padded = counter[0] == '0' && counter[1] != '\0';
    cadre_id parsed;
    // One text for each id: texts of ids are compared as they are.
    if (is_padded || !parse_number(text, text + PREFIX_DIGITS, &parsed.prefix) ||
        !parse_number(counter, text + len, &parsed.counter) || cadre_id_is_none(parsed))
        return false;
    *id = parsed;
    return true;
}
