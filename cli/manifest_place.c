#include "cli/manifest_place.h"

place_t
manifest_place (const config_node_t *root, const char *list, size_t position, const char *key)
{
    const config_node_t *element = config_element (config_child (root, list), position);
    const config_node_t *value = config_child (element, key);
    return value ? value->place : element ? element->place : (place_t){ 0 };
}

place_t
manifest_section_place (const config_node_t *root, const char *section, const char *key)
{
    const config_node_t *value = config_child (config_child (root, section), key);
    return value ? value->place : (place_t){ 0 };
}
