#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

status_t
error_set (error_t *error, status_t status, const char *format, ...)
{
    if (!error)
        return status;
    va_list arguments;
    va_start (arguments, format);
    vsnprintf (error->text, sizeof error->text, format, arguments);
    va_end (arguments);
    error->status = status;
    return status;
}

status_t
error_prefix (error_t *error, const char *format, ...)
{
    if (!error)
        return STATUS_INTERNAL;
    char tail [ERROR_TEXT_MAX];
    memcpy (tail, error->text, sizeof tail);
    va_list arguments;
    va_start (arguments, format);
    int size = vsnprintf (error->text, sizeof error->text, format, arguments);
    va_end (arguments);
    if (size >= 0 && (size_t)size < sizeof error->text)
        snprintf (error->text + size, sizeof error->text - (size_t)size, ": %s", tail);
    return error->status;
}

void
error_clear (error_t *error)
{
    if (error)
        *error = (error_t){ .status = STATUS_OK };
}
