// See children.h.
#include "children.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

// The parent of a process, from "PID (NAME) STATE PARENT ..."; a name may hold
// anything. 0: there is no such process any more.
static pid_t parent_of(pid_t pid)
{
    char path[40], stat[512];

    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    size_t len = fread(stat, 1, sizeof(stat) - 1, file);
    fclose(file);
    stat[len] = '\0';
    const char *name_end = strrchr(stat, ')');
    size_t before_parent = strlen(") S ");
    return name_end && strlen(name_end) > before_parent
               ? (pid_t)strtol(name_end + before_parent, NULL, 10)
               : 0;
}

// A list of children (/proc/self/task/*/children) is an option of the kernel that some
// are built without; all processes can be asked for their parent everywhere.
void cli_children_kill(void)
{
    DIR *processes = opendir("/proc");

    if (!processes)
        return;
    for (const struct dirent *entry; (entry = readdir(processes));) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10); // 0: no process
        if (pid <= 1 || parent_of(pid) != getpid())
            continue;
        kill(-pid, SIGKILL);
        kill(pid, SIGKILL); // one that has not yet made its group
    }
    closedir(processes);
}
