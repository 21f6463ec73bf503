// Asks Perfetto's own reader, the trace processor of its web page, about a trace file and prints the
// rows of the answer as JSON, one a line: node perfetto_query.js FOLDER FILE SQL
// FOLDER holds engine_bundle.js and trace_processor.wasm. Integers are printed as texts.

const fs = require('fs');
const path = require('path');

const [folder, file, sql] = process.argv.slice(2);
const exit = process.exit;

// Protocol buffers, as far as they are needed here.

function varint(value) {
  const bytes = [];
  for (value = BigInt(value); value > 127n; value >>= 7n) bytes.push(Number(value & 127n) | 128);
  bytes.push(Number(value));
  return Buffer.from(bytes);
}

const numberField = (field, value) => Buffer.concat([varint(field << 3), varint(value)]);
const bytesField = (field, bytes) =>
  Buffer.concat([varint((field << 3) | 2), varint(bytes.length), bytes]);

/** The fields of a message as pairs of number and value: a BigInt or bytes. */
function* fieldsOf(bytes) {
  let at = 0;
  const readVarint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const key = Number(readVarint());
    const wire = key & 7;
    if (wire === 0) {
      yield [key >> 3, readVarint()];
      continue;
    }
    const size = wire === 2 ? Number(readVarint()) : wire === 1 ? 8 : 4;
    yield [key >> 3, bytes.subarray(at, (at += size))];
  }
}

function varintsOf(bytes) {
  const values = [];
  let value = 0n, shift = 0n;
  for (const byte of bytes) {
    value |= BigInt(byte & 127) << shift;
    shift += 7n;
    if (byte >= 128) continue;
    values.push(BigInt.asIntN(64, value));
    value = shift = 0n;
  }
  return values;
}

// Perfetto's messages (protos/perfetto/trace_processor/trace_processor.proto): requests 1, 2 and 3
// append a part of a trace, end it, and ask; 5 of an answer is an error, 203 the result of a query.

let sequence = 0;
const request = (method, ...args) =>
  bytesField(1, Buffer.concat([numberField(1, sequence++), numberField(2, method), ...args]));

function fail(message) {
  console.error(`Perfetto: ${message}`);
  exit(1);
}

let columnCount = 0;
const cells = [];

/** A batch of cells: their kinds, and apart from these the integers, the fractions and the texts. */
function readBatch(batch) {
  const kinds = [], integers = [], fractions = [], texts = [];
  for (const [field, value] of fieldsOf(batch)) {
    if (field === 1) kinds.push(...varintsOf(value).map(Number));
    if (field === 2) integers.push(...varintsOf(value));
    if (field === 3) for (let at = 0; at < value.length; at += 8) fractions.push(value.readDoubleLE(at));
    if (field === 5) texts.push(...value.toString().split('\0').slice(0, -1));
  }
  const nextOf = {
    1: () => null, 2: () => String(integers.shift()), 3: () => fractions.shift(), 4: () => texts.shift(),
  };
  for (const kind of kinds) cells.push(nextOf[kind]());
}

function readAnswer(answer) {
  for (const [field, value] of fieldsOf(answer)) {
    if (field === 5) fail(value.toString());
    if (field === 201) for (const [part, text] of fieldsOf(value)) if (part === 2) fail(text.toString());
    if (field !== 203) continue;
    for (const [part, content] of fieldsOf(value)) {
      if (part === 1) ++columnCount;
      if (part === 2) fail(content.toString());
      if (part === 3) readBatch(content);
    }
  }
}

// The bundle is made for a worker of a browser, and looks for these.
globalThis.self = globalThis;
globalThis.importScripts = () => {};
globalThis.WorkerGlobalScope = class {};
globalThis.location = {href: 'http://localhost/engine_bundle.js'};
globalThis.XMLHttpRequest = class {
  open(_, address) { this.name = path.basename(address); }
  send() {
    this.status = 200;
    this.response = new Uint8Array(fs.readFileSync(path.join(folder, this.name))).buffer;
  }
};
console.warn = () => {};  // it says how fast it loads
delete globalThis.process;
(0, eval)(fs.readFileSync(path.join(folder, 'engine_bundle.js'), 'utf8'));

const port = {
  postMessage(bytes) {
    for (const [, answer] of fieldsOf(Buffer.from(bytes))) readAnswer(answer);
  },
};
setImmediate(() => {  // by then it has set onmessage and is ready
  globalThis.onmessage({data: port});
  const send = (bytes) => port.onmessage({data: new Uint8Array(bytes)});
  send(request(1, bytesField(101, fs.readFileSync(file))));
  send(request(2));
  send(request(3, bytesField(103, bytesField(1, Buffer.from(sql)))));
  const rows = [];
  while (cells.length > 0) rows.push(JSON.stringify(cells.splice(0, columnCount)));
  fs.writeSync(1, rows.map((row) => row + '\n').join(''));
  exit(0);
});
