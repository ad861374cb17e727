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

//  Says "bug: file:line: condition" and aborts.
void bug_stop (const char *file, int line, const char *condition) __attribute__ ((noreturn));

//  Says why the process ends: a line on standard error, unless somebody else says it.
void bug_say (const char *sentence);

//  Who says it from now on, without taking memory; NULL: a line on standard error.
void bug_say_through (void (*say) (const char *sentence));

#endif
