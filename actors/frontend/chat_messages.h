//  chat_messages - the conversation of a chat request
//
//  Part of chat_request.h: reads the array of messages into their canonical form.

#ifndef ACTORS_FRONTEND_CHAT_MESSAGES_H
#define ACTORS_FRONTEND_CHAT_MESSAGES_H

#include "actors/frontend/chat_request.h"

//  Reads the member "messages".  False: *error says why.
bool chat_messages_parse (chat_request_t *request, const json_t *messages, api_error_t *error);

#endif
