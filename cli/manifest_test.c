//  What a fleet file may say: six lines are enough, and what no single key can see is found.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "cli/manifest.h"

typedef struct {
    complaints_t complaints;
    manifest_t *fleet;
    buffer_t said;
} reading_t;

static void
s_read (reading_t *self, const char *text, const manifest_flags_t *flags)
{
    *self = (reading_t){ 0 };
    complaints_init (&self->complaints, "fleet.yaml");
    self->fleet = manifest_new (span_from_string (text), flags, NULL, &self->complaints);
    complaints_render (&self->complaints, &self->said);
}

static void
s_end (reading_t *self)
{
    manifest_destroy (&self->fleet);
    buffer_fini (&self->said);
    complaints_fini (&self->complaints);
}

static void
test_six_lines_are_a_fleet (void **state)
{
    reading_t reading;
    s_read (&reading, "version: 1\nmodels:\n  - name: demo\nworkers:\n  - engine: mock\n    model: demo\n", NULL);
    assert_string_equal (buffer_string (&reading.said), "");
    assert_int_equal (reading.fleet->workers.count, 1);
    const manifest_worker_t *worker = manifest_worker (reading.fleet, 0);
    assert_string_equal (worker->name, "mock");
    assert_string_equal (worker->model, "demo");
    assert_int_equal (worker->worker.block_size, 64);
    assert_int_equal (reading.fleet->frontend.options.port, 8000);
    assert_int_equal (reading.fleet->host.restart_delay_ns, 200000000);
    s_end (&reading);
}

static void
test_the_built_in_fleet_is_good (void **state)
{
    reading_t reading;
    s_read (&reading, manifest_builtin, NULL);
    assert_string_equal (buffer_string (&reading.said), "");
    assert_int_equal (manifest_worker (reading.fleet, 0)->count, 2);
    s_end (&reading);
}

static void
test_models_may_be_left_to_the_workers (void **state)
{
    reading_t reading;
    s_read (&reading,
        "workers:\n  - {engine: mock, model: a}\n  - {engine: mock, model: b, name: two}\n  - {engine: mock, model: a, "
        "name: three}\n",
        NULL);
    assert_string_equal (buffer_string (&reading.said), "");
    assert_int_equal (reading.fleet->models.count, 2);
    assert_string_equal (manifest_model (reading.fleet, 1)->name, "b");
    s_end (&reading);
}

static void
test_an_alias_leads_to_the_model (void **state)
{
    reading_t reading;
    s_read (&reading,
        "models:\n  - {name: a, aliases: [other]}\n  - name: b\nworkers:\n  - {engine: mock, model: other}\n", NULL);
    assert_string_equal (buffer_string (&reading.said), "");
    assert_string_equal (manifest_worker (reading.fleet, 0)->model, "a");
    s_end (&reading);
}

static void
test_instances_have_names_and_urls (void **state)
{
    reading_t reading;
    char name [80], url [128];
    s_read (&reading,
        "workers:\n  - {engine: llamacpp, name: a-1, model: m, count: 3, port: 9000, command: 'run {port}'}\n  - "
        "{engine: mock, "
        "name: a, model: m}\n",
        NULL);
    assert_string_equal (buffer_string (&reading.said), "");
    const manifest_worker_t *worker = manifest_worker (reading.fleet, 0);
    manifest_instance (worker, 2, name, sizeof name);
    assert_string_equal (name, "a-1-2");
    manifest_started_url (worker, 2, url, sizeof url);
    assert_string_equal (url, "http://127.0.0.1:9002");
    s_end (&reading);
}

static void
test_flags_win_over_the_file (void **state)
{
    const char *const words [] = { "fleet.yaml", "--router-mode", "round-robin", "--port=0",
        "--host-drain-timeout=1s" };
    manifest_flags_t flags = { .words = words, .count = 5 };
    reading_t reading;
    s_read (&reading, "frontend:\n  port: 9000\n", &flags);
    assert_string_equal (buffer_string (&reading.said), "");
    assert_int_equal (reading.fleet->frontend.options.port, 0);
    assert_string_equal (router_modes [reading.fleet->router.options.mode], "round_robin");
    assert_int_equal (reading.fleet->host.drain_timeout_ns, 1000000000);
    s_end (&reading);
}

typedef struct {
    const char *file;
    const char *said;
} bad_t;

static const bad_t s_bad [] = {
    { "models:\n  - name: demo\n    aliases: x\n    aliasse: x\n",
        "fleet.yaml:4:5: unknown key 'aliasse' in models[0]; did you mean 'aliases'?\n" },
    { "version: 2\n", "fleet.yaml:1:10: version 2 is not known here; this program reads version 1\n" },
    { "cluster:\n  name: a/b\n",
        "fleet.yaml:2:9: cluster.name: 'a/b' is no name: up to 64 letters, digits, '.', '_' and '-'\n" },
    { "models:\n  - name: demo\nworkers:\n  - engine: mock\n    name: a.b\n",
        "fleet.yaml:5:11: workers[0].name: 'a.b' is no name of actors: up to 64 letters, digits, '_' and '-'\n" },
    { "models:\n  - name: demo\nworkers:\n  - engine: mock\n    model: dmeo\n",
        "fleet.yaml:5:12: workers[0].model: 'dmeo' is not among the models; did you mean 'demo'?\n" },
    { "workers:\n  - engine: mock\n", "fleet.yaml:2:13: workers[0] has no 'model'; say what clients ask for\n" },
    { "workers:\n  - model: a\n", "fleet.yaml:2:5: workers[0] has no 'engine'\n" },
    { "models:\n  - {name: a}\n  - {name: b, aliases: [a]}\n",
        "fleet.yaml:3:24: models[1].aliases: 'a' is the name or alias of another model\n" },
    { "models:\n  - {name: a}\n  - {name: a}\n",
        "fleet.yaml:3:12: models[1].name: 'a' is the name or alias of another model\n" },
    { "workers:\n  - {engine: mock, model: a}\n  - {engine: mock, model: a}\n",
        "fleet.yaml:3:5: workers[0] and workers[1] are both called 'mock'; give one another 'name'\n" },
    { "workers:\n  - {engine: llamacpp, model: a}\n",
        "fleet.yaml:2:14: workers[0] needs a 'url' of a running llama-server, or a 'command' to start one\n" },
    { "workers:\n  - {engine: llamacpp, model: a, url: 'http://h', command: x}\n",
        "fleet.yaml:2:14: workers[0] has both 'url' (runs already) and 'command' (we start it)\n" },
    { "workers:\n  - {engine: llamacpp, model: a, url: 'http://h', count: 2}\n",
        "fleet.yaml:2:58: workers[0].count: one 'url' is one engine; write an element for each\n" },
    { "workers:\n  - {engine: llamacpp, model: a, command: '{port}', count: 2, port: 65535}\n",
        "fleet.yaml:2:69: workers[0].port: the last of its ports is above 65535\n" },
    { "workers:\n  - {engine: llamacpp, model: a, command: '{port}', count: 2}\n  - {engine: llamacpp, name: b, model: "
      "a, "
      "command: x, port: 8211}\n",
        "fleet.yaml:3:61: workers[1].port: port 8211 is that of workers[0].port in line 2 too; give one of them "
        "another\n" },
    { "workers:\n  - {engine: mock, model: a}\n  - {engine: mock, name: b, model: a, block_size: 16}\n",
        "fleet.yaml:3:51: workers[1].block_size: model 'a' has blocks of 64 tokens in workers[0]\n" },
    { "frontend: {port: 65535, instances: 2}\n",
        "fleet.yaml:1:18: frontend.port (--port): the last of its ports is above 65535\n" },
    { "frontend: {port: 8211}\nworkers:\n  - {engine: llamacpp, model: a, command: '{port}', count: 2}\n",
        "fleet.yaml:3:5: workers[0].port: port 8211 is that of frontend.port (--port) in line 1 too; give one of them "
        "another\n" },
    { "broker: {endpoint: 'tcp://127.0.0.1:8211'}\nworkers:\n  - {engine: llamacpp, model: a, command: '{port}', "
      "count: 2}\n",
        "fleet.yaml:3:5: workers[0].port: port 8211 is that of broker.endpoint in line 1 too; give one of them "
        "another\n" },
    { "broker: {endpoint: 'ipc:///a', events: 'ipc:///a'}\n",
        "fleet.yaml:1:40: broker.events: 'ipc:///a' is that of broker.endpoint too; give one of them another\n" },
    { "broker: {endpoint: 'tcp://127.0.0.1:8000', events: 'tcp://[::1]:8000'}\n",
        "fleet.yaml:1:20: broker.endpoint: port 8000 is that of frontend.port (--port) by default too; give one of "
        "them "
        "another\n"
        "fleet.yaml:1:52: broker.events: port 8000 is that of frontend.port (--port) by default too; give one of them "
        "another\n"
        "fleet.yaml:1:52: broker.events: port 8000 is that of broker.endpoint in line 1 too; give one of them "
        "another\n" },
    { "hosts:\n  - {name: a, address: 10.0.0.1, runs: [broker, core]}\n  - {name: b, address: 10.0.0.2}\nworkers:\n"
      "  - {engine: llamacpp, model: m, name: x, host: b, command: x, port: 8000}\n"
      "  - {engine: llamacpp, model: m, name: y, host: a, command: '{port}', port: 7400, count: 2}\n",
        "fleet.yaml:6:77: workers[1].port: port 7400 is that of broker.endpoint by default too; give one of them "
        "another\n"
        "fleet.yaml:6:77: workers[1].port: port 7401 is that of broker.events by default too; give one of them "
        "another\n" },
    { "hosts:\n  - {name: a, address: 127.0.0.1, runs: [broker, core]}\n  - {name: b, address: 127.0.0.2}\nworkers:\n"
      "  - {engine: llamacpp, model: m, host: b, command: x, port: 8000}\n",
        "fleet.yaml:5:61: workers[0].port: port 8000 is that of frontend.port (--port) by default too; give one of "
        "them "
        "another\n" },
    { "hosts:\n  - {name: a, address: 10.0.0.1, runs: [broker, core]}\n  - {name: b, address: 10.0.0.2}\nworkers:\n"
      "  - {engine: llamacpp, model: m, name: x, host: b, url: 'http://127.0.0.1:8000'}\n"
      "  - {engine: llamacpp, model: m, name: y, host: b, url: 'http://10.0.0.1:8000/v1'}\n",
        "fleet.yaml:6:57: workers[1].url: port 8000 is that of frontend.port (--port) by default too; give one of them "
        "another\n" },
    { "frontend: {port: 80}\nworkers:\n  - {engine: llamacpp, name: x, model: m, url: 'http://localhost'}\n"
      "  - {engine: llamacpp, name: y, model: m, url: 'http://localhost/a'}\n"
      "  - {engine: llamacpp, name: z, model: m, url: 'http://localhost'}\n"
      "  - {engine: llamacpp, name: w, model: m, url: 'https://localhost'}\n",
        "fleet.yaml:3:48: workers[0].url: port 80 is that of frontend.port (--port) in line 1 too; give one of them "
        "another\n"
        "fleet.yaml:4:48: workers[1].url: port 80 is that of frontend.port (--port) in line 1 too; give one of them "
        "another\n"
        "fleet.yaml:5:48: workers[2].url: the engine at 'http://localhost' is that of workers[0]; an engine has one "
        "worker, "
        "and other names of its model are its 'aliases'\n"
        "fleet.yaml:5:48: workers[2].url: port 80 is that of frontend.port (--port) in line 1 too; give one of them "
        "another\n" },
    { "frontend:\n  host: 0.0.0.0\n", "fleet.yaml:2:9: frontend.host: '0.0.0.0' can be reached from other machines and "
                                      "nobody is asked for a key; set "
                                      "frontend.allow_public to allow it\n" },
    { "broker:\n  events: tcp://*:7401\n",
        "fleet.yaml:2:11: broker.events: 'tcp://*:7401' can be reached from other machines, which needs keys: name "
        "this "
        "machine under 'hosts', and make its key with `stator key new`; or use tcp://127.0.0.1\n" },
    { "hosts: [{name: a, address: 10.0.0.1, runs: [broker, cor]}]\n",
        "fleet.yaml:1:44: hosts[0].runs: 'cor' is neither 'broker' nor 'core'; did you mean 'core'?\n"
        "fleet.yaml:1:44: hosts: none of them 'runs' core; exactly one must\n" },
    { "hosts:\n  - {name: a, address: 10.0.0.1, runs: [broker, core]}\n  - {name: a, address: 10.0.0.1}\n",
        "fleet.yaml:3:12: hosts[0] and hosts[1] are both called 'a'\nfleet.yaml:3:12: hosts[1]: 'a' runs nothing\n"
        "fleet.yaml:3:24: hosts[0] and hosts[1] are both at 10.0.0.1\n" },
    { "hosts: [{name: a, address: gpu.lan, runs: [broker, core]}]\n",
        "fleet.yaml:1:28: hosts[0].address: 'gpu.lan' is no IP address that the other hosts reach it at; "
        "write the number, not a name\n" },
    { "hosts: [{name: alpha, address: 10.0.0.1, runs: [broker, core]}]\nworkers:\n  - {engine: mock, model: m}\n"
      "  - {engine: mock, model: m, name: two, host: alhpa}\n",
        "fleet.yaml:3:14: workers[0] has no 'host': the fleet is spread over hosts, so say on which it runs\n"
        "fleet.yaml:4:47: workers[1].host: 'alhpa' is not among the hosts; did you mean 'alpha'?\n" },
    { "hosts: [{name: a, address: 10.0.0.1, runs: [broker, core]}]\nbroker: {endpoint: 'tcp://10.0.0.2:7400'}\n",
        "fleet.yaml:2:20: broker.endpoint: 'tcp://10.0.0.2:7400' is not at the address of host 'a', which runs it\n" },
    { "cluster: {host: a}\n",
        "fleet.yaml:1:17: cluster.host (--host): the fleet names no hosts; the address that harnesses "
        "connect to is frontend.host (--frontend-host)\n" },
    { "router:\n  policy_endpoint: tcp://gpu-1:7450\n",
        "fleet.yaml:2:20: router.policy_endpoint: 'tcp://gpu-1:7450' is on another machine, and a policy proves itself "
        "with no key; run it beside the router, at tcp://127.0.0.1 or ipc://\n" },
    { "workers:\n  - {engine: llamacpp, model: a, command: 'x {prot}'}\n",
        "fleet.yaml:2:43: workers[0].command: there is nothing to fill in for '{prot}'; did you mean '{port}'?\n" },
    { "workers:\n  - {engine: llamacpp, model: a, count: 2, command: 'x --port 1'}\n",
        "fleet.yaml:2:53: workers[0].command: 2 engines would take one port; write {port} in place of its number\n" },
    { "workers:\n  - {engine: llamacpp, model: a, command: [x, '{}', '{rank}']}\n",
        "fleet.yaml:2:53: workers[0].command: there is nothing to fill in for '{rank}'; known: {port} {instance} "
        "{model}\n" },
    { "security: {roles: [{name: a b, speaks: ['host/{nme}']}]}\n",
        "fleet.yaml:1:27: security.roles[0].name: 'a b' has blanks, commas or quotes, or nothing\n"
        "fleet.yaml:1:41: security.roles[0].speaks: there is nothing to fill in for '{nme}'; did you mean "
        "'{name}'?\n" },
    { "security: {roles: [{name: a, calls: ['*', '*.pnig', ping]}, {name: a}]}\n",
        "fleet.yaml:1:43: security.roles[0].calls: no schema has the method 'pnig'; did you mean 'ping'?\n"
        "fleet.yaml:1:53: security.roles[0].calls: 'ping' is no method: write SERVICE.METHOD, '*' for anything\n"
        "fleet.yaml:1:68: security.roles[0] and security.roles[1] are both called 'a'\n" },
    { "broker: {lease: 1s}\n", "fleet.yaml:1:17: broker.lease is shorter than two heartbeats\n" },
    { "host: {restart_delay: 1min}\n", "fleet.yaml:1:23: host.restart_delay is longer than host.restart_delay_max\n" },
};

static void
test_what_no_single_key_can_see_is_found (void **state)
{
    for (size_t i = 0; i < sizeof s_bad / sizeof *s_bad; i++) {
        reading_t reading;
        s_read (&reading, s_bad [i].file, NULL);
        assert_string_equal (buffer_string (&reading.said), s_bad [i].said);
        s_end (&reading);
    }
}

//  What no message could carry: workers would end with an error instead, again and again.
static void
test_names_that_workers_cannot_say_are_refused (void **state)
{
    reading_t reading;
    buffer_t file = { 0 };
    buffer_append_string (&file, "models:\n  - {name: m, aliases: [");
    for (int i = 0; i < 64; i++)
        buffer_print (&file, "a%d, ", i);
    buffer_print (&file, "%0257d]}\n", 0);
    s_read (&reading, buffer_string (&file), NULL);
    assert_string_equal (buffer_string (&reading.said),
        "fleet.yaml:2:24: models[0].aliases: '0000000000000000000000000000000000000000...' is longer than 256 bytes; "
        "shorten it\n"
        "fleet.yaml:2:24: models[0].aliases: 65 are more than the 64 that workers can say; leave some out\n");
    s_end (&reading);
    buffer_fini (&file);
}

//  What `stator up` hands to the processes it starts says the same as what it was given.
static void
test_a_printed_fleet_reads_back_the_same (void **state)
{
    reading_t first, second;
    buffer_t text = { 0 }, again = { 0 };
    s_read (&first,
        "workers:\n  - {engine: llamacpp, model: m, count: 3, command: [a b, \"c{port}\\\"\"], environment: "
        "['A=${B}']}\n"
        "  - {engine: mock, model: m, mock: {speed: 0}}\nbroker: {ring: 1234567}\n",
        NULL);
    option_print_config ((option_target_t){ manifest_table, first.fleet }, &text);
    s_read (&second, buffer_string (&text), NULL);
    assert_string_equal (buffer_string (&second.said), "");
    option_print_config ((option_target_t){ manifest_table, second.fleet }, &again);
    assert_string_equal (buffer_string (&text), buffer_string (&again));
    assert_string_equal (manifest_worker (second.fleet, 0)->environment.items [0], "A=${B}");
    assert_int_equal (manifest_worker (second.fleet, 1)->mock.speed, 0);
    buffer_fini (&text);
    buffer_fini (&again);
    s_end (&first);
    s_end (&second);
}

static void
test_the_table_is_sound (void **state)
{
    error_t error = { 0 };
    if (!option_table_is_sound (manifest_table, &error))
        fail_msg ("%s", error.text);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_six_lines_are_a_fleet),
        cmocka_unit_test (test_the_built_in_fleet_is_good),
        cmocka_unit_test (test_models_may_be_left_to_the_workers),
        cmocka_unit_test (test_an_alias_leads_to_the_model),
        cmocka_unit_test (test_instances_have_names_and_urls),
        cmocka_unit_test (test_flags_win_over_the_file),
        cmocka_unit_test (test_what_no_single_key_can_see_is_found),
        cmocka_unit_test (test_names_that_workers_cannot_say_are_refused),
        cmocka_unit_test (test_a_printed_fleet_reads_back_the_same),
        cmocka_unit_test (test_the_table_is_sound),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
