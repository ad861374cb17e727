//  error - the sentence a person can act on
//
//  The caller owns an error_t (usually on its stack) and passes it down; whoever fails fills it.  NULL is accepted
//  everywhere and means that nobody wants the sentence.

#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include "base/span.h"
#include "base/status.h"

//  glibc names a plain int error_t in errno.h when _GNU_SOURCE is set; ours is the one this program uses.
#ifndef __error_t_defined
#define __error_t_defined 1
#endif

enum { ERROR_TEXT_MAX = 512 };

typedef struct {
    status_t status;               //  Same as the returned one
    char text [ERROR_TEXT_MAX];    //  What happened and what to do, no trailing stop or newline
} error_t;

//  Fills the sentence and returns `status`, so that a failing function ends with: return error_set (error, ...).
//  error: may be NULL.
status_t error_set (error_t *error, status_t status, const char *format, ...) __attribute__ ((format (printf, 3, 4)));

//  Puts "where: " before the sentence that is there, for the layer that knows the file, address or field.
//  Returns the status that is there (STATUS_INTERNAL for NULL).
status_t error_prefix (error_t *error, const char *format, ...) __attribute__ ((format (printf, 2, 3)));

//  No error yet.
void error_clear (error_t *error);

#endif
