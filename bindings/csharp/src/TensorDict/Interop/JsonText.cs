using System;
using System.Globalization;
using System.Text;

namespace TensorDicts.Interop
{
    /// <summary>A text as a JSON text, and back. System.Text.Json is not there for all targets.</summary>
    internal static class JsonText
    {
        internal static string Quote(string text)
        {
            var json = new StringBuilder(text.Length + 2).Append('"');
            foreach (char c in text)
            {
                if (c == '"' || c == '\\')
                {
                    json.Append('\\').Append(c);
                }
                else if (c < ' ')
                {
                    json.Append("\\u").Append(((int)c).ToString("x4", CultureInfo.InvariantCulture));
                }
                else
                {
                    json.Append(c);
                }
            }
            return json.Append('"').ToString();
        }

        /// <summary>Reads what the library has written, which is JSON; null when it is no text.</summary>
        internal static string? Unquote(string json)
        {
            if (json.Length < 2 || json[0] != '"')
            {
                return null;
            }
            var text = new StringBuilder(json.Length);
            for (int i = 1; i < json.Length - 1; i++)
            {
                if (json[i] != '\\')
                {
                    text.Append(json[i]);
                    continue;
                }
                char kind = json[++i];
                if (kind == 'u')
                {
                    text.Append((char)int.Parse(json.AsSpan(i + 1, 4), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture));
                    i += 4;
                    continue;
                }
                int control = "bfnrt".IndexOf(kind);
                text.Append(control < 0 ? kind : "\b\f\n\r\t"[control]);
            }
            return text.ToString();
        }
    }
}
