# Builds the checkout that this file lies in: nix-build packaging/recipes/nix
{ pkgs ? import <nixpkgs> { } }:
let
  torch = pkgs.libtorch-bin;
in
pkgs.stdenv.mkDerivation {
  pname = "tensordict";
  version = "0.3.0";
  src = pkgs.lib.cleanSource ../../..;
  nativeBuildInputs = with pkgs; [ meson ninja pkg-config python3 ];
  buildInputs = with pkgs; [ nlohmann_json zlib xxHash hdf5 openssl ];
  postUnpack = "mkdir -p torch && ln -s ${torch}/lib torch/lib && ln -s ${torch.dev}/include torch/include";
  preConfigure = "mesonFlagsArray+=(-Dlibtorch=$NIX_BUILD_TOP/torch)";
  mesonFlags = [ "-Dcombine=true" "-Dhdf5=enabled" ] ++ map (name: "-D${name}=disabled") [
    "arrow" "video" "distributed" "tests" "rust" "julia" "csharp" "lua" "swig" "mujoco" "bench"
  ];
  postFixup = "patchelf --add-rpath ${torch}/lib $out/lib/libtensordict.so";
  meta = {
    description = "Dictionaries of tensors with a batch size, behind a C interface";
    license = pkgs.lib.licenses.mit;
    platforms = [ "x86_64-linux" "aarch64-linux" ];
    mainProgram = "tdtool";
  };
}
