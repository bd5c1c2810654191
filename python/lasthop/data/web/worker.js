"use strict";
// One module of the simulator in a worker: calls go in and answers come out as JSON.

const UTF8 = new TextEncoder(), TEXT = new TextDecoder();
let module = null, engine = null, asked = null, told = 0;

/** What the module calls: how far the run is that was asked for, which the page learns ten times a second. */
const PAGE = {
  reached(seconds) {
    const now = performance.now();
    if (now - told < 100) return;
    told = now;
    postMessage({ id: asked, reached: seconds });
  },
};

/** Bytes in the memory of the module, which frees them. */
function lent(bytes) {
  const at = engine.reserve(bytes.length) >>> 0;
  new Uint8Array(engine.memory.buffer, at, bytes.length).set(bytes);
  return [at, bytes.length];
}

/** The bytes that the module hands out, by address and length in one number; its memory is freed. */
function given(packed) {
  const whole = BigInt.asUintN(64, packed), at = Number(whole >> 32n), length = Number(whole & 0xffffffffn);
  const bytes = new Uint8Array(engine.memory.buffer, at, length).slice();
  engine.release(at, length);
  return bytes;
}

/** Why the module trapped: the message of its panic, or that of the browser. */
function trapped(error) {
  try {
    return TEXT.decode(given(engine.panicked())) || String(error);
  } catch {
    return String(error);
  }
}

onmessage = ({ data: { id, loads, files, call, take } }) => {
  asked = id;
  if (loads) module = loads;
  if (!engine) engine = new WebAssembly.Instance(module, { page: PAGE }).exports;
  for (const [path, text] of Object.entries(files ?? {})) engine.put(...lent(UTF8.encode(path)), ...lent(UTF8.encode(text)));
  try {
    if (call) postMessage({ id, answer: JSON.parse(TEXT.decode(given(engine.call(...lent(UTF8.encode(JSON.stringify(call))))))) });
    else if (take) postMessage({ id, answer: given(engine.take(...lent(UTF8.encode(take)))) });
    else postMessage({ id, answer: null });
  } catch (error) {
    postMessage({ id, answer: { error: `the simulator failed: ${trapped(error)}`, faults: [], failed: true } });
  }
};
