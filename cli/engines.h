//  engines - which adapters there are
//
//  A row for each folder of workers/ that is one.  All else that is to be known of an engine stands in that folder: what
//  can be set about it, and in its class what must run for it and how that is asked whether it is ready.

#ifndef CLI_ENGINES_H
#define CLI_ENGINES_H

#include "workers/llamacpp/llamacpp.h"
#include "workers/mock/mock.h"

//  ROW (number, folder, what it does): the folder's name is what files say; its class is FOLDER_engine, its options are
//  FOLDER_options_t, their table is FOLDER_options_table.
//  clang-format off
#define ENGINES(ROW)                               \
    ROW (ENGINE_MOCK, mock, "makes its tokens up") \
    ROW (ENGINE_LLAMACPP, llamacpp, "speaks to a llama-server")
//  clang-format on

#endif
