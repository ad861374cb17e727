//  probe - what a chat template does with a conversation, found by trying
//
//  Small conversations with words that occur nowhere else are rendered, and the prompt is searched for them.  So the
//  findings hold for any template, whatever it is written like; they are made once, when a model is loaded, and tell who
//  prepares conversations what the template keeps, what it must not be given, and how an answer begins.  Calls are tried
//  with empty content, and where that loses them with none.

#ifndef MODEL_TEMPLATE_PROBE_H
#define MODEL_TEMPLATE_PROBE_H

#include "model/template/template.h"

//  What becomes of a piece of a conversation.
typedef enum {
    FATE_KEPT,       //  It stands in the prompt, behind what came before it and before what came after
    FATE_MOVED,      //  It stands elsewhere in the prompt
    FATE_DROPPED,    //  It is left out silently
    FATE_REFUSED,    //  The template raises
} fate_t;

//  For how long the reasoning of an assistant is shown to it again.
typedef enum {
    REASONING_NEVER,        //  Not at all
    REASONING_IN_LOOP,      //  Until the user speaks again: while tools are called
    REASONING_ALWAYS,       //  For good
    REASONING_NOT_LATEST    //  Where it has ended a turn, not while tools are called
} reasoning_t;

//  Where tools stand in the prompt of a conversation of system, user, assistant, user.
typedef enum {
    TOOLS_ABSENT,          //  Nowhere
    TOOLS_BEFORE_ALL,      //  Before the system message
    TOOLS_AFTER_SYSTEM,    //  Between it and the first user message
    TOOLS_BEFORE_LAST,     //  Between the assistant's and the last user message
    TOOLS_AFTER_ALL,       //  Behind that
    TOOLS_REFUSED,         //  The template raises
} tools_t;

typedef struct {
    fate_t system_first;         //  A system message before the user's
    fate_t system_middle;        //  One between an assistant's and a user's
    fate_t system_after_tool;    //  One behind the result of a tool
    fate_t system_last;          //  One behind a user's
    fate_t developer_first;      //  A developer message before the user's
    fate_t developer_middle;     //  One between an assistant's and a user's
    bool developer_is_system;    //  The first one gives the very prompt of a system message
    fate_t two_users;            //  The second of two user messages in a row
    fate_t typed_content;        //  Content as a row of {"type": "text", "text"}; refused where it is printed like that
    fate_t empty_content;        //  The call of an assistant whose content is ""
    fate_t null_content;         //  The call of an assistant whose content is null
    fate_t second_call;          //  The second call of a message
    fate_t tool_result;          //  Message of the role tool
    fate_t call_arguments;       //  Arguments of a call as an object
    fate_t text_arguments;       //  Arguments of a call as JSON text
    bool wants_text;             //  They must come as text: an object is refused, or printed as Python would
    tools_t tools;               //  Where they stand
    bool tools_as_json;          //  Their parameters stand there as tojson writes them
    const char *reasoning;       //  Member of an assistant's message that holds reasoning; "": none is read.  Static
    reasoning_t kept;            //  For how long it is shown
    fate_t inline_thoughts;      //  <think>...</think> in the content of an earlier assistant message
    const char *thinking;        //  Variable that turns thinking on and off; "": none.  Static
    buffer_t tail;               //  What add_generation_prompt appends behind a user's message
    buffer_t tail_thinking;      //  The same with thinking on; empty where `thinking` is
    buffer_t tail_plain;         //  The same with thinking off
    buffer_t tail_after_tool;    //  Behind the result of a tool
} template_findings_t;

//  Tries a template.  variables: members that every rendering gets (bos_token, eos_token ...); NULL: none; borrowed.  The
//  findings need template_findings_fini.
void template_probe (const template_t *self, const json_t *variables, template_findings_t *findings);

void template_findings_fini (template_findings_t *self);

//  Walks the findings as words: start with *cursor 0; false at the end.  The name is static; the value is appended to *value.
bool template_findings_next (const template_findings_t *self, size_t *cursor, const char **name, buffer_t *value);

#endif
