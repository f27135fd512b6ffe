// A program of its own, with the package and the library that are installed.
using System;
using TensorDicts;

using var td = new TensorDict(3, 4) { ["reward"] = Tensor.Zeros<float>(3, 4, 1) };
using TensorDict first = td[0];
Console.WriteLine(td);
return first.BatchSize.Count == 1 && first.BatchSize[0] == 4 ? 0 : 1;
