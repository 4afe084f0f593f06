// See file_text.h.
#include "base/file_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static cadre_status fail_read(const char *path, int number, cadre_error *err)
{
    char text[128];
    return cadre_fail_class(err, CADRE_EIO, CADRE_CLASS_CONFIG, false,
                            "cannot read '%s': %s", path,
                            strerror_r(number, text, sizeof text));
}

// Returns the number of bytes; -1: errno.
static ssize_t read_all(int file, char *text, size_t size)
{
    size_t len = 0;
    while (len < size) {
        ssize_t n = read(file, text + len, size - len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        len += (size_t)n;
    }
    return (ssize_t)len;
}

cadre_status cdr_file_text_read(const char *path, size_t max, char **out, size_t *len,
                                cadre_error *err)
{
    char *text = malloc(max + 1);
    if (!text)
        return cadre_fail(err, CADRE_ENOMEM, "%s: no memory to read the file", path);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = file < 0 ? -1 : read_all(file, text, max);
    int number = errno;
    if (file >= 0)
        close(file);
    if (n < 0) {
        free(text);
        return fail_read(path, number, err);
    }
    text[n] = '\0';
    *out = text;
    *len = (size_t)n;
    return CADRE_OK;
}
