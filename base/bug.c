#include "base/bug.h"

#include <stdio.h>
#include <stdlib.h>

enum { SENTENCE_SIZE = 512 };

static void (*s_say) (const char *sentence);

void
bug_say_through (void (*say) (const char *sentence))
{
    s_say = say;
}

void
bug_say (const char *sentence)
{
    if (s_say)
        s_say (sentence);
    else
        fprintf (stderr, "%s\n", sentence);
}

void
bug_stop (const char *file, int line, const char *condition)
{
    char sentence [SENTENCE_SIZE];
    snprintf (sentence, sizeof sentence, "bug: %s:%d: %s", file, line, condition);
    bug_say (sentence);
    abort ();
}
