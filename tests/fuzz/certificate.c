//  Feeds bytes to the reader of certificates; what it takes for one is printed and must read back the same.

#include <stdlib.h>
#include <string.h>

#include "cli/certificate.h"
#include "tests/fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    certificate_t first, second;
    buffer_t text = { 0 };
    if (certificate_parse (&first, span_of (data, size), NULL))
        return 0;
    certificate_print (&first, *first.secret_key != 0, &text);
    if (certificate_parse (&second, buffer_span (&text), NULL) || strcmp (first.public_key, second.public_key) != 0 ||
        strcmp (first.secret_key, second.secret_key) != 0)
        abort ();
    buffer_fini (&text);
    return 0;
}
