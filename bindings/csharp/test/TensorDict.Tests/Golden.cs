using System.IO;
using System.Runtime.CompilerServices;
using System.Text.Json.Nodes;

namespace TensorDicts.Tests;

/// <summary>Folders, and parts of folders, as Python writes them.</summary>
internal static class Golden
{
    /// <summary>A folder that Python has written, among the test data of the repository.</summary>
    internal static string Folder(string name, [CallerFilePath] string here = "") =>
        Path.GetFullPath(Path.Combine(Path.GetDirectoryName(here)!, "../../../../tests/data/golden", name));

    /// <summary>Adds a text to a folder, as an entry that is no tensor.</summary>
    internal static void AddText(string directory, string key, string text)
    {
        string meta = Path.Combine(directory, "meta.json");
        JsonObject node = JsonNode.Parse(File.ReadAllText(meta))!.AsObject();
        node[key] = new JsonObject { ["type"] = "NonTensorData" };
        File.WriteAllText(meta, node.ToJsonString());
        string child = Directory.CreateDirectory(Path.Combine(directory, key)).FullName;
        var data = new JsonObject
        {
            ["_type"] = "<class 'tensordict.tensorclass.NonTensorData'>",
            ["data"] = text,
            ["_is_non_tensor"] = true,
            ["_metadata"] = null,
        };
        File.WriteAllText(Path.Combine(child, "meta.json"), data.ToJsonString());
    }
}
