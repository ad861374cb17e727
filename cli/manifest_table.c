//  Every key of the configuration file.  The rooms bring the rows of their own sections.

#include "cli/manifest.h"

#include <stddef.h>

#define ENGINE_NAME(number, folder, does) [number] = #folder,
#define ENGINE_DOC(number, folder, does) " " #folder " " does "."
#define ENGINE_SECTION(number, folder, does)            \
    { .name = #folder,                                  \
        .type = OPTION_SECTION,                         \
        .table = folder##_options_table,                \
        .offset = offsetof (manifest_worker_t, folder), \
        .doc = "Options of engine " #folder "." },
#define ENGINE_CLASS(number, folder, does) [number] = { &folder##_engine, offsetof (manifest_worker_t, folder) },

const char *const manifest_engines [] = { ENGINES (ENGINE_NAME) NULL };

//  What people ask for, and what is to be said to them.
#define NO_ADAPTER(engine)                                                              \
    "; there is no adapter for " engine                                                 \
    " yet: what works is llamacpp, with a 'command' that starts a llama-server or the " \
    "'url' of one"
static const option_refusal_t s_other_engines [] = { { "vllm", NO_ADAPTER ("vLLM") },
    { "sglang", NO_ADAPTER ("SGLang") }, { "trtllm", NO_ADAPTER ("TensorRT-LLM") },
    { "trt_llm", NO_ADAPTER ("TensorRT-LLM") }, { "tensorrt_llm", NO_ADAPTER ("TensorRT-LLM") },
    { "tensorrtllm", NO_ADAPTER ("TensorRT-LLM") }, { "tensorrt", NO_ADAPTER ("TensorRT-LLM") },
    { "llama_server", "; llamacpp is what speaks to a llama-server" }, { NULL, NULL } };

static const char *const s_processes [] = { "core", "own", NULL };
static const char *const s_levels [] = { "debug", "info", "warning", "error", NULL };
static const char *const s_formats [] = { "auto", "human", "json", NULL };

static const option_t s_cluster [] = {
    { .name = "name",
        .type = OPTION_STRING,
        .fallback = "default",
        .offset = offsetof (manifest_cluster_t, name),
        .flag = "cluster",
        .doc = "Keeps the fleets of one user apart.",
        .advice = "Give each its own when several run on one machine." },
    { .name = "state_dir",
        .type = OPTION_STRING,
        .offset = offsetof (manifest_cluster_t, state_dir),
        .flag = "state-dir",
        .example = "/var/lib/stator",
        .doc = "Folder of what survives a restart: the cluster's secret, promises; by default "
               "$XDG_STATE_HOME/stator/NAME." },
    { .name = "run_dir",
        .type = OPTION_STRING,
        .offset = offsetof (manifest_cluster_t, run_dir),
        .flag = "run-dir",
        .example = "/run/stator",
        .doc = "Folder of sockets and logs, made readable by its owner only; by default $XDG_RUNTIME_DIR/stator/NAME.",
        .advice = "Name a short one when the message says that a socket's path is too long." },
    { .name = "host",
        .type = OPTION_STRING,
        .offset = offsetof (manifest_cluster_t, host),
        .flag = "host",
        .example = "gpu-1",
        .doc = "Which of the hosts this machine is; `stator up` runs what is said for it.",
        .advice = "Leave it out of the file and say --host, so that all hosts have the same file." },
    OPTIONS_END,
};

static const option_t s_host [] = {
    { .name = "name",
        .type = OPTION_STRING,
        .traits = OPTION_REQUIRED,
        .offset = offsetof (manifest_host_t, name),
        .example = "gpu-1",
        .doc = "What it is called; its key has the same name." },
    { .name = "address",
        .type = OPTION_STRING,
        .traits = OPTION_REQUIRED,
        .offset = offsetof (manifest_host_t, address),
        .example = "10.0.0.2",
        .doc = "IP address that its actors listen on and the other hosts reach it at." },
    { .name = "runs",
        .type = OPTION_STRINGS,
        .offset = offsetof (manifest_host_t, runs),
        .example = "[broker, core]",
        .doc =
            "What it runs besides the workers that name it: broker, core (frontends, routers, indexers). Each runs on "
            "one host." },
    OPTIONS_END,
};

static const option_t s_security [] = {
    { .name = "keys_dir",
        .type = OPTION_STRING,
        .offset = offsetof (manifest_security_t, keys_dir),
        .example = "/etc/stator/keys",
        .doc = "Folder of certificates, those of czmq: whose lies there is let in. By default `keys` in the state "
               "folder. SIGHUP reads it again." },
    { .name = "roles",
        .type = OPTION_LIST,
        .table = roles_table,
        .size = sizeof (manifest_role_t),
        .offset = offsetof (manifest_security_t, roles),
        .doc = "What the holders of keys may do, in place of the usual roles: host, core, worker, operator, policy." },
    OPTIONS_END,
};

static const option_t s_model [] = {
    { .name = "name",
        .type = OPTION_STRING,
        .traits = OPTION_REQUIRED,
        .offset = offsetof (manifest_model_t, name),
        .example = "SmolLM2-135M-Instruct",
        .doc = "What clients ask for." },
    { .name = "aliases",
        .type = OPTION_STRINGS,
        .offset = offsetof (manifest_model_t, aliases),
        .example = "[small, gpt-4o-mini]",
        .doc = "Other names that lead here.",
        .advice = "Name what your harness insists on." },
    { .name = "max_model_len",
        .type = OPTION_INTEGER,
        .fallback = "0",
        .max = 1 << 28,
        .offset = offsetof (manifest_model_t, max_model_len),
        .doc = "Tokens a request may have, prompt and output; 0: as many as its workers can.",
        .advice = "Lower it to keep single requests from filling a worker." },
    OPTIONS_END,
};

static const option_t s_worker [] = {
    { .name = "name",
        .type = OPTION_STRING,
        .offset = offsetof (manifest_worker_t, name),
        .example = "h100",
        .doc = "Instances are called NAME-0, NAME-1 and so on; by default the engine's name." },
    { .name = "engine",
        .type = OPTION_ENUM,
        .traits = OPTION_REQUIRED,
        .words = manifest_engines,
        .refusals = s_other_engines,
        .offset = offsetof (manifest_worker_t, engine),
        .example = "llamacpp",
        .doc = "Which adapter." ENGINES (ENGINE_DOC) },
    { .name = "model",
        .type = OPTION_STRING,
        .offset = offsetof (manifest_worker_t, model),
        .example = "SmolLM2-135M-Instruct",
        .doc = "Which of the models it serves; may be left out where there is one." },
    { .name = "count",
        .type = OPTION_INTEGER,
        .fallback = "1",
        .min = 1,
        .max = MANIFEST_COUNT_MAX,
        .offset = offsetof (manifest_worker_t, count),
        .doc = "How many of them." },
    { .name = "host",
        .type = OPTION_STRING,
        .offset = offsetof (manifest_worker_t, host),
        .example = "gpu-1",
        .doc = "On which of the hosts they run, where the fleet has hosts." },
    { .name = "url",
        .type = OPTION_URL,
        .offset = offsetof (manifest_worker_t, url),
        .example = "http://127.0.0.1:8080",
        .doc = "An engine that runs already: it is used as it is, never started, stopped or restarted." },
    { .name = "port",
        .type = OPTION_INTEGER,
        .fallback = "8210",
        .min = 1,
        .max = 65535,
        .offset = offsetof (manifest_worker_t, port),
        .doc = "Port of the first engine that `command` starts; the next ones count up.",
        .advice = "Give each group its own range." },
    { .name = "command",
        .type = OPTION_COMMAND,
        .offset = offsetof (manifest_worker_t, command),
        .example = "llama-server -m model.gguf --host 127.0.0.1 --port {port} -np 2 -c 16384 --slots --jinja",
        .doc = "How to start one engine; {port}, {instance} and {model} are filled in. It is restarted together with "
               "its worker." },
    { .name = "environment",
        .type = OPTION_STRINGS,
        .offset = offsetof (manifest_worker_t, environment),
        .example = "[CUDA_VISIBLE_DEVICES=0]",
        .doc = "NAME=value pairs added to the environment of `command`." },
    { .name = "worker",
        .type = OPTION_INCLUDE,
        .table = worker_options_table,
        .offset = offsetof (manifest_worker_t, worker) },
    ENGINES (ENGINE_SECTION) OPTIONS_END,
};

static const struct {
    const engine_class_t *class;    //  The adapter
    size_t options;                 //  Offset of what can be set about it in a group of workers
} s_engines [] = { ENGINES (ENGINE_CLASS) };

const engine_class_t *
manifest_engine (const manifest_worker_t *worker)
{
    return s_engines [worker->engine].class;
}

const void *
manifest_engine_options (const manifest_worker_t *worker)
{
    return (const uint8_t *)worker + s_engines [worker->engine].options;
}

static const option_t s_frontend [] = {
    { .name = "instances",
        .type = OPTION_INTEGER,
        .fallback = "1",
        .min = 1,
        .max = 64,
        .offset = offsetof (manifest_frontend_t, instances),
        .doc = "How many frontends; each next one listens on the next port.",
        .advice = "One serves some thousand streams; add one when its core is full." },
    { .name = "process",
        .type = OPTION_ENUM,
        .fallback = "core",
        .words = s_processes,
        .offset = offsetof (manifest_frontend_t, process),
        .doc = "Where they run: in core beside routers and indexers, or each in a process of its own.",
        .advice = "With `own`, answers under way survive the death of a router or indexer." },
    { .name = "options",
        .type = OPTION_INCLUDE,
        .table = frontend_options_table,
        .offset = offsetof (manifest_frontend_t, options) },
    OPTIONS_END,
};

static const option_t s_router [] = {
    { .name = "instances",
        .type = OPTION_INTEGER,
        .fallback = "1",
        .min = 1,
        .max = 64,
        .offset = offsetof (manifest_router_t, instances),
        .doc = "How many routers share the sessions.",
        .advice = "One decides some thousand requests a second." },
    { .name = "process",
        .type = OPTION_ENUM,
        .fallback = "core",
        .words = s_processes,
        .offset = offsetof (manifest_router_t, process),
        .doc = "Where they run: in core, or each in a process of its own." },
    { .name = "options",
        .type = OPTION_INCLUDE,
        .table = router_options_table,
        .offset = offsetof (manifest_router_t, options) },
    OPTIONS_END,
};

static const option_t s_indexer [] = {
    { .name = "instances",
        .type = OPTION_INTEGER,
        .fallback = "1",
        .min = 1,
        .max = 64,
        .offset = offsetof (manifest_indexer_t, instances),
        .doc = "How many indexers; each keeps the whole index.",
        .advice = "A second one serves when the first restarts." },
    { .name = "process",
        .type = OPTION_ENUM,
        .fallback = "core",
        .words = s_processes,
        .offset = offsetof (manifest_indexer_t, process),
        .doc = "Where they run: in core, or each in a process of its own." },
    { .name = "options",
        .type = OPTION_INCLUDE,
        .table = indexer_options_table,
        .offset = offsetof (manifest_indexer_t, options) },
    OPTIONS_END,
};

static const option_t s_observability [] = {
    { .name = "log_level",
        .type = OPTION_ENUM,
        .fallback = "info",
        .traits = OPTION_LIVE,
        .words = s_levels,
        .flag = "log-level",
        .offset = offsetof (manifest_observability_t, log_level),
        .doc = "The least that is logged. Prompts never are." },
    { .name = "log_format",
        .type = OPTION_ENUM,
        .fallback = "auto",
        .words = s_formats,
        .flag = "log-format",
        .offset = offsetof (manifest_observability_t, log_format),
        .doc = "human for people, json for machines; auto is human on a terminal and json elsewhere." },
    OPTIONS_END,
};

const option_t manifest_table [] = {
    { .name = "version",
        .type = OPTION_INTEGER,
        .fallback = "1",
        .min = 1,
        .max = 1000,
        .offset = offsetof (manifest_t, version),
        .doc = "Version of this file's format." },
    { .name = "cluster",
        .type = OPTION_SECTION,
        .table = s_cluster,
        .offset = offsetof (manifest_t, cluster),
        .doc = "What the fleet is called and where it keeps its files." },
    { .name = "hosts",
        .type = OPTION_LIST,
        .table = s_host,
        .size = sizeof (manifest_host_t),
        .offset = offsetof (manifest_t, hosts),
        .doc = "The machines of the fleet. Without the list it runs on one." },
    { .name = "models",
        .type = OPTION_LIST,
        .table = s_model,
        .size = sizeof (manifest_model_t),
        .offset = offsetof (manifest_t, models),
        .doc = "What clients can ask for. Without the list, the names that the workers serve." },
    { .name = "workers",
        .type = OPTION_LIST,
        .table = s_worker,
        .size = sizeof (manifest_worker_t),
        .offset = offsetof (manifest_t, workers),
        .doc = "What serves them: one worker beside each engine instance." },
    { .name = "frontend",
        .type = OPTION_SECTION,
        .table = s_frontend,
        .offset = offsetof (manifest_t, frontend),
        .doc = "Where harnesses connect: the HTTP server and its limits." },
    { .name = "router",
        .type = OPTION_SECTION,
        .table = s_router,
        .offset = offsetof (manifest_t, router),
        .doc = "Who decides which worker serves a request." },
    { .name = "indexer",
        .type = OPTION_SECTION,
        .table = s_indexer,
        .offset = offsetof (manifest_t, indexer),
        .doc = "Who knows which blocks lie in which cache." },
    { .name = "broker",
        .type = OPTION_SECTION,
        .table = broker_options_table,
        .offset = offsetof (manifest_t, broker),
        .doc = "The bus: who is there, and what happens." },
    { .name = "host",
        .type = OPTION_SECTION,
        .table = host_options_table,
        .offset = offsetof (manifest_t, host),
        .doc = "How processes are started, restarted and drained." },
    { .name = "security",
        .type = OPTION_SECTION,
        .table = s_security,
        .offset = offsetof (manifest_t, security),
        .doc = "Who may do what, where the fleet is spread over machines." },
    { .name = "observability",
        .type = OPTION_SECTION,
        .table = s_observability,
        .offset = offsetof (manifest_t, observability),
        .doc = "What the fleet says about itself." },
    OPTIONS_END,
};

const char manifest_builtin [] = "version: 1\n"
                                 "models:\n"
                                 "  - name: mock\n"
                                 "workers:\n"
                                 "  - engine: mock\n"
                                 "    count: 2\n";
