#include "simulator/faults.h"

#include "base/memory.h"
#include "simulator/disk.h"
#include "simulator/network.h"

//  Circuits fall up to twelve seconds after they were cut, leases run five, restarts take some: so long something that was
//  repaired may still be felt.
#define AFTERMATH_NS (20 * REALM_SECOND)

//  No more than this is broken at once; what strikes beyond does not.
enum { WOUNDS_MAX = 64 };

//  A crash of a machine that waits for something unsafe looks this often, and gives up after so long.
#define LURK_STEP_NS (50 * REALM_MS)
#define LURK_NS (60 * REALM_SECOND)

enum { BURST_LOSS_PPM = 200000, BURST_REORDER_PPM = 100000, BURST_QUEUE = 32 };

//  Something broken, until it is repaired.
typedef struct {
    faults_t *faults;            //  Whose
    bool open;                   //  Not repaired yet
    fault_feeling_t feeling;     //  As it was said
    bool felt;                   //  Harnesses may notice
    fault_kind_t kind;           //  What
    realm_process_t *process;    //  Whom; NULL: a machine or everybody
    realm_machine_t *machine;    //  Whom; NULL: a process or everybody
    realm_event_t repair;        //  When
} wound_t;

//  One kind of fault.
typedef struct {
    faults_t *faults;      //  Whose
    realm_event_t next;    //  When it strikes
    random_t random;       //  When, whom, for how long
    uint64_t count;        //  Struck so far
    uint64_t lurks_ns;     //  Waits until then for something unsafe; 0: it does not
} source_t;

struct faults {
    realm_t *realm;                    //  What is broken
    faults_options_t options;          //  As given
    source_t sources [FAULT_COUNT];    //  By kind
    wound_t wounds [WOUNDS_MAX];       //  What is broken now
    uint32_t felt_count;               //  Of these, that harnesses may notice
    uint32_t group_count;              //  Sides of partitions so far
    uint64_t repaired_ns;              //  When such a one was last repaired; 0: never
};

typedef struct {
    const char *name;    //  For reports
    uint32_t usual;      //  An hour
    bool of_process;     //  Strikes one process; else a machine
    bool of_all;         //  Strikes neither
    uint64_t mean_ns;    //  Until it is repaired
    void (*strike) (faults_t *self, wound_t *wound, random_t *random);
    void (*repair) (faults_t *self, wound_t *wound);
} fault_class_t;

//  ---- What each does ------------------------------------------------------------------------------------------------

static void
s_strike_process (faults_t *self, wound_t *wound, random_t *random)
{
    realm_process_signal (wound->process, PROCESS_SIGNAL_KILL);
}

static void
s_strike_drain (faults_t *self, wound_t *wound, random_t *random)
{
    realm_process_signal (wound->process, PROCESS_SIGNAL_TERM);
}

static void
s_repair_nothing (faults_t *self, wound_t *wound)
{
}

static void
s_strike_machine (faults_t *self, wound_t *wound, random_t *random)
{
    realm_machine_crash (wound->machine);
}

static void
s_repair_machine (faults_t *self, wound_t *wound)
{
    realm_machine_boot (wound->machine);
}

static void
s_set_group (wound_t *wound, uint32_t group)
{
    if (wound->process)
        realm_process_set_group (wound->process, group);
    else
        realm_machine_set_group (wound->machine, group);
}

static void
s_strike_partition (faults_t *self, wound_t *wound, random_t *random)
{
    s_set_group (wound, ++self->group_count);
}

static void
s_repair_partition (faults_t *self, wound_t *wound)
{
    s_set_group (wound, 0);
}

static void
s_strike_freeze (faults_t *self, wound_t *wound, random_t *random)
{
    realm_process_signal (wound->process, PROCESS_SIGNAL_STOP);
}

static void
s_repair_freeze (faults_t *self, wound_t *wound)
{
    realm_process_signal (wound->process, PROCESS_SIGNAL_CONT);
}

static void
s_strike_clock (faults_t *self, wound_t *wound, random_t *random)
{
    int64_t by_ns = (int64_t)random_exponential (random, 600 * REALM_SECOND);
    realm_machine_jump_clock (wound->machine, random_chance (random, 500000) ? by_ns : -by_ns);
}

static void
s_strike_disk (faults_t *self, wound_t *wound, random_t *random)
{
    disk_t *disk = realm_machine_disk (wound->machine);
    disk_set_limit (disk, disk_used (disk));
}

static void
s_repair_disk (faults_t *self, wound_t *wound)
{
    disk_set_limit (realm_machine_disk (wound->machine), UINT64_MAX);
}

static void
s_strike_publishing (faults_t *self, wound_t *wound, random_t *random)
{
    network_set_publishing (realm_network (self->realm), (uint32_t)random_below (random, BURST_LOSS_PPM),
        (uint32_t)random_below (random, BURST_REORDER_PPM));
    network_set_queue (realm_network (self->realm), 1 + (uint32_t)random_below (random, BURST_QUEUE));
}

static void
s_repair_publishing (faults_t *self, wound_t *wound)
{
    network_set_publishing (realm_network (self->realm), 0, 0);
    network_set_queue (realm_network (self->realm), UINT32_MAX);
}

static void
s_strike_key (faults_t *self, wound_t *wound, random_t *random)
{
    self->options.set_key (self->options.keys, self->realm, wound->machine, true);
}

static void
s_repair_key (faults_t *self, wound_t *wound)
{
    self->options.set_key (self->options.keys, self->realm, wound->machine, false);
}

//  Whoever was started first hears from the broker that somebody newer has its address, and ends.
static void
s_strike_twin (faults_t *self, wound_t *wound, random_t *random)
{
    realm_process_t *first = wound->process;
    realm_start_t start = { .argv = realm_process_argv (first), .folder = realm_process_folder (first) };
    realm_process_start (realm_process_machine (first), &start, NULL);
}

//  clang-format off
static const fault_class_t s_classes [FAULT_COUNT] = {
    [FAULT_PROCESS_CRASH] = { "process_crash", 20, true, false, 2 * REALM_SECOND, s_strike_process, s_repair_nothing },
    [FAULT_DRAIN] = { "drain", 10, true, false, 2 * REALM_SECOND, s_strike_drain, s_repair_nothing },
    [FAULT_MACHINE_CRASH] = { "machine_crash", 2, false, false, 20 * REALM_SECOND, s_strike_machine, s_repair_machine },
    [FAULT_PARTITION] = { "partition", 10, true, false, 8 * REALM_SECOND, s_strike_partition, s_repair_partition },
    [FAULT_FREEZE] = { "freeze", 10, true, false, 3 * REALM_SECOND, s_strike_freeze, s_repair_freeze },
    [FAULT_CLOCK_JUMP] = { "clock_jump", 4, false, false, REALM_SECOND, s_strike_clock, s_repair_nothing },
    [FAULT_FULL_DISK] = { "full_disk", 2, false, false, 20 * REALM_SECOND, s_strike_disk, s_repair_disk },
    [FAULT_PUBLISH_LOSS] = { "publish_loss", 20, false, true, 10 * REALM_SECOND, s_strike_publishing,
        s_repair_publishing },
    [FAULT_TWIN] = { "twin", 5, true, false, 2 * REALM_SECOND, s_strike_twin, s_repair_nothing },
    [FAULT_REVOKED_KEY] = { "revoked_key", 6, false, false, 15 * REALM_SECOND, s_strike_key, s_repair_key },
};
//  clang-format on

const char *
fault_name (fault_kind_t kind)
{
    return s_classes [kind].name;
}

void
faults_set_usual (faults_options_t *options)
{
    for (int kind = 0; kind < FAULT_COUNT; kind++)
        options->per_hour [kind] = s_classes [kind].usual;
}

//  ---- Whom ----------------------------------------------------------------------------------------------------------

static realm_process_t *
s_draw_process (faults_t *self, random_t *random)
{
    size_t count = 0;
    realm_process_t *chosen = NULL, *process;
    for (size_t i = 0; (process = realm_process_at (self->realm, i)); i++)
        if (realm_process_machine (process) != self->options.spared && random_below (random, ++count) == 0)
            chosen = process;
    return chosen;
}

//  unsafe: only where a crash can take from a store what has been committed.
static realm_machine_t *
s_draw_machine (faults_t *self, random_t *random, bool unsafe)
{
    size_t count = 0;
    realm_machine_t *chosen = NULL, *machine;
    for (size_t i = 0; (machine = realm_machine_at (self->realm, i)); i++)
        if (machine != self->options.spared && realm_machine_is_up (machine) &&
            (!unsafe || disk_is_unsafe (realm_machine_disk (machine))) && random_below (random, ++count) == 0)
            chosen = machine;
    return chosen;
}

//  What is broken already is not broken again in the same way.
static bool
s_is_struck (const faults_t *self, fault_kind_t kind, const realm_process_t *process, const realm_machine_t *machine)
{
    for (int i = 0; i < WOUNDS_MAX; i++) {
        const wound_t *wound = &self->wounds [i];
        if (wound->open && wound->kind == kind && wound->process == process && wound->machine == machine)
            return true;
    }
    return false;
}

//  ---- Striking and repairing ----------------------------------------------------------------------------------------

static void
s_heal (wound_t *wound)
{
    faults_t *self = wound->faults;
    realm_unschedule (self->realm, &wound->repair);
    s_classes [wound->kind].repair (self, wound);
    wound->open = false;
    if (!wound->felt)
        return;
    self->felt_count--;
    self->repaired_ns = realm_now (self->realm);
}

static void
s_on_repair (realm_event_t *event)
{
    s_heal (LIST_ENTRY (event, wound_t, repair));
}

static void
s_let_feel (faults_t *self, wound_t *wound)
{
    self->felt_count += !wound->felt;
    wound->felt = true;
}

static bool
s_is_felt_at (const faults_t *self, uint64_t at_ns)
{
    return self->felt_count || (self->repaired_ns && self->repaired_ns + AFTERMATH_NS > at_ns);
}

//  What keeps others from coming back is felt from the moment on at which there are such others, until it is repaired.
static void
s_feel (faults_t *self, wound_t *wound)
{
    if (wound->feeling == FEELS_ALL ||
        (wound->feeling == FEELS_RECOVERY && s_is_felt_at (self, realm_now (self->realm))))
        s_let_feel (self, wound);
    for (int i = 0; wound->feeling == FEELS_ALL && i < WOUNDS_MAX; i++)
        if (self->wounds [i].open && self->wounds [i].feeling == FEELS_RECOVERY)
            s_let_feel (self, &self->wounds [i]);
}

static wound_t *
s_free_wound (faults_t *self)
{
    for (int i = 0; i < WOUNDS_MAX; i++)
        if (!self->wounds [i].open)
            return &self->wounds [i];
    return NULL;
}

//  Half of the partitions cut off a whole machine, where there is another one beside that of the harnesses.
static bool
s_strikes_process (const faults_t *self, source_t *source, fault_kind_t kind)
{
    bool of_machine =
        kind == FAULT_PARTITION && realm_machine_at (self->realm, 2) && random_chance (&source->random, 500000);
    return s_classes [kind].of_process && !of_machine;
}

static void
s_strike (faults_t *self, source_t *source, fault_kind_t kind)
{
    const fault_class_t *class = &s_classes [kind];
    wound_t *wound = s_free_wound (self);
    bool of_process = s_strikes_process (self, source, kind);
    realm_process_t *process = of_process ? s_draw_process (self, &source->random) : NULL;
    realm_machine_t *machine =
        !of_process && !class->of_all ? s_draw_machine (self, &source->random, source->lurks_ns != 0) : NULL;
    bool nobody = !class->of_all && !process && !machine;
    if (!wound || nobody || s_is_struck (self, kind, process, machine))
        return;
    source->count++;
    *wound = (wound_t){ .faults = self,
        .open = true,
        .kind = kind,
        .process = process,
        .machine = machine,
        .repair = { .fire = s_on_repair } };
    if (self->options.on_fault)
        wound->feeling = self->options.on_fault (self->options.arg, kind, process, machine);
    s_feel (self, wound);
    class->strike (self, wound, &source->random);
    uint64_t lasts_ns = 1 + random_exponential (&source->random, class->mean_ns);
    realm_schedule (self->realm, &wound->repair, realm_now (self->realm) + lasts_ns);
}

static void
s_schedule_next (faults_t *self, source_t *source, fault_kind_t kind)
{
    uint64_t mean_ns = REALM_HOUR / self->options.per_hour [kind];
    uint64_t wait_ns = 1 + random_exponential (&source->random, mean_ns);
    realm_schedule (self->realm, &source->next, realm_now (self->realm) + wait_ns);
}

static bool
s_any_unsafe (const faults_t *self)
{
    realm_machine_t *machine;
    for (size_t i = 0; (machine = realm_machine_at (self->realm, i)); i++)
        if (machine != self->options.spared && realm_machine_is_up (machine) &&
            disk_is_unsafe (realm_machine_disk (machine)))
            return true;
    return false;
}

//  Half of the crashes of machines wait for the moment in which they hurt, if it comes soon enough.
static bool
s_lies_in_wait (faults_t *self, source_t *source, fault_kind_t kind)
{
    uint64_t now_ns = realm_now (self->realm);
    if (kind != FAULT_MACHINE_CRASH)
        return false;
    if (!source->lurks_ns && random_chance (&source->random, 500000))
        source->lurks_ns = now_ns + LURK_NS;
    if (!source->lurks_ns || s_any_unsafe (self))
        return false;
    if (now_ns < source->lurks_ns) {
        realm_schedule (self->realm, &source->next, now_ns + LURK_STEP_NS);
        return true;
    }
    source->lurks_ns = 0;
    return false;
}

static void
s_on_next (realm_event_t *event)
{
    source_t *source = LIST_ENTRY (event, source_t, next);
    faults_t *self = source->faults;
    fault_kind_t kind = (fault_kind_t)(source - self->sources);
    if (s_lies_in_wait (self, source, kind))
        return;
    s_strike (self, source, kind);
    source->lurks_ns = 0;
    s_schedule_next (self, source, kind);
}

//  ---- Life ----------------------------------------------------------------------------------------------------------

faults_t *
faults_new (realm_t *realm, const faults_options_t *options)
{
    faults_t *self = memory_new (sizeof *self);
    self->realm = realm;
    self->options = *options;
    for (int kind = 0; kind < FAULT_COUNT; kind++) {
        source_t *source = &self->sources [kind];
        source->faults = self;
        source->next.fire = s_on_next;
        realm_fork_random (realm, &source->random, "fault", (uint64_t)kind);
        if (options->per_hour [kind] && (kind != FAULT_REVOKED_KEY || options->set_key))
            s_schedule_next (self, source, (fault_kind_t)kind);
    }
    return self;
}

void
faults_destroy (faults_t **self_p)
{
    if (!*self_p)
        return;
    faults_stop (*self_p);
    memory_free (*self_p);
    *self_p = NULL;
}

void
faults_stop (faults_t *self)
{
    for (int kind = 0; kind < FAULT_COUNT; kind++)
        realm_unschedule (self->realm, &self->sources [kind].next);
    for (int i = 0; i < WOUNDS_MAX; i++)
        if (self->wounds [i].open)
            s_heal (&self->wounds [i]);
}

uint64_t
faults_count (const faults_t *self, fault_kind_t kind)
{
    return self->sources [kind].count;
}

bool
faults_since (const faults_t *self, uint64_t since_ns)
{
    return s_is_felt_at (self, since_ns);
}
