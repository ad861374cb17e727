#include "base/status.h"

static const char *const s_names [STATUS_COUNT] = {
    [STATUS_OK] = "ok",
    [STATUS_INVALID] = "invalid",
    [STATUS_NOT_FOUND] = "not_found",
    [STATUS_EXISTS] = "exists",
    [STATUS_AGAIN] = "again",
    [STATUS_LIMIT] = "limit",
    [STATUS_UNREACHABLE] = "unreachable",
    [STATUS_DEADLINE] = "deadline",
    [STATUS_CANCELLED] = "cancelled",
    [STATUS_REFUSED] = "refused",
    [STATUS_UNSUPPORTED] = "unsupported",
    [STATUS_CORRUPT] = "corrupt",
    [STATUS_IO] = "io",
    [STATUS_GAP] = "gap",
    [STATUS_STALE] = "stale",
    [STATUS_INTERNAL] = "internal",
};

const char *
status_name (status_t status)
{
    return (unsigned)status < STATUS_COUNT ? s_names [status] : "unknown";
}
