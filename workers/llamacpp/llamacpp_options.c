#include "workers/llamacpp/llamacpp_options.h"

#include <stddef.h>

#define FIELD(name) offsetof (llamacpp_options_t, name)

const option_t llamacpp_options_table [] = { { .name = "api_key",
                                                 .type = OPTION_SECRET,
                                                 .offset = FIELD (api_key),
                                                 .example = "file:/etc/stator/llama.key",
                                                 .doc = "Sent to the server as a bearer token.",
                                                 .advice = "Give it when the server was started with --api-key." },
    { .name = "connect_timeout",
        .type = OPTION_DURATION,
        .fallback = "5s",
        .min = 1000000,
        .max = INT64_MAX,
        .offset = FIELD (connect_timeout_ns),
        .doc = "How long a connection to the server may take." },
    { .name = "model_file",
        .type = OPTION_STRING,
        .offset = FIELD (model_file),
        .example = "/models/smollm2.gguf",
        .doc = "Where this worker finds the server's GGUF file, from which frontends make prompts.",
        .advice = "Give it when the server sees its file under another path, say in a container." },
    { .name = "probe_interval",
        .type = OPTION_DURATION,
        .fallback = "1s",
        .min = 10000000,
        .max = INT64_MAX,
        .offset = FIELD (probe_interval_ns),
        .doc = "How often its health is looked at." },
    { .name = "stall_timeout",
        .type = OPTION_DURATION,
        .fallback = "10min",
        .offset = FIELD (stall_timeout_ns),
        .doc = "How long the server may send nothing during a request; 0 waits for ever." },
    OPTIONS_END };
