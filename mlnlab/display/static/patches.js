// Reads the patches that mlnlab/display/scene/patches.py writes: which item, which field, what value.
const NUMBERS = ["x", "y", "radius", "width", "height", "corner"];

/** Return [[key, fields], ...] of a message and its buffers; `keys` are those of the drawing, in its order. */
export function changesOf(texts, buffers, keys) {
  const changes = new Map();
  const note = (place, name, value) => {
    const key = keys[place];
    if (key === undefined) return;
    if (!changes.has(key)) changes.set(key, {});
    changes.get(key)[name] = value;
  };
  const [items, fields, values] = arraysOf(buffers);
  // Coordinates are tenths: what a float of 32 bits adds to them is taken off.
  items.forEach((place, i) => note(place, NUMBERS[fields[i]], Math.round(values[i] * 10) / 10));
  for (const [place, named] of texts) for (const [name, value] of Object.entries(named)) note(place, name, value);
  return [...changes];
}

function arraysOf(buffers) {
  if (buffers.length < 3) return [[], [], []];
  // A message may lie anywhere in a larger piece of memory; numbers of four bytes may not.
  const copies = buffers.map((part) => part.buffer.slice(part.byteOffset, part.byteOffset + part.byteLength));
  return [new Uint32Array(copies[0]), new Uint8Array(copies[1]), new Float32Array(copies[2])];
}
