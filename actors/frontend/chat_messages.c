#include "actors/frontend/chat_messages.h"

#include <stdio.h>

#include "base/json_writer.h"

//  ---- Roles ---------------------------------------------------------------------------------------------------------

typedef struct {
    const char *name;      //  As sent
    const char *role;      //  As templates know it
    bool may_be_silent;    //  Content may be null or absent
    bool takes_images;     //  Where an image stands for itself, so that leaving it out would change the question
} role_t;

//  `developer` is what newer OpenAI models call the system; `function` is how tool results were sent before `tool`.
static const role_t s_roles [] = {
    { "system", "system", false, true },
    { "developer", "system", false, true },
    { "user", "user", false, true },
    { "assistant", "assistant", true, false },
    { "tool", "tool", true, false },
    { "function", "tool", true, false },
};

static const role_t *
s_find_role (span_t name)
{
    for (size_t i = 0; i < sizeof s_roles / sizeof s_roles [0]; i++)
        if (span_equal_string (name, s_roles [i].name))
            return &s_roles [i];
    return NULL;
}

//  ---- Content -------------------------------------------------------------------------------------------------------

//  What is being read, for sentences.
typedef struct {
    chat_request_t *request;    //  Where it goes
    size_t position;            //  Of the message
    const role_t *role;         //  Of the message
    buffer_t content;           //  Text so far
    buffer_t reasoning;         //  Thoughts so far
    api_error_t *error;         //  What is wrong
} reader_t;

static bool
s_refuse (const reader_t *self, api_error_kind_t kind, const char *member, const char *sentence)
{
    char param [API_PARAM_MAX];
    snprintf (param, sizeof param, "messages[%zu]%s%s", self->position, member [0] ? "." : "", member);
    return api_error_set (self->error, kind, param, "Invalid '%s': %s.", param, sentence);
}

//  Parts are paragraphs: one part alone is the same text as a plain string.
static void
s_append_part (buffer_t *out, span_t text)
{
    if (out->size)
        buffer_append_byte (out, '\n');
    buffer_append (out, text);
}

typedef enum { PART_TEXT, PART_REASONING, PART_MEDIA } part_kind_t;

typedef struct {
    const char *type;      //  As sent
    part_kind_t kind;      //  What to do with it
    const char *member;    //  Where its text stands
} part_t;

static const part_t s_parts [] = {
    { "text", PART_TEXT, "text" },
    { "input_text", PART_TEXT, "text" },
    { "output_text", PART_TEXT, "text" },
    { "refusal", PART_TEXT, "refusal" },
    { "thinking", PART_REASONING, "thinking" },
    { "reasoning", PART_REASONING, "text" },
    { "image_url", PART_MEDIA, "[image]" },
    { "input_image", PART_MEDIA, "[image]" },
    { "image", PART_MEDIA, "[image]" },
    { "input_audio", PART_MEDIA, "[audio]" },
    { "file", PART_MEDIA, "[file]" },
};

static const part_t *
s_find_part (const json_t *json)
{
    span_t type = json_string (json_get (json, "type"));
    if (type.size == 0 && json_kind (json_get (json, "text")) == JSON_STRING)
        return &s_parts [0];
    for (size_t i = 0; i < sizeof s_parts / sizeof s_parts [0]; i++)
        if (span_equal_string (type, s_parts [i].type))
            return &s_parts [i];
    return NULL;
}

//  Where the text of a part should stand may stand nothing, but nothing else: it would be lost.
static bool
s_read_text (reader_t *self, const part_t *part, const json_t *json)
{
    const json_t *text = json_get (json, part->member);
    if (text && json_kind (text) != JSON_STRING)
        return s_refuse (self, API_INVALID_TYPE, "content", "the text of a part must be a string");
    s_append_part (part->kind == PART_TEXT ? &self->content : &self->reasoning, json_string (text));
    return true;
}

//  An image in a question cannot be left out; one that a tool sent back is named, since refusing it would end the
//  conversation for good.  What nobody knows is shown as it came.
static bool
s_read_part (reader_t *self, const json_t *json)
{
    if (json_kind (json) == JSON_STRING) {
        s_append_part (&self->content, json_string (json));
        return true;
    }
    if (json_kind (json) != JSON_OBJECT)
        return s_refuse (self, API_INVALID_TYPE, "content", "a part must be an object with a type");
    const part_t *part = s_find_part (json);
    if (!part) {
        buffer_t text = { 0 };
        json_render (json, &text);
        s_append_part (&self->content, buffer_span (&text));
        buffer_fini (&text);
    } else if (part->kind == PART_MEDIA) {
        if (self->role->takes_images)
            return s_refuse (
                self, API_INVALID_VALUE, "content", "this model reads text only, not images, audio or files");
        s_append_part (&self->content, span_from_string (part->member));
    } else
        return s_read_text (self, part, json);
    return true;
}

static bool
s_read_content (reader_t *self, const json_t *content)
{
    switch (json_kind (content)) {
    case JSON_NULL:
        return self->role->may_be_silent ||
               s_refuse (self, API_MISSING, "content", "a message of this role needs content");
    case JSON_STRING:
        buffer_append (&self->content, json_string (content));
        return true;
    case JSON_ARRAY:
        for (size_t i = 0; i < json_count (content); i++)
            if (!s_read_part (self, json_at (content, i)))
                return false;
        return true;
    case JSON_BOOL:
    case JSON_INTEGER:
    case JSON_REAL:
    case JSON_OBJECT:
        break;
    }
    return s_refuse (self, API_INVALID_TYPE, "content", "must be a string or an array of parts");
}

//  Servers and harnesses call it by different names; one of them is enough.
static void
s_read_reasoning (reader_t *self, const json_t *message)
{
    static const char *const names [] = { "reasoning_content", "reasoning" };
    for (size_t i = 0; i < sizeof names / sizeof names [0] && self->reasoning.size == 0; i++)
        buffer_append (&self->reasoning, json_string (json_get (message, names [i])));
    const json_t *details = self->reasoning.size ? NULL : json_get (message, "reasoning_details");
    for (size_t i = 0; i < json_count (details); i++) {
        span_t text = json_string (json_get (json_at (details, i), "text"));
        if (text.size)
            s_append_part (&self->reasoning, text);
    }
}

//  ---- Tool calls ----------------------------------------------------------------------------------------------------

//  Models and harnesses send "", null and objects where a string of JSON is due; templates want an object in it.
static void
s_write_arguments (json_writer_t *json, const json_t *arguments)
{
    buffer_t text = { 0 };
    span_t plain = span_trim (json_string (arguments));
    if (json_kind (arguments) == JSON_STRING && plain.size && !span_equal (plain, SPAN ("null")))
        buffer_append (&text, json_string (arguments));
    else if (json_kind (arguments) == JSON_OBJECT || json_kind (arguments) == JSON_ARRAY)
        json_render (arguments, &text);
    else
        buffer_append_string (&text, "{}");
    json_write_string (json, buffer_span (&text));
    buffer_fini (&text);
}

static void
s_write_input (json_writer_t *json, span_t input)
{
    buffer_t text = { 0 };
    json_writer_t inner;
    json_writer_init (&inner, &text);
    json_write_begin_object (&inner);
    json_write_key (&inner, "input");
    json_write_string (&inner, input);
    json_write_end_object (&inner);
    json_write_string (json, buffer_span (&text));
    buffer_fini (&text);
}

//  call: an element of tool_calls; NULL where function is the function_call of old.  False where it names no function.
static bool
s_write_call (json_writer_t *json, const json_t *call, const json_t *function)
{
    const json_t *custom = json_get (call, "custom");
    span_t id = json_string (json_get (call, "id"));
    span_t name = json_string (json_get (custom ? custom : function, "name"));
    if (name.size == 0)
        return false;
    json_write_begin_object (json);
    if (id.size) {
        json_write_key (json, "id");
        json_write_string (json, id);
    }
    json_write_key (json, "type");
    json_write_string (json, SPAN ("function"));
    json_write_key (json, "function");
    json_write_begin_object (json);
    json_write_key (json, "name");
    json_write_string (json, name);
    json_write_key (json, "arguments");
    if (custom)
        s_write_input (json, json_string (json_get (custom, "input")));
    else
        s_write_arguments (json, json_get (function, "arguments"));
    json_write_end_object (json);
    json_write_end_object (json);
    return true;
}

static bool
s_read_tool_calls (reader_t *self, const json_t *message, span_t *tool_calls)
{
    const json_t *calls = json_get (message, "tool_calls");
    const json_t *old = json_get (message, "function_call");
    if (calls && json_kind (calls) != JSON_ARRAY)
        return s_refuse (self, API_INVALID_TYPE, "tool_calls", "must be an array");
    if (json_count (calls) == 0 && json_kind (old) != JSON_OBJECT)
        return true;
    buffer_t text = { 0 };
    json_writer_t json;
    json_writer_init (&json, &text);
    json_write_begin_array (&json);
    bool named = true;
    for (size_t i = 0; i < json_count (calls) && named; i++)
        named = s_write_call (&json, json_at (calls, i), json_get (json_at (calls, i), "function"));
    if (json_count (calls) == 0)
        named = s_write_call (&json, NULL, old);
    json_write_end_array (&json);
    *tool_calls = chat_request_keep (self->request, buffer_span (&text));
    buffer_fini (&text);
    return named || s_refuse (self, API_MISSING, "tool_calls", "a call needs a function with a name");
}

//  ---- Messages ------------------------------------------------------------------------------------------------------

//  A member of a message that is text; nothing where it is absent.
static bool
s_read_member (reader_t *self, const json_t *message, const char *name, span_t *text)
{
    const json_t *json = json_get (message, name);
    if (json && json_kind (json) != JSON_STRING)
        return s_refuse (self, API_INVALID_TYPE, name, "must be a string");
    *text = chat_request_keep (self->request, json_string (json));
    return true;
}

static bool
s_read_into (reader_t *self, const json_t *json, chat_message_t *message)
{
    bool assistant = span_equal_string (span_from_string (self->role->role), "assistant");
    if (!s_read_content (self, json_get (json, "content")))
        return false;
    if (assistant) {
        s_read_reasoning (self, json);
        if (!s_read_tool_calls (self, json, &message->tool_calls))
            return false;
    }
    chat_request_t *request = self->request;
    message->role = span_from_string (self->role->role);
    message->content = chat_request_keep (request, buffer_span (&self->content));
    message->reasoning = chat_request_keep (request, buffer_span (&self->reasoning));
    return s_read_member (self, json, "tool_call_id", &message->tool_call_id) &&
           s_read_member (self, json, "name", &message->name);
}

static bool
s_read_message (chat_request_t *request, size_t position, const json_t *json, api_error_t *error)
{
    reader_t reader = { .request = request, .position = position, .error = error };
    if (json_kind (json) != JSON_OBJECT)
        return s_refuse (&reader, API_INVALID_TYPE, "", "must be an object");
    const json_t *role = json_get (json, "role");
    if (!role)
        return s_refuse (&reader, API_MISSING, "role", "a message needs a role");
    reader.role = s_find_role (json_string (role));
    if (!reader.role)
        return s_refuse (&reader, API_INVALID_VALUE, "role", "must be system, developer, user, assistant or tool");
    bool read = s_read_into (&reader, json, &request->messages [position]);
    buffer_fini (&reader.content);
    buffer_fini (&reader.reasoning);
    return read;
}

bool
chat_messages_parse (chat_request_t *request, const json_t *messages, api_error_t *error)
{
    if (!messages)
        return api_error_set (error, API_MISSING, "messages", "Missing required parameter: 'messages'.");
    if (json_kind (messages) != JSON_ARRAY)
        return api_error_set (error, API_INVALID_TYPE, "messages",
            "Invalid type for 'messages': expected an array, got %s.", json_kind_name (json_kind (messages)));
    size_t count = json_count (messages);
    if (count == 0)
        return api_error_set (error, API_INVALID_VALUE, "messages", "Invalid 'messages': empty array.");
    request->messages = arena_new (&request->arena, count * sizeof *request->messages);
    if (!request->messages)
        return api_error_set (error, API_TOO_LARGE, "messages", "Too many messages.");
    request->message_count = count;
    for (size_t i = 0; i < count; i++)
        if (!s_read_message (request, i, json_at (messages, i), error))
            return false;
    return true;
}
