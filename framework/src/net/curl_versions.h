// What libcurl can only do from some release on: the one place that asks its version.
// The oldest that is supported is 7.80.
//
// Thread: that of the handle.
#ifndef CDR_CURL_VERSIONS_H
#define CDR_CURL_VERSIONS_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>

#if LIBCURL_VERSION_NUM < 0x075000
#error "libcurl 7.80 or newer is needed"
#endif

static inline void cdr_curl_allow_http_only(CURL *handle)
{
#if LIBCURL_VERSION_NUM >= 0x075500
    (void)curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
#else
    (void)curl_easy_setopt(handle, CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
#endif
}

// Removing a transfer whose host name is being looked up would wait for the resolver,
// with all other transfers waiting too; newer releases can leave it behind.
static inline void cdr_curl_leave_resolver(CURL *handle)
{
#if LIBCURL_VERSION_NUM >= 0x075700
    (void)curl_easy_setopt(handle, CURLOPT_QUICK_EXIT, 1L);
#else
    (void)handle;
#endif
}

// Was libcurl built with a CA bundle in one file?
static inline bool cdr_curl_has_ca_file(CURL *handle)
{
#if LIBCURL_VERSION_NUM >= 0x075400
    char *path = NULL;
    return curl_easy_getinfo(handle, CURLINFO_CAINFO, &path) == CURLE_OK && path;
#else
    (void)handle;
    return false;
#endif
}

#endif
