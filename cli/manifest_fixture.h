//  The fleet of a test, whose file is good.

#ifndef CLI_MANIFEST_FIXTURE_H
#define CLI_MANIFEST_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "cli/manifest.h"

//  Gives the fleet.
static inline manifest_t *
fixture_manifest (const char *text)
{
    complaints_t complaints;
    complaints_init (&complaints, "test");
    manifest_t *fleet = manifest_new (span_from_string (text), NULL, NULL, &complaints);
    assert_false (complaints_any (&complaints));
    complaints_fini (&complaints);
    return fleet;
}

#endif
