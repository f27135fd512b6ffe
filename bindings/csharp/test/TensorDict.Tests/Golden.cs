using System.IO;
using System.Text.Json.Nodes;

namespace TensorDicts.Tests;

/// <summary>Parts of folders as Python writes them, which this library reads and does not write.</summary>
internal static class Golden
{
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
