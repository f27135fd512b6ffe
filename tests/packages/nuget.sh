# shellcheck shell=bash disable=SC2154
# Sourced by tests/packages/run.

# ---- nuget: a project outside, with the packages as a source ---------------------------------------------------------
test_nuget() {
  local program=$scratch/dotnet
  try "icon, readme, licence, targets, symbols, sources" python3 tests/packages/nupkg.py "$dist" "$(project_homepage)"
  mkdir -p "$program" && cd "$program" || return
  try "dotnet new console" dotnet new console --name program --output . || return
  printf '%s\n' '<configuration><packageSources>' "<add key=\"dist\" value=\"$dist\" />" '</packageSources>' \
    "<config><add key=\"globalPackagesFolder\" value=\"$scratch/nuget\" /></config></configuration>" >nuget.config
  sed -n '/^```csharp$/,/^```$/{//!p}' "$root/packaging/nuget/README.md" >Program.cs
  try "dotnet add package TensorDict" dotnet add package TensorDict &&
    try "the program of the readme runs" says "observation: f32[2]" env -u TENSORDICT_LIBRARY dotnet run &&
    try "tdtool opens what it wrote" "${TD_TDTOOL:-$work/portable/build/tools/tdtool/tdtool}" show recording
  try "a program for net8.0 runs" says "observation: f32[2]" nuget_net8
  # Nothing that the builder's machine has helps there.
  try "a bare root" bare_root && try "the program runs there" says "observation: f32[2]" nuget_bare
  cat >Program.cs <<'END'
using var other = TorchSharp.torch.arange(6).reshape(2, 3);
using var dict = new TensorDicts.TensorDict(2);
dict["a"] = TensorDicts.Tensor.FromArray(new long[] { 1, 2, 3, 4 }, 2, 2);
System.Console.WriteLine($"{other.sum().item<long>()} {dict.BatchSize[0]}");
string version = TorchSharp.torch.__version__;
dict["theirs"] = TensorDicts.Tensor.FromTorch(other.Handle, version);
other[1, 2] = 50;
using var ours = TorchSharp.torch.Tensor.UnsafeCreateTensor(dict.GetTensor("a").ToTorch(version));
ours[0, 0] = 7;
System.Console.WriteLine($"theirs {dict.GetTensor("theirs").ToArray<long>()[5]}, ours {dict.GetTensor("a").ToArray<long>()[0]}");
foreach (var line in System.IO.File.ReadLines("/proc/self/maps"))
    if (line.Contains("libtorch_cpu.so") && line.Contains("r-x")) System.Console.WriteLine("one libtorch: " + line.Split('/')[^1]);
END
  try "dotnet add package TorchSharp" dotnet add package TorchSharp --version 0.107.0 && dotnet build >"$scratch/log" 2>&1
  # Its own library is built with a newer C++ library than Debian 12 has.
  local own=$scratch/nuget/torchsharp/0.107.0/runtimes/linux-x64/native/libLibTorchSharp.so
  if ldd "$own" 2>&1 | grep -q 'GLIBC.* not found'; then
    echo "skipped one libtorch beside TorchSharp: $(ldd "$own" 2>&1 | grep -m1 -o 'version .* not found')"
  else
    try "one libtorch beside TorchSharp" says "15 2" env -u TENSORDICT_LIBRARY dotnet run &&
      try "tensors pass without a copy" grep -qx "theirs 50, ours 7" "$scratch/said" && try "it is loaded once" test "$(grep -c 'one libtorch' "$scratch/said")" = 1
  fi
  cd "$root" || return
}

# With the runtime of .NET 8, or a newer one where that is not here. Without a starter and other frameworks it fetches less.
nuget_net8() (
  less='<UseAppHost>false</UseAppHost><DisableTransitiveFrameworkReferenceDownloads>true</DisableTransitiveFrameworkReferenceDownloads>'
  mkdir "$scratch/net8" && cp nuget.config Program.cs "$scratch/net8" &&
    sed "s|<TargetFramework>.*</TargetFramework>|<TargetFramework>net8.0</TargetFramework>$less|" program.csproj >"$scratch/net8/program.csproj" &&
    cd "$scratch/net8" && dotnet build -o out && env -u TENSORDICT_LIBRARY DOTNET_ROLL_FORWARD=Major dotnet out/program.dll
)

nuget_bare() {
  local dotnet
  dotnet=$(dirname "$(readlink -f "$(command -v dotnet)")")
  as_root mkdir -p "$bare/opt/dotnet" "$bare/app" && as_root cp -a "$dotnet"/{dotnet,host,shared} "$bare/opt/dotnet" &&
    as_root cp -a bin/Debug/net*/. "$bare/app" &&
    in_bare DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1 sh -c 'cd /tmp && /opt/dotnet/dotnet /app/program.dll'
}
