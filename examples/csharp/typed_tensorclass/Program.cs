// Typed tensorclasses: MyData.g.cs is what tdtensorclass makes of MyData.json; methods of one's own stand here.
using System;
using System.Linq;
using TensorDicts;
using TypedTensorclass;

float[] images = Enumerable.Range(0, 100 * 3 * 4 * 4).Select(x => (float)x).ToArray();
bool[] masks = Enumerable.Range(0, 100 * 4 * 4).Select(x => x % 2 == 0).ToArray();
long[] labels = Enumerable.Range(0, 100).Select(x => x % 10L).ToArray();

// [use]
using var data = new MyData(
    new long[] { 100 },
    Tensor.FromArray(images, 100, 3, 4, 4),
    Tensor.FromArray(masks, 100, 1, 4, 4),
    label: Tensor.FromArray(labels));
Console.WriteLine(data.SelectLabel(1));
Console.WriteLine($"masked: {data.MaskImage().Shape}");
Console.WriteLine($"reshaped: {data.Reshape(10, 10).BatchSize}");

MyData pair = MyData.Stack(new[] { data[0], data[1] });
pair.Label = null;
// [/use]
Console.WriteLine($"stacked: {pair.BatchSize}, {(pair.Label is null ? "without" : "with")} labels");
try
{
    pair.Image = Tensor.Zeros<float>(2, 4, 4, 4);
}
catch (TensorShapeException)
{
    Console.WriteLine("an image of other sizes is refused");
}

namespace TypedTensorclass
{
    // [class]
    public sealed partial class MyData
    {
        public Tensor MaskImage()
        {
            float[] image = Image.ToArray<float>();
            bool[] mask = Mask.ToArray<bool>();
            int count = (int)BatchSize[0], plane = mask.Length / count;
            float[] kept = image.Where((_, i) => mask[i / (3 * plane) * plane + i % plane]).ToArray();
            return Tensor.FromArray(kept, count, kept.Length / count);
        }

        public MyData SelectLabel(long wanted)
        {
            bool[] chosen = Array.ConvertAll(Label!.ToArray<long>(), label => label == wanted);
            return this[Tensor.FromArray(chosen)];
        }
    }
    // [/class]
}
