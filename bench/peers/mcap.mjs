// MCAP's own writer for JavaScript: a message for each step, as ROS 2 lays it out (4 bytes, then the 48), in chunks of 1 MiB,
// with the indexes it makes by default and without compression. It finds messages by their time, so it reads no rows here.
//
//   npm install --prefix FOLDER @mcap/core
//   NODE_PATH=FOLDER/node_modules node bench/peers/mcap.mjs FOLDER [STEPS]
import { closeSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const require = createRequire(import.meta.url); // unlike import, it looks into NODE_PATH
let mcap, version;
try {
  mcap = require("@mcap/core");
  version = JSON.parse(readFileSync(join(dirname(require.resolve("@mcap/core")), "../../package.json"))).version;
} catch (missing) {
  console.error(`mcap: left out: ${missing.message.split("\n")[0]}`);
  process.exit(0);
}

const [folder, steps] = [process.argv[2], Number(process.argv[3] ?? 1000000)];
const schema = Buffer.from("float32[3] position\nfloat32[3] velocity\nfloat32[4] action\nfloat32 reward\nint32 done");

async function write(path) {
  const file = openSync(path, "w");
  let at = 0n;
  const writable = { position: () => at, write: async (bytes) => { at += BigInt(writeSync(file, bytes)); } };
  const writer = new mcap.McapWriter({ writable });
  await writer.start({ profile: "", library: "peers" });
  const schemaId = await writer.registerSchema({ name: "step", encoding: "ros2msg", data: schema });
  const channelId = await writer.registerChannel({ topic: "steps", schemaId, messageEncoding: "cdr", metadata: new Map() });
  const data = new Uint8Array(52), floats = new Float32Array(data.buffer, 4, 11), done = new Int32Array(data.buffer, 48, 1);
  data[1] = 1; // the numbers are little-endian
  for (let row = 0; row < steps; row++) {
    const x = row % 1000, time = BigInt(row);
    floats.set([x, x + 1, x + 2, -x, 0, x, 1, 2, 3, x, x / 2]);
    done[0] = Number(row % 200 === 199);
    await writer.addMessage({ channelId, sequence: row, logTime: time, publishTime: time, data });
  }
  await writer.end();
  closeSync(file);
}

let best = Infinity;
const path = join(folder, "steps.mcap");
for (let run = 0; run < 3; run++) {
  const begin = process.hrtime.bigint();
  await write(path);
  best = Math.min(best, Number(process.hrtime.bigint() - begin) / steps);
  rmSync(path);
}
console.log(JSON.stringify({ what: "write a step", who: "MCAP, @mcap/core in Node", version, ns: Number(best.toFixed(1)) }));
