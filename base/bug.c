#include "base/bug.h"

#include <stdio.h>
#include <stdlib.h>

void
bug_stop (const char *file, int line, const char *condition)
{
    fprintf (stderr, "bug: %s:%d: %s\n", file, line, condition);
    abort ();
}
