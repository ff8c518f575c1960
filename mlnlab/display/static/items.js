// What an item of a scene becomes, and nothing else: tags and attributes come from the lists below, every value
// is checked, and text is only ever set as text. A saved scene may come from anybody.
import { WORDS } from "./look.js";

const SPACE = "http://www.w3.org/2000/svg";
const MOST_ITEMS = 20000;
const DEEPEST = 40;
const LONGEST_TEXT = 2000;
const ID = /^[a-z][a-z0-9]*(?:[-./][a-z0-9]+)*$/;
const PATH = /^[MLHVCSQTAZmlhvcsqtaz0-9 .,+-]*$/;
const PIXELS = /^data:image\/png;base64,[A-Za-z0-9+/]*=*$/;
const KNOWN_WORDS = new Set(WORDS);
const TAGS = { group: "g", path: "path", circle: "circle", rectangle: "rect", text: "text", picture: "image" };
const ANCHORS = new Set(["start", "middle", "end"]);

/** Fields that a patch may change. */
export const PATCHED = new Set([
  "x", "y", "radius", "width", "height", "corner", "path", "text", "class", "tooltip", "source",
]);

/** Tell whether an item is for the pointer and the keys: it can be selected, pressed, opened or closed. */
export function isUsed(item) {
  return Boolean(item.pick || item.press || item.expands);
}

export function svgElement(tag) {
  return document.createElementNS(SPACE, tag);
}

export function elementOf(item) {
  const element = svgElement(TAGS[item.kind]);
  if (item.kind === "picture") element.setAttribute("preserveAspectRatio", "none");
  return element;
}

function number(value, least = -1e6) {
  if (value === undefined) return 0;
  if (typeof value !== "number" || !(value >= least && value <= 1e6)) throw new Error("This drawing has a number out of range.");
  return value;
}

function text(value, allowed) {
  if (typeof value !== "string" || !allowed.test(value)) throw new Error("This drawing has a value that is not of its kind.");
  return value;
}

const box = (item) => ({
  x: number(item.x), y: number(item.y), width: number(item.width, 0), height: number(item.height, 0),
});

const ATTRIBUTES = {
  group: () => ({}),
  path: (item) => ({ d: text(item.path, PATH) }),
  circle: (item) => ({ cx: number(item.x), cy: number(item.y), r: number(item.radius, 0) }),
  rectangle: (item) => ({ ...box(item), rx: number(item.corner, 0) }),
  text: (item) => ({
    x: number(item.x), y: number(item.y), "text-anchor": ANCHORS.has(item.anchor) ? item.anchor : "start",
  }),
  picture: (item) => ({ ...box(item), href: text(item.source, PIXELS) }),
};

/** Return the checked attributes of an item: numbers can move, texts are set at once. */
export function attributesOf(item) {
  return ATTRIBUTES[item.kind](item);
}

/** Return where a group stands, null for anything else. */
export function placeOf(item) {
  return item.kind === "group" ? [number(item.x), number(item.y)] : null;
}

export function classOf(item) {
  const words = typeof item.class === "string" ? item.class.split(" ") : [];
  return words.filter((word) => KNOWN_WORDS.has(word)).map((word) => "mlnlab-" + word).join(" ");
}

export function textOf(value) {
  return typeof value === "string" ? value.slice(0, LONGEST_TEXT) : "";
}

/** Return the name of an item: the first line of its tooltip, or its text. */
export function nameOf(item) {
  return textOf(item.tooltip).split("\n", 1)[0] || textOf(item.text);
}

/** Raise a sentence unless this is a scene that can be drawn. */
export function checkScene(scene) {
  if (!scene || scene.format !== "mlnlab-scene") throw new Error("This is no drawing of mlnlab.");
  if (scene.version !== 1) throw new Error("This drawing was made by a newer mlnlab.");
  if (!Array.isArray(scene.layers)) throw new Error("This drawing has no layers.");
  number(scene.width, 1);
  number(scene.height, 1);
  const seen = new Set();
  let left = MOST_ITEMS;
  const check = (item, depth) => {
    if (--left < 0 || depth > DEEPEST) throw new Error("This drawing is too large to be shown here.");
    if (!item || !Object.hasOwn(TAGS, item.kind)) throw new Error("This drawing holds something unknown.");
    if (item.id) checkId(item.id, seen);
    attributesOf(item);
    placeOf(item);
    if (item.kind === "group") listOf(item.children).forEach((child) => check(child, depth + 1));
  };
  for (const layer of scene.layers) {
    checkId(layer?.id, seen);
    listOf(layer.children).forEach((item) => check(item, 0));
  }
}

function listOf(children) {
  if (!Array.isArray(children)) throw new Error("This drawing has a group without children.");
  return children;
}

function checkId(id, seen) {
  if (typeof id !== "string" || id.length > 60 || !ID.test(id)) throw new Error("This drawing has a strange id.");
  if (seen.has(id)) throw new Error("This drawing uses an id twice.");
  seen.add(id);
}
