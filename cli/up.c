//  stator up, stator run - a whole fleet on this machine
//
//  The host actor runs here and starts everything else as processes of its own: this program again, with the verb actor,
//  and the engines.  `run` asks the fleet one question once it is ready, over its real HTTP port; its log goes to a file,
//  so that the terminal is the answer's.

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "actors/frontend/frontend.h"
#include "cli/caller.h"
#include "cli/chat.h"
#include "cli/house.h"
#include "cli/plan.h"
#include "cli/ports.h"
#include "cli/site.h"
#include "cli/startup.h"

enum { PROGRAM_MAX = 4096, SOCKET_PATH_MAX = 107, SOCKET_NAME_MAX = 24, ASK_MS = 1000, SOURCE_MAX = 32 };

//  Whom `run` asks.
static const char FRONTEND [] = "frontend/0";

static const char s_default_file [] = "fleet.yaml";

typedef struct {
    bool once;             //  End after the answer
    const char *prompt;    //  What to ask
} run_flags_t;

static const option_t s_run_flags [] = {
    { .name = "once", .type = OPTION_BOOL, .offset = offsetof (run_flags_t, once), .doc = "End after the answer." },
    { .name = "prompt",
        .type = OPTION_STRING,
        .fallback = "Say hello in one short sentence.",
        .offset = offsetof (run_flags_t, prompt),
        .doc = "What to ask." },
    OPTIONS_END,
};

//  The longest name of a socket is that of a worker.
static status_t
s_check_socket_paths (const site_t *site, error_t *error)
{
    size_t longest = SOCKET_NAME_MAX;
    for (size_t i = 0; i < site->fleet->workers.count; i++) {
        size_t size = strlen ("/worker--999") + strlen (manifest_worker (site->fleet, i)->name);
        longest = size > longest ? size : longest;
    }
    if (strlen (site->folders.run) + longest <= SOCKET_PATH_MAX)
        return STATUS_OK;
    return error_set (error, STATUS_LIMIT,
        "sockets in %s would have names that are too long; name a shorter folder with --run-dir", site->folders.run);
}

//  What the machine has to have, all of it: the programs of engines, and then, once no other fleet runs here, free ports.
static result_t
s_check_machine (const invocation_t *invocation, const site_t *site, bool ports)
{
    char source [SOURCE_MAX];
    complaints_t complaints;
    snprintf (source, sizeof source, "stator %s", invocation->command->name);
    complaints_init (&complaints, source);
    if (ports)
        ports_check (site->fleet, &complaints);
    else
        site_check_programs (site->fleet, &complaints);
    command_print_complaints (&complaints);
    bool bad = complaints_any (&complaints);
    complaints_fini (&complaints);
    return bad ? RESULT_USAGE : RESULT_OK;
}

//  Says what is wrong.
static result_t
s_prepare (const invocation_t *invocation, site_t *site)
{
    error_t error;
    result_t result = s_check_machine (invocation, site, false);
    if (result != RESULT_OK)
        return result;
    status_t status = s_check_socket_paths (site, &error);
    if (status == STATUS_OK)
        status = folders_lock (&site->folders, &site->lock, &error);
    if (status == STATUS_OK)
        result = s_check_machine (invocation, site, true);
    if (status == STATUS_OK && result == RESULT_OK)
        status = site_publish (site, site->fleet, &error);
    if (status == STATUS_OK)
        return result;
    command_complain (invocation->command, "%s", error.text);
    return RESULT_FAILED;
}

//  ---- The question of run -------------------------------------------------------------------------------------------

typedef struct {
    const site_t *site;          //  Where the fleet is
    const run_flags_t *flags;    //  What to ask
    const char *program;         //  How this one was called
    startup_t *startup;          //  What becomes of the fleet meanwhile
    result_t result;             //  How it went
    bool ends;                   //  The fleet ends with it
} question_t;

//  The port that the system chose for the frontend; 0 while it cannot be asked.
static unsigned
s_find_port (void *arg)
{
    const site_t *site = ((const question_t *)arg)->site;
    char broker [ENDPOINT_MAX], events [ENDPOINT_MAX];
    int64_t port = 0;
    error_t error;
    assembly_broker (site->fleet, &site->assembly, broker, events);
    if (caller_find_figure (broker, FRONTEND, "stator_frontend_port", ASK_MS, &port, &error) != STATUS_OK)
        return 0;
    return (unsigned)port;
}

static bool
s_look (void *arg)
{
    return startup_look (((const question_t *)arg)->startup);
}

static void
s_print_hints (const question_t *self, const chat_t *chat)
{
    const char *cluster = self->site->fleet->cluster.name;
    char which [MANIFEST_NAME_MAX + sizeof " --cluster "] = "";
    if (strcmp (cluster, "default") != 0)
        snprintf (which, sizeof which, " --cluster %s", cluster);
    chat_print_hints (chat, self->program, which);
}

static void *
s_ask (void *arg)
{
    question_t *question = arg;
    const frontend_options_t *frontend = &question->site->fleet->frontend.options;
    chat_t chat = {
        .host = frontend->host,
        .port = (unsigned)frontend->port,
        .model = question->site->fleet->models.count ? manifest_model (question->site->fleet, 0)->name : "",
        .prompt = question->flags->prompt,
        .patience_s = (unsigned)(question->site->fleet->host.ready_timeout_ns / 1000000000),
        .find_port = s_find_port,
        .look = s_look,
        .arg = question,
    };
    printf ("Starting; what it does is written to %s/stator.log\n", question->site->folders.run);
    fflush (stdout);
    question->result = chat_run (&chat);
    question->ends = question->flags->once || chat.gave_up;
    if (question->ends)
        kill (getpid (), SIGTERM);
    else if (question->result == RESULT_OK)
        s_print_hints (question, &chat);
    return NULL;
}

//  ---- Running -------------------------------------------------------------------------------------------------------

//  A fleet on its way up.
typedef struct {
    const invocation_t *invocation;    //  As typed
    const char *file;                  //  Of its configuration; NULL: the built-in one
    const run_flags_t *flags;          //  Of run; NULL: up
    site_t site;                       //  Where it lives
    char log [FOLDER_PATH_MAX];        //  Where run writes what happens
    host_setup_t setup;                //  What the host is to run
    assembly_actor_t host;             //  The host itself
    bool lost;                         //  The run folder is not what it should be, and cannot be mended
} launch_t;

static result_t
s_wait (house_t *house, const launch_t *launch)
{
    const run_flags_t *flags = launch->flags;
    question_t question = {
        .site = &launch->site,
        .flags = flags,
        .program = launch->invocation->program,
        .result = RESULT_FAILED,
    };
    char endpoint [ENDPOINT_MAX];
    pthread_t asker;
    house_start (house);
    if (!flags)
        return house_wait (house);
    assembly_local (launch->site.fleet, &launch->site.assembly, "host", endpoint);
    question.startup = startup_new (endpoint, launch->setup.programs, launch->setup.count);
    bool asked = pthread_create (&asker, NULL, s_ask, &question) == 0;
    result_t result = house_wait (house);
    chat_stop ();
    if (asked)
        pthread_join (asker, NULL);
    startup_destroy (&question.startup);
    return result == RESULT_OK && question.ends ? question.result : result;
}

//  What the processes read changes with what was read here; the host passes the wish on to them whatever came of the file,
//  since they have keys to read, too.
static status_t
s_on_reload (void *arg, house_reload_t *reload, error_t *error)
{
    launch_t *self = arg;
    status_t status = site_reload (&self->site, self->invocation, self->file, true, error);
    *reload = (house_reload_t){ .actors = &self->host,
        .log_level = (log_level_t)self->site.fleet->observability.log_level,
        .changed = buffer_string (&self->site.changed) };
    return status;
}

static status_t
s_read_keys (void *arg, keyring_t **keys, buffer_t *news, error_t *error)
{
    return site_read_keys (&((launch_t *)arg)->site, keys, news, error);
}

//  Sockets come back by themselves where there is a folder for them.
static void
s_on_tidy (void *arg, buffer_t *news)
{
    launch_t *self = arg;
    bool restored;
    error_t error;
    status_t status = site_restore (&self->site, &restored, &error);
    const char *run = self->site.folders.run;
    if (restored)
        buffer_print (news, "somebody cleaned up in %s; what processes need to start is there again", run);
    else if (status != STATUS_OK && !self->lost)
        buffer_print (news, "somebody cleaned up in %s, and no process can start again until that is mended: %s", run,
            error.text);
    self->lost = status != STATUS_OK;
}

static result_t
s_run_house (launch_t *self)
{
    const manifest_observability_t *observability = &self->site.fleet->observability;
    house_options_t options = {
        .state_dir = self->site.folders.state,
        .log_path = self->flags ? self->log : NULL,
        .log_level = (log_level_t)observability->log_level,
        .log_form = (log_form_t)observability->log_format,
        .news_level = LOG_INFO,
        .read_keys = s_read_keys,
        .on_reload = s_on_reload,
        .on_tidy = s_on_tidy,
        .arg = self,
    };
    error_t error;
    house_t *house = house_new (&self->host, 1, &options, &error);
    if (!house) {
        command_complain (self->invocation->command, "%s", error.text);
        return RESULT_FAILED;
    }
    result_t result = s_wait (house, self);
    house_destroy (&house);
    return result;
}

static result_t
s_run_host (launch_t *self)
{
    const site_t *site = &self->site;
    char program [PROGRAM_MAX], config [FOLDER_PATH_MAX], endpoint [ENDPOINT_MAX], local [ENDPOINT_MAX];
    char broker [ENDPOINT_MAX], events [ENDPOINT_MAX];
    command_find_program (self->invocation, program, sizeof program);
    folders_path (&site->folders, "stator.log", self->log, sizeof self->log);
    folders_path (&site->folders, SITE_CONFIG, config, sizeof config);
    assembly_endpoint (site->fleet, &site->assembly, "host", endpoint);
    bool has_local = assembly_local (site->fleet, &site->assembly, "host", local);
    assembly_broker (site->fleet, &site->assembly, broker, events);
    plan_options_t plan_options = {
        .program = program,
        .config = config,
        .run_dir = site->folders.run,
        .log = self->flags ? self->log : NULL,
        .parent = getpid (),
    };
    plan_t *plan = plan_new (site->fleet, &plan_options);
    self->setup = (host_setup_t){ &site->fleet->host, plan_programs (plan), plan_count (plan) };
    self->host = (assembly_actor_t){
        .class = &host_class,
        .class_options = &self->setup,
        .options = { .instance = site->machine,
            .endpoint = endpoint,
            .local = has_local ? local : NULL,
            .broker = broker,
            .events = events,
            .host = site->machine,
            .guard = site->fleet->guard },
    };
    result_t result = s_run_house (self);
    plan_destroy (&plan);
    unlink (config);
    return result;
}

static result_t
s_run_file (const invocation_t *invocation, const char *file, const run_flags_t *flags)
{
    launch_t launch = { .invocation = invocation, .file = file, .flags = flags };
    result_t result = site_open (&launch.site, invocation, file);
    if (result != RESULT_OK)
        return result;
    result = s_prepare (invocation, &launch.site);
    if (result == RESULT_OK)
        result = s_run_host (&launch);
    site_close (&launch.site);
    return result;
}

static result_t
s_up (const invocation_t *invocation)
{
    if (!invocation->count && access (s_default_file, F_OK) != 0) {
        command_complain (invocation->command,
            "there is no %s here; name a file, begin one with `stator check --print-default`, or try `stator run`",
            s_default_file);
        return RESULT_USAGE;
    }
    return s_run_file (invocation, invocation->count ? invocation->words [0] : s_default_file, NULL);
}

static result_t
s_run (const invocation_t *invocation)
{
    return s_run_file (invocation, invocation->count ? invocation->words [0] : NULL, invocation->flags);
}

const command_t up_command = {
    .name = "up",
    .arguments = "[FILE]",
    .doc = "Run a fleet on this machine until it is told to stop.",
    .essay = "Starts what FILE (fleet.yaml where none is named) says: broker, core, engines and workers, each a "
             "process, restarted\n"
             "when it crashes. SIGTERM or Ctrl-C drains: nothing new is taken, answers in progress are finished; a "
             "second one\n"
             "ends everything at once. SIGHUP reads FILE again: what the manual says a reload can change holds from "
             "then on,\n"
             "and keys are read again. Of a fleet that is spread over hosts, --host NAME runs what FILE says for that "
             "one.\n"
             "A port that somebody else holds, or a program that is not there, ends the start with exit code 2.\n",
    .takes_fleet = true,
    .words_max = 1,
    .run = s_up,
};

const command_t run_command = {
    .name = "run",
    .arguments = "[FILE]",
    .doc = "Run a fleet and ask it one question; without FILE, a small one of simulated workers.",
    .essay = "As `stator up`, and once the fleet is ready its answer to a question is streamed to the terminal over "
             "its own HTTP\n"
             "port. Then it stays up.\n",
    .table = s_run_flags,
    .flags_size = sizeof (run_flags_t),
    .takes_fleet = true,
    .words_max = 1,
    .run = s_run,
};
