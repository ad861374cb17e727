//  bug - our own broken invariants
//
//  BUG_ON stops the process with file, line and condition, in release builds too.  It is for what only a mistake of ours
//  can cause, never for input: whatever comes from a socket, a file, a configuration or a request is an error value.

#ifndef BASE_BUG_H
#define BASE_BUG_H

#define BUG_ON(condition)                              \
    do {                                               \
        if (__builtin_expect (!!(condition), 0))       \
            bug_stop (__FILE__, __LINE__, #condition); \
    } while (0)

//  Prints "bug: file:line: condition" on standard error and aborts.
void bug_stop (const char *file, int line, const char *condition) __attribute__ ((noreturn));

#endif
