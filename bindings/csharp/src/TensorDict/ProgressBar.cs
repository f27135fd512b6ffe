using System;
using System.Diagnostics;
using System.IO;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <summary>
    /// A line on the terminal that fills up: <c>new MapOptions { Progress = new ProgressBar().Show }</c>. It
    /// writes to the standard error, or to what it is given.
    /// </summary>
    public sealed unsafe class ProgressBar
    {
        private const int Width = 40;

        private readonly Stopwatch clock = Stopwatch.StartNew();
        private readonly TextWriter writer;
        private TimeSpan shown = TimeSpan.MinValue;

        /// <summary>A bar whose time begins now.</summary>
        public ProgressBar(TextWriter? writer = null)
        {
            this.writer = writer ?? Console.Error;
        }

        /// <summary>Writes the line, ten times a second at most, and at the end in any case.</summary>
        public void Show(long done, long total)
        {
            TimeSpan now = clock.Elapsed;
            if (done < total && shown != TimeSpan.MinValue && (now - shown).TotalSeconds < 0.1)
            {
                return;
            }
            shown = now;
            writer.Write("\r" + Text(done, total) + (done < total ? "" : "\n"));
        }

        /// <summary>The line, for other places than a terminal.</summary>
        public string Text(long done, long total)
        {
            double seconds = clock.Elapsed.TotalSeconds;
            return Utf8.Read((text, room, length) =>
                Native.td_progress_text((nuint)done, (nuint)total, seconds, Width, text, room, length));
        }
    }
}
