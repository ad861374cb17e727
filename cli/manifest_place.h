//  manifest_place - where in a fleet file what its checks complain of stands

#ifndef CLI_MANIFEST_PLACE_H
#define CLI_MANIFEST_PLACE_H

#include "runtime/config.h"

//  Of a key of an element of a list: its value, else the element.  {0} where the file has neither, as for flags, or
//  root is NULL.
place_t manifest_place (const config_node_t *root, const char *list, size_t position, const char *key);

//  Of a key of a section; {0} where the file does not say it.
place_t manifest_section_place (const config_node_t *root, const char *section, const char *key);

#endif
