//  What a chat template reads of a request: messages, tools and arguments as a tree

#include "actors/frontend/chat_request.h"

static void
s_put_text (json_t *object, const char *key, span_t text)
{
    if (text.size)
        json_put (object, key, json_new_string (text));
}

static json_t *
s_parse (span_t text)
{
    json_t *tree = NULL;
    json_parse (text, &tree, NULL);
    return tree;
}

//  Arguments come as a string of JSON; templates want the object that is in it.  What is none stays the string it is.
static json_t *
s_function (const json_t *function)
{
    json_t *copy = json_new_object ();
    json_t *arguments = s_parse (json_string (json_get (function, "arguments")));
    json_put (copy, "name", json_share (json_get (function, "name")));
    if (json_kind (arguments) != JSON_OBJECT) {
        json_destroy (&arguments);
        arguments = json_share (json_get (function, "arguments"));
    }
    json_put (copy, "arguments", arguments);
    return copy;
}

static json_t *
s_tool_calls (span_t text)
{
    json_t *calls = s_parse (text), *copies = json_new_array ();
    for (size_t i = 0; i < json_count (calls); i++) {
        const json_t *call = json_at (calls, i);
        json_t *copy = json_new_object ();
        s_put_text (copy, "id", json_string (json_get (call, "id")));
        json_put (copy, "type", json_share (json_get (call, "type")));
        json_put (copy, "function", s_function (json_get (call, "function")));
        json_add (copies, copy);
    }
    json_destroy (&calls);
    return copies;
}

static json_t *
s_message (const chat_message_t *message)
{
    json_t *object = json_new_object ();
    s_put_text (object, "role", message->role);
    json_put (object, "content", json_new_string (message->content));
    s_put_text (object, "reasoning_content", message->reasoning);
    if (message->tool_calls.size)
        json_put (object, "tool_calls", s_tool_calls (message->tool_calls));
    s_put_text (object, "tool_call_id", message->tool_call_id);
    s_put_text (object, "name", message->name);
    return object;
}

uint32_t
chat_context_calls (const json_t *context)
{
    const json_t *messages = json_get (context, "messages");
    size_t count = 0;
    for (size_t i = 0; i < json_count (messages); i++)
        count += json_count (json_get (json_at (messages, i), "tool_calls"));
    return (uint32_t)count;
}

json_t *
chat_request_tools (const chat_request_t *self)
{
    return self->tools.size ? s_parse (self->tools) : NULL;
}

json_t *
chat_request_context (const chat_request_t *self)
{
    json_t *context = json_new_object (), *messages = json_new_array ();
    json_t *arguments = s_parse (self->template_arguments);
    uintptr_t cursor = 0;
    span_t key;
    const json_t *value;
    char name [64];
    while (json_next (arguments, &cursor, &key, &value))
        if (span_copy_string (key, name, sizeof name))
            json_put (context, name, json_share (value));
    json_destroy (&arguments);
    for (size_t i = 0; i < self->message_count; i++)
        json_add (messages, s_message (&self->messages [i]));
    json_put (context, "messages", messages);
    if (self->tools.size)
        json_put (context, "tools", chat_request_tools (self));
    return context;
}
