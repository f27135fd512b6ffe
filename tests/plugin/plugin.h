/* plugin.h: what the host calls in the plugin. 0 is success; else the line that went wrong. */
#ifndef PLUGIN_H
#define PLUGIN_H

typedef int (*plugin_fn)(const char *folder);

/* Makes, reads, saves and frees dictionaries, and lets calls fail. */
int plugin_work(const char *folder);

/* Opens handles of every kind, mapped memory and a log among them, and leaves them open. */
int plugin_leave_open(const char *folder);

#endif
