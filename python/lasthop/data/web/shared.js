// A scenario in the fragment of an address, compressed, and back.

const through = async (bytes, stream) => new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());

async function packed(value) {
  const bytes = await through(new TextEncoder().encode(JSON.stringify(value)), new CompressionStream("deflate-raw"));
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** What a fragment holds; null where it holds nothing that can be read. */
async function unpacked(fragment) {
  try {
    const text = atob(fragment.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = await through(Uint8Array.from(text, (sign) => sign.charCodeAt(0)), new DecompressionStream("deflate-raw"));
    const found = JSON.parse(new TextDecoder().decode(bytes));
    return typeof found?.text === "string" ? found : null;
  } catch {
    return null;
  }
}
