using System;
using System.Diagnostics;
using System.Globalization;
using System.IO;

namespace TensorDicts
{
    /// <summary>
    /// A line on the terminal that fills up: <c>new MapOptions { Progress = new ProgressBar().Show }</c>. It
    /// writes to the standard error, or to what it is given.
    /// </summary>
    public sealed class ProgressBar
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
        public string Text(long done, long total) => Line(done, total, clock.Elapsed.TotalSeconds, Width);

        // " 40%|####      | 4/10 [00:02<00:03, 2.0/s]"
        internal static string Line(long done, long total, double seconds, int width)
        {
            double part = total == 0 ? 1 : Math.Min((double)done / total, 1);
            double rate = seconds > 0 ? done / seconds : double.NaN;
            double left = Math.Max(total - done, 0) / rate;
            string bar = new string('#', (int)(part * width)).PadRight(width);
            string speed = double.IsNaN(rate) ? "?" : rate.ToString("0.0", CultureInfo.InvariantCulture);
            return FormattableString.Invariant(
                $"{(int)(part * 100),3}%|{bar}| {done}/{total} [{ClockText(seconds)}<{ClockText(left)}, {speed}/s]");
        }

        // "02:05", "1:02:05"; "?" for what cannot be known.
        private static string ClockText(double seconds)
        {
            if (!(seconds >= 0 && seconds <= 3.6e8))
            {
                return "?";
            }
            long whole = (long)seconds;
            return whole < 3600
                ? FormattableString.Invariant($"{whole / 60:00}:{whole % 60:00}")
                : FormattableString.Invariant($"{whole / 3600}:{whole / 60 % 60:00}:{whole % 60:00}");
        }
    }
}
