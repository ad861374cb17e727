//  What is said of keys that came, went or changed.

#include "cli/certificate.h"
#include "cli/manifest_fixture.h"
#include "cli/trust.h"

static const char s_file [] = "hosts:\n"
                              "  - { name: head, address: 10.0.0.1, runs: [broker, core] }\n"
                              "  - { name: gpu-1, address: 10.0.0.2 }\n"
                              "models: [ { name: m } ]\n"
                              "workers: [ { engine: mock, host: gpu-1 } ]\n";

//  Three words a certificate, sorted by name: name, public key, role.
static void
s_fill (array_t *list, const char *text)
{
    array_init (list, sizeof (certificate_t));
    for (span_t rest = span_from_string (text); rest.size;) {
        certificate_t *one = array_add (list);
        struct {
            char *out;
            size_t size;
        } words [] = { { one->name, sizeof one->name }, { one->public_key, sizeof one->public_key },
            { one->roles, sizeof one->roles } };
        for (size_t i = 0; i < 3; i++) {
            size_t size = span_find_byte (rest, ' ');
            assert_true (span_copy_string (span_slice (rest, 0, size), words [i].out, words [i].size));
            rest = span_slice (rest, size + 1, rest.size);
        }
    }
}

static const struct {
    const char *before;    //  Certificates of the last time
    const char *after;     //  And of now
    const char *news;      //  What is said
} s_cases [] = {
    { "", "", "" },
    { "ada 1 operator", "ada 1 operator", "" },
    { "", "ada 1 operator bob 2 host", "ada added, bob added" },
    { "ada 1 operator bob 2 host", "bob 2 host", "ada revoked" },
    { "bob 2 host", "ada 1 operator carl 3 host", "ada added, bob revoked, carl added" },
    { "ada 1 operator bob 2 host", "ada 9 operator bob 2 core", "ada has another key, bob has other roles" },
    { "gpu-1 1 worker head 2 core", "gpu-1 8 worker head 9 core",
        "gpu-1 has another key, which takes a new start, head has another key, which takes a new start" },
};

static void
test_news_of_keys_name_who_came_went_and_changed (void **state)
{
    manifest_t *fleet = fixture_manifest (s_file);
    fleet->cluster.host = "gpu-1";
    for (size_t i = 0; i < sizeof s_cases / sizeof *s_cases; i++) {
        array_t before, after;
        buffer_t news = { 0 };
        s_fill (&before, s_cases [i].before);
        s_fill (&after, s_cases [i].after);
        trust_compare (fleet, &before, &after, &news);
        assert_string_equal (buffer_string (&news), s_cases [i].news);
        buffer_fini (&news);
        array_fini (&before);
        array_fini (&after);
    }
    manifest_destroy (&fleet);
}

int
main (void)
{
    const struct CMUnitTest tests [] = {
        cmocka_unit_test (test_news_of_keys_name_who_came_went_and_changed),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
