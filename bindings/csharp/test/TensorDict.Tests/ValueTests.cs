using System;
using Xunit;

namespace TensorDicts.Tests;

public class ValueTests
{
    [Fact]
    public void OneValueOrOneForEach()
    {
        using var td = new TensorDict(2);
        td.SetJson("v", "5");
        Assert.Equal("5", td.GetJson("v"));
        Assert.Equal("[5, 5]", td.GetJsonList("v"));
        td.SpreadNonTensor("v");
        Assert.Equal("[5, 5]", td.GetJson("v"));
        Assert.Equal("5", td.GetJsonValue("v"));
        td.SetJsonList("v", "[\"a\", \"b\"]");
        using var second = td[1];
        Assert.Equal("\"b\"", second.GetJson("v"));
        Expect.Fails<TensorKeyException>(TensorDictStatus.WrongEntry, () => td.GetJsonValue("v"));
        Expect.Fails<TensorShapeException>(TensorDictStatus.Shape, () => td.SetJsonList("v", "[1]"));
        Expect.Fails<TensorIOException>(TensorDictStatus.Format, () => td.SetJson("v", "{"));
        foreach (string text in new[] { "", "plain", "\"quoted\" \\ / \b\f\n\r\t\u0001\0", "Straße 北京 \U0001F600", "[1, 2]", "null" })
        {
            td.SetText("t", text);
            Assert.Equal(text, td.GetText("t"));
        }
        td.SetJson("t", "5");
        Assert.Contains("not a text but 5", Expect.Fails<TensorKeyException>(TensorDictStatus.WrongEntry, () => td.GetText("t")).Message);
        Assert.ThrowsAny<ArgumentException>(() => td.SetText("t", "\uD800"));
    }

    [Fact]
    public void Texts()
    {
        using var td = new TensorDict(2);
        td.SetTexts("v", "left", "ɣ");
        Assert.Equal("left", td.GetRowText("v", 0));
        Assert.Equal("ɣ", td.GetRowText("v", -1));
        Expect.Fails<TensorIndexException>(TensorDictStatus.Index, () => td.GetRowText("v", 2));
        Expect.Fails<TensorKeyException>(TensorDictStatus.WrongEntry, () => td.GetText("v"));
        Expect.Fails<TensorShapeException>(TensorDictStatus.Shape, () => td.SetTexts("v", "one"));
    }

    [Fact]
    public void Bytes()
    {
        using var td = new TensorDict();
        foreach (byte[] bytes in new[] { Array.Empty<byte>(), new byte[] { 0, 255 }, new byte[] { 1, 2, 3 } })
        {
            td.SetBytes("v", bytes);
            Assert.Equal(bytes, td.GetBytes("v"));
        }
        td.SetJson("v", "1");
        Expect.Fails<TensorKeyException>(TensorDictStatus.WrongEntry, () => td.GetBytes("v"));
    }
}
