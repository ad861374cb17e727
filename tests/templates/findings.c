//  Prints what a probe finds of templates, a row of JSON each.
//
//      template_findings FOLDER TEMPLATE ...
//
//  TEMPLATE: a file below FOLDER.

#include <stdio.h>

#include "base/json_writer.h"
#include "model/template/probe.h"

static bool
s_read (const char *folder, const char *name, buffer_t *text)
{
    char path [4096];
    snprintf (path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen (path, "rb");
    if (!file) {
        perror (path);
        return false;
    }
    for (size_t size = 1; size;) {
        size = fread (buffer_reserve (text, 65536), 1, 65536, file);
        buffer_commit (text, size);
    }
    fclose (file);
    return true;
}

static void
s_print (const char *name, const template_findings_t *findings)
{
    buffer_t row = { 0 }, value = { 0 };
    json_writer_t json;
    const char *finding;
    json_writer_init (&json, &row);
    json_write_begin_object (&json);
    json_write_key (&json, "template");
    json_write_string (&json, span_from_string (name));
    for (size_t cursor = 0; template_findings_next (findings, &cursor, &finding, &value); buffer_clear (&value)) {
        json_write_key (&json, finding);
        json_write_string (&json, buffer_span (&value));
    }
    json_write_end_object (&json);
    puts (buffer_string (&row));
    buffer_fini (&row);
    buffer_fini (&value);
}

int
main (int count, char **words)
{
    json_t *variables = NULL;
    json_parse (SPAN ("{\"bos_token\":\"<s>\",\"eos_token\":\"</s>\"}"), &variables, NULL);
    for (int i = 2; i < count; i++) {
        buffer_t source = { 0 };
        error_t error = { 0 };
        template_findings_t findings;
        template_t *template =
            s_read (words [1], words [i], &source) ? template_compile (buffer_span (&source), &error) : NULL;
        if (!template) {
            fprintf (stderr, "%s: %s\n", words [i], error.text);
            return 1;
        }
        template_probe (template, variables, &findings);
        s_print (words [i], &findings);
        template_findings_fini (&findings);
        template_destroy (&template);
        buffer_fini (&source);
    }
    json_destroy (&variables);
    return 0;
}
