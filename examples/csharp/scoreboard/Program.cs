// A game of several environments that shows its scores to others: examples/c/scoreboard.c reads them, live.
//
//   scoreboard SOCKET
using System;
using System.Threading;
using TensorDicts;

const int environments = 4, steps = 50;

// [write]
var options = new StoreOptions { UnixSocket = args[0], Id = "scoreboard" };
using var board = new TensorDict(environments);
board["score"] = Tensor.FromArray(new float[environments], environments);
board["step"] = Tensor.FromArray(new long[environments], environments);
using TensorDictStore store = TensorDictStore.From(board, options);
for (int step = 1; step <= steps; step++)
{
    for (int i = 0; i < environments; i++)
    {
        // One row of the board: readers never see half of it.
        using Tensor score = Tensor.Scalar((float)(step * (i + 1)));
        store.SetTensorAt("score", score, i);
        using Tensor now = Tensor.Scalar((long)step);
        store.SetTensorAt("step", now, i);
    }
    Thread.Sleep(5);
}
// [/write]
