//  status - how an operation ended
//
//  Every function that can fail returns one of these; the sentence for a person goes into the caller's error_t
//  (base/error.h).  The numbers travel on the wire (schemas/call.toml), so they only ever get new ones at the end.

#ifndef BASE_STATUS_H
#define BASE_STATUS_H

typedef enum {
    STATUS_OK = 0,              //  Done
    STATUS_INVALID = 1,         //  The input breaks a rule; trying again will not help
    STATUS_NOT_FOUND = 2,       //  No such name, key, method or file
    STATUS_EXISTS = 3,          //  The name is taken
    STATUS_AGAIN = 4,           //  Nothing wrong, but not now: full or would block
    STATUS_LIMIT = 5,           //  A stated bound was reached
    STATUS_UNREACHABLE = 6,     //  The other side cannot be reached
    STATUS_DEADLINE = 7,        //  Time ran out
    STATUS_CANCELLED = 8,       //  Whoever asked does not want it any more
    STATUS_REFUSED = 9,         //  Understood, but not permitted
    STATUS_UNSUPPORTED = 10,    //  Well formed, but this version or build cannot do it
    STATUS_CORRUPT = 11,        //  Bytes that claim to be ours are not
    STATUS_IO = 12,             //  The system refused: disk, network, permission
    STATUS_GAP = 13,            //  Something in between is missing
    STATUS_STALE = 14,          //  From an incarnation that has been replaced
    STATUS_INTERNAL = 15,       //  The other side has a bug
    STATUS_COUNT
} status_t;

//  The name in lower case with underscores, for logs, metrics and the wire; "unknown" for a number from the future.
const char *status_name (status_t status);

#endif
