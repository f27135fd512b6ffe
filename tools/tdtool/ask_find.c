/* Options and help of the commands that find and draw data. */
#include "asked.h"

struct grep_values grep_asked;

static const tool_option grep_options[] = {
    {"rows", 'n', "N", NULL, "stop after N rows; 0, the default, finds all", TAKES_COUNT,
     &grep_asked.rows},
    {"count", 0, NULL, NULL, "print only how many rows there are", TAKES_NOTHING,
     &grep_asked.count},
    SAVING_OPTIONS,
};

const tool_command command_grep = {
    .name = "grep",
    .arguments = "CONDITION PATH [OUT] [OPTION...]",
    .summary = "Finds the rows that meet a condition, and lists or saves them",
    .text =
        "A row is one element of the batch; PATH may be a data set. CONDITION compares keys and "
        "numbers: < <= > >= == !=, "
        "joined by and, or, not and brackets. abs(KEY) and isnan(KEY) work on each element. Where "
        "a row has several elements, any(...) or all(...) makes one of them. A key with blanks or "
        "signs stands in double quotes. true is 1 and false is 0; numbers are compared with "
        "float32 tensors as float32. tdtool prints the position of each row, or saves the rows as "
        "OUT, which has one batch dimension. It reads some rows at a time. The exit status is 1 "
        "if no row is found.",
    .example =
        "tdtool grep 'next/reward > 1' rollout\n"
        "tdtool grep 'any(abs(action) >= 0.9) and not next/done' rollout -n 5\n"
        "tdtool grep 'isnan(next/reward)' rollout broken --force",
    TAKES(grep_options, 2, 3),
};

struct plot_values plot_asked;

static const tool_option plot_options[] = {
    {"hist", 0, NULL, NULL, "draw how often values occur, not their course", TAKES_NOTHING,
     &plot_asked.hist},
    {"rows", 'n', "N", NULL, "the number of rows; 0, the default, draws all", TAKES_COUNT,
     &plot_asked.rows},
    {"from", 'f', "ROW", NULL, "the first row, counted in row-major order from 0", TAKES_COUNT,
     &plot_asked.from},
    {"element", 'e', "N", NULL, "which element of a row to draw; 0 by default", TAKES_COUNT,
     &plot_asked.element},
    {"height", 0, "LINES", NULL, "how many lines the drawing has; 12 by default", TAKES_COUNT,
     &plot_asked.height},
    {"width", 0, "COLUMNS", NULL, "how wide it is; by default as the terminal", TAKES_COUNT,
     &plot_asked.width},
};

const tool_command command_plot = {
    .name = "plot",
    .arguments = "PATH KEY [OPTION...]",
    .summary = "Draws the values of a tensor in the terminal",
    .text =
        "Row by row from left to right. Where several rows share a column, the drawing spans from "
        "the least to the greatest of them, so no peak is lost. Values that are not finite are "
        "left out and counted below.",
    .example =
        "tdtool plot rollout next/reward\n"
        "tdtool plot rollout action --element 1 --from 1000 --rows 250\n"
        "tdtool plot rollout next/reward --hist",
    TAKES(plot_options, 2, 2),
};

struct watch_values watch_asked = {.interval = 1};

static const tool_option watch_options[] = {
    {"interval", 'i', "SECONDS", NULL, "how often to look; 1 by default", TAKES_REAL,
     &watch_asked.interval},
    {"count", 0, "N", NULL, "look N times, then end; 0, the default, goes on", TAKES_COUNT,
     &watch_asked.count},
    {"once", '1', NULL, NULL, "look once", TAKES_NOTHING, &watch_asked.once},
};

const tool_command command_watch = {
    .name = "watch",
    .arguments = "FOLDER [KEY...] [OPTION...]",
    .summary = "Follows a recording that grows: rows, rows per second, last values",
    .text =
        "Each line has the time since the start, the rows that are published along the first "
        "dimension, how many came per second since the line before, and the last row of each KEY, "
        "or of the first tensors. tdtool reads the folder again only when its meta.json has "
        "changed, and never writes. Ctrl-C ends it.",
    .example = "tdtool watch rollout\ntdtool watch rollout next/reward --interval 5",
    TAKES(watch_options, 1, -1),
};

struct report_values report_asked;

static const tool_option report_options[] = {
    {"title", 0, "TEXT", NULL, "the title of the page; PATH by default", TAKES_TEXT,
     &report_asked.title},
};

const tool_command command_report = {
    .name = "report",
    .arguments = "PATH [KEY...] [OPTION...]",
    .summary = "Writes a page of HTML about a dictionary to standard output",
    .text =
        "The page needs no network and no other file: structure, sizes, episodes, and for each "
        "tensor its course, histogram, missing values and outliers. Tensors that look like images "
        "or depth maps are shown as pictures. tdtool reads the values piece by piece and draws "
        "the least and the greatest of neighbours, so a recording may be larger than the memory. "
        "Episodes are the second batch dimension, the elements of a lazy stack, or what an entry "
        "episode, done, terminated or truncated says.",
    .example =
        "tdtool report rollout > rollout.html\n"
        "tdtool report rollout next/reward action > part.html",
    TAKES(report_options, 1, -1),
};
