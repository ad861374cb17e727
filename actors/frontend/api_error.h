//  api_error - what a client is told when it gets no answer
//
//  One table of everything that can go wrong with a request: HTTP status, OpenAI's type and code, the name that metrics and
//  events use, and when to come back.  The shape is OpenAI's: {"error":{"message","type","param","code"}}.

#ifndef ACTORS_FRONTEND_API_ERROR_H
#define ACTORS_FRONTEND_API_ERROR_H

#include "base/buffer.h"
#include "base/error.h"

typedef enum {
    API_OK = 0,            //  Nothing went wrong
    API_INVALID_JSON,      //  The body is no JSON object
    API_INVALID_TYPE,      //  A field is of the wrong type
    API_INVALID_VALUE,     //  A field is out of range
    API_MISSING,           //  A field that must be there is not
    API_UNSUPPORTED,       //  A field asks for what we cannot do and must not leave out silently
    API_CONTEXT_LENGTH,    //  The prompt does not fit the model
    API_NO_MODEL,          //  No model of this name
    API_NOT_FOUND,         //  No such path
    API_METHOD,            //  The path exists, the method does not
    API_MEDIA_TYPE,        //  The body is encoded in a way we do not read
    API_TOO_LARGE,         //  The request needs more memory than one request may take
    API_CANCELLED,         //  The client left; never sent
    API_NO_WORKER,         //  The model exists, but nobody serves it now
    API_NO_ROUTER,         //  Nobody decides now
    API_DRAINING,          //  This frontend is about to end
    API_OVERLOADED,        //  Everybody who could is full
    API_TIMEOUT,           //  No token came in time
    API_WORKER_FAILED,     //  Workers failed, and going on elsewhere did not help
    API_CANNOT_MIGRATE,    //  The worker failed, and an answer of this kind does not go on elsewhere
    API_RETRIES_SPENT,     //  The worker failed, and no more may be tried elsewhere now
    API_FRONTEND_LOST,     //  The frontend that made the answer is gone in the middle of it
    API_INTERNAL,          //  Ours
    API_ERROR_COUNT
} api_error_kind_t;

typedef struct {
    int status;              //  HTTP
    const char *type;        //  OpenAI's type
    const char *code;        //  OpenAI's code; NULL: none
    const char *name;        //  For request_ended and metrics
    unsigned retry_after;    //  Seconds; 0: the header is left out
} api_error_row_t;

enum { API_PARAM_MAX = 96 };

typedef struct {
    api_error_kind_t kind;         //  Which row
    char param [API_PARAM_MAX];    //  Field of the request; empty: none
    char text [ERROR_TEXT_MAX];    //  The sentence
} api_error_t;

//  The row of a kind.
const api_error_row_t *api_error_row (api_error_kind_t kind);

//  Fills the error.  param: NULL for none.  Returns false, so that a failing parser ends with it.
bool api_error_set (api_error_t *self, api_error_kind_t kind, const char *param, const char *format, ...)
    __attribute__ ((format (printf, 4, 5)));

//  A client's own word for a sentence: its beginning, with what cannot be shown escaped as in JSON.  Borrowed from `out`.
const char *api_error_quote (span_t text, buffer_t *out);

//  The error of a call's status: what a client is told when a router or worker said no.
api_error_kind_t api_error_from_status (status_t status);

//  Appends {"error":{...}}.
void api_error_render (const api_error_t *self, buffer_t *out);

//  The same for what the HTTP server refuses before it is a request: a listener_refusal_fn.
const char *api_error_render_refusal (int status, const char *reason, buffer_t *out);

#endif
