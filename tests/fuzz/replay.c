//  Feeds every seed of a folder to a fuzz target: whole, cut short at every length, and with every bit changed.  Each
//  input is an allocation of its own size, so that a sanitizer sees a read past its end.
//
//  Under a sanitizer, which takes ten times as long, a third of the bits are changed, others in each byte.

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { BIT_STEP = 3 };
#else
enum { BIT_STEP = 1 };
#endif

enum { SEED_MAX = 1 << 20, VARIED_MAX = 4096 };

static void
s_feed (const uint8_t *data, size_t size)
{
    uint8_t *input = malloc (size ? size : 1);
    if (!input)
        abort ();
    memcpy (input, data, size);
    LLVMFuzzerTestOneInput (input, size);
    free (input);
}

//  Only small seeds are varied: the time grows with the square of the size.
static void
s_feed_variations (uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size && size <= VARIED_MAX; i++) {
        s_feed (data, i);
        uint8_t byte = data [i];
        for (size_t bit = i % BIT_STEP; bit < 8; bit += BIT_STEP) {
            data [i] = (uint8_t)(byte ^ 1u << bit);
            s_feed (data, size);
        }
        data [i] = byte;
    }
}

static int
s_replay (const char *path)
{
    static uint8_t data [SEED_MAX];
    FILE *file = fopen (path, "rb");
    if (!file) {
        perror (path);
        return -1;
    }
    size_t size = fread (data, 1, sizeof data, file);
    fclose (file);
    s_feed (data, size);
    s_feed_variations (data, size);
    return 0;
}

int
main (int argc, char **argv)
{
    DIR *folder = argc == 2 ? opendir (argv [1]) : NULL;
    if (!folder) {
        fprintf (stderr, "usage: %s FOLDER, which must be there\n", argv [0]);
        return 2;
    }
    int seeds = 0, failures = 0;
    for (struct dirent *entry; (entry = readdir (folder));) {
        char path [4096];
        if (entry->d_name [0] == '.')
            continue;
        snprintf (path, sizeof path, "%s/%s", argv [1], entry->d_name);
        failures += s_replay (path) != 0;
        seeds++;
    }
    closedir (folder);
    printf ("%d seeds\n", seeds);
    return failures || !seeds;
}
