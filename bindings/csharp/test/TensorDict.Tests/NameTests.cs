using System;
using Xunit;

namespace TensorDicts.Tests;

public class NameTests
{
    [Fact]
    public void NamesFollowTheDimensions()
    {
        using var td = Sample.Nested();
        Assert.Equal(new string?[] { null, null }, td.Names);
        Assert.Same(td, td.SetNames("x", "y"));
        using var inner = td.GetDict("n");
        Assert.Equal(new string?[] { "x", "y" }, inner.Names);
        using var turned = td.Transpose(0, 1);
        Assert.Equal(new string?[] { "y", "x" }, turned.Names);
        td.SetNames();
        Assert.Equal(new string?[] { null, null }, td.Names);
    }

    [Fact]
    public void NamesAreChanged()
    {
        using var td = new TensorDict(2, 3, 4);
        td.RefineNames("a", "...");
        td.RefineNames("...", "c");
        Assert.Equal(new string?[] { "a", null, "c" }, td.Names);
        using var other = td.RenameDims(("a", "x"), ("c", null));
        Assert.Equal(new string?[] { "x", null, null }, other.Names);
        td.RenameDimsInPlace(("a", "x"));
        Assert.ThrowsAny<Exception>(() => td.RenameDims(("q", "x")));
        Assert.ThrowsAny<Exception>(() => td.RefineNames("y", "..."));
        Assert.ThrowsAny<Exception>(() => td.SetNames("a"));
        Assert.Equal(new string?[] { "x", null, "c" }, td.Names);
    }
}
