#include "cli/tokenizer_file.h"

#include <stdio.h>
#include <sys/stat.h>

#include "cli/mapping.h"

status_t
tokenizer_file_load (const char *path, tokenizer_t **tokenizer, error_t *error)
{
    struct stat about;
    char inside [4096];
    mapping_t file;
    bool is_folder = stat (path, &about) == 0 && S_ISDIR (about.st_mode);
    snprintf (inside, sizeof inside, "%s%s", path, is_folder ? "/tokenizer.json" : "");
    status_t status = mapping_open (&file, inside, error);
    if (status)
        return status;
    status = span_starts_with (file.bytes, SPAN ("GGUF")) ? tokenizer_load_gguf (file.bytes, tokenizer, error)
                                                          : tokenizer_load_json (file.bytes, tokenizer, error);
    mapping_close (&file);
    return status ? error_prefix (error, "'%s'", inside) : STATUS_OK;
}
