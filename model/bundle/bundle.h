//  bundle - what a model brings, ready for use
//
//  Loaded from the files that models come in: a GGUF file, or the files of a Hugging Face folder.  Chat templates have
//  names.  As in transformers they come from the first place that has any: files of their own (chat_template.jinja is
//  "default", those of additional_chat_templates/ are called as their files), chat_template.json, and last
//  tokenizer_config.json or the GGUF file.  Conversations with tools use "tool_use" where there is one, all others
//  "default"; what is used is compiled and tried (model/template/probe.h) when the model is loaded.

#ifndef MODEL_BUNDLE_BUNDLE_H
#define MODEL_BUNDLE_BUNDLE_H

#include "model/parser/format.h"
#include "model/template/probe.h"
#include "model/tokenizer/tokenizer.h"

typedef enum {
    BUNDLE_GGUF,         //  A GGUF file; its metadata suffice
    BUNDLE_TOKENIZER,    //  tokenizer.json
    BUNDLE_CONFIG,       //  tokenizer_config.json
    BUNDLE_TEMPLATE,     //  chat_template.jinja, or what is used in its place
    BUNDLE_ENGINE,       //  What the engine does beside: a JSON object, see below
    BUNDLE_PROCESSOR,    //  chat_template.json: {"chat_template"}
    BUNDLE_TEMPLATES,    //  additional_chat_templates/, as a list of {"name", "template"}
    BUNDLE_FILES
} bundle_file_t;

//  Members of BUNDLE_ENGINE, each of which may be missing:
//      variables    an object: what templates are given beside the conversation, where that does not say otherwise
//      rendered     an object: the same, but each is a template that is rendered first, say for today's date
//      begin        text that stands at the start of every prompt, put there where the template did not

//  Names of the files in a Hugging Face folder; NULL for those that are no such file.
extern const char *const bundle_file_names [BUNDLE_FILES];

//  The folder in it whose files NAME.jinja are BUNDLE_TEMPLATES.
#define BUNDLE_TEMPLATES_FOLDER "additional_chat_templates"

//  A chat template of the model.
typedef struct {
    buffer_t name;                   //  "default", "tool_use", "rag", ...
    buffer_t source;                 //  Its text
    const char *origin;              //  Where it comes from: "GGUF", "tokenizer_config.json", ...
    template_t *compiled;            //  NULL: no conversation uses it
    template_findings_t findings;    //  What it does with conversations, if one uses it
} bundle_template_t;

typedef struct {
    tokenizer_t *tokenizer;                 //  Of the vocabulary; NULL only from bundle_load_to_inspect
    array_t templates;                      //  bundle_template_t, as they come
    const bundle_template_t *plain;         //  For conversations without tools; NULL: none
    const bundle_template_t *with_tools;    //  For those with tools, mostly the same; NULL: none
    buffer_t name;                          //  Of the model, as its file says; empty: it does not
    buffer_t vocabulary;                    //  Kind of the vocabulary, in the file's words: "gpt2", "BPE"
    buffer_t cutting;                       //  How text is cut, in the file's words: "llama-bpe", "Split, ByteLevel"
    buffer_t bos;                           //  Text of the token that begins a text; empty: none
    buffer_t eos;                           //  Text of the one that ends it; empty: none
    json_t *rendered;                       //  Variables that are templates; NULL: none
    json_t *variables;                      //  As the engine gives them; NULL: none
    buffer_t begin;                         //  As the engine puts it; empty: nothing
    parser_choice_t format;                 //  How answers are written
} bundle_t;

//  Loads the files, borrowed for the call; an empty span is a file that is not there.  There must be a GGUF file or a
//  tokenizer.json.  Gives the bundle.  STATUS_INVALID, STATUS_UNSUPPORTED, STATUS_LIMIT with the file and what is wrong.
status_t bundle_load (const span_t files [BUNDLE_FILES], bundle_t **self, error_t *error);

//  The same, but a chat template without a vocabulary will do: `tokenizer` is NULL then.
status_t bundle_load_to_inspect (const span_t files [BUNDLE_FILES], bundle_t **self, error_t *error);

//  Of the files: what a model card says, so that whoever fetches them knows what came.
uint64_t bundle_fingerprint (const span_t files [BUNDLE_FILES]);

//  Nulls the caller's pointer.
void bundle_destroy (bundle_t **self_p);

//  Appends the prompt of a conversation: an object with what the template reads (messages, tools, add_generation_prompt,
//  ...), into which the model's own variables are put where they are missing.  now_s, steps_max: as in template.h.
//  STATUS_UNSUPPORTED where the model has no chat template for it; else as template_render.
status_t bundle_render (
    const bundle_t *self, json_t *conversation, int64_t now_s, uint64_t steps_max, buffer_t *out, error_t *error);

//  Walks what of Jinja and of the conversation the chat templates in use read: start with *cursor 0; NULL at the end.  Static.
const char *bundle_next_feature (const bundle_t *self, size_t *cursor);

#endif
