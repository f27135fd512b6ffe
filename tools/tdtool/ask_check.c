/* Options and help of the commands that check data. */
#include "asked.h"

struct verify_values verify_asked;

static const tool_option verify_options[] = {
    {"add", 0, NULL, NULL, "add checksums of the present content to the folder", TAKES_NOTHING,
     &verify_asked.add},
};

const tool_command command_verify = {
    .name = "verify",
    .arguments = "PATH [OPTION...]",
    .summary = "Names each damaged file and what is wrong with it",
    .text =
        "tdtool reads a folder with checksums whole and compares them, and so it does an archive, "
        "whose entries always have some. Otherwise it checks structure and sizes. The exit status "
        "is 1 if it finds damage.\n\n"
        "Of a data set (Minari, LeRobot, robomimic, D4RL, TorchRL, ROS) it reads every episode, "
        "and "
        "looks for what its library would fail on or read wrongly: lengths, gaps, order, "
        "timestamps, values outside their space, statistics that are not those of the data. Notes "
        "tell what is unusual, and do not count.",
    .example =
        "tdtool verify rollout\ntdtool verify rollout --add\ntdtool verify rollout.tdz\ntdtool "
        "verify demos.hdf5",
    TAKES(verify_options, 1, 1),
};

struct repair_values repair_asked;

static const tool_option repair_options[] = {
    {"dry-run", 'n', NULL, NULL, "print what would be done, without changes", TAKES_NOTHING,
     &repair_asked.dry},
    {"force", 0, NULL, NULL,
     "repair even if no row remains, or an episode is lost; replace an existing OUT", TAKES_NOTHING,
     &repair_asked.force},
    {"durable", 0, NULL, NULL, "of a data set: wait until all data is on the disk", TAKES_NOTHING,
     &saving.durable},
};

const tool_command command_repair = {
    .name = "repair",
    .arguments = "PATH [OUT] [OPTION...]",
    .summary = "Brings back what an interrupted writer left, also in data sets",
    .text =
        "Of a folder, tdtool publishes the whole rows that an interrupted writer left, drops rows "
        "that some files lack, and frees the space behind the last row. It does not change the "
        "other rows. With --dry-run the exit status is 1 if there is something to repair.\n\n"
        "Of a data set (Minari, LeRobot, robomimic), in which verify finds problems, it writes "
        "every episode that can be read as a new set, OUT, or without it in the place of PATH; "
        "totals, order, statistics and tables of tasks are made anew. Parquet without a footer "
        "gives the row groups that are whole, MCAP without an end the records that are. It says "
        "what was wrong, what it did, and what is lost: then the exit status is 1, and PATH is not "
        "replaced without --force.",
    .example =
        "tdtool repair rollout --dry-run\ntdtool repair rollout\ntdtool repair arm arm-whole",
    TAKES(repair_options, 1, 2),
};
