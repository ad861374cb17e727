//  fuzz - what a fuzz target defines
//
//  libFuzzer calls it with inputs that it makes up, replay.c with the seeds.  Whatever the bytes are, the target
//  returns: it never aborts, never reads past them, and frees all that it allocates.

#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

//  Feeds one input to the reader under test. Borrows the bytes. Returns 0.
int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

#endif
