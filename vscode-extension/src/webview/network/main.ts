/** The network view: joins the picture, the camera, the keys and the extension. */

import type { FromView, ToView } from "../../network/messages";
import type { Graph, GraphLayer } from "../../protocol";
import { button, html, svg } from "../elements";
import { connect } from "../host";
import { type Box, Camera } from "./camera";
import { encoded, rasterized, standalone } from "./exporting";
import { legend, totals } from "./legend";
import { NodeTable } from "./nodes";
import { draw, type Picture, spoken } from "./picture";
import { type Direction, next } from "./walk";

const STEP = 1.25;
const ARROWS: Readonly<Record<string, Direction>> = {
  ArrowUp: "up",
  ArrowDown: "down",
  ArrowLeft: "left",
  ArrowRight: "right",
};

const view = document.getElementById("view") as HTMLElement;
const scene = svg("g");
const surface = svg(
  "svg",
  { class: "surface", role: "group", "aria-label": "Network", tabindex: 0 },
  scene,
);
const title = html("h1");
const figures = html("p", { class: "totals" });
const below = html("div", { class: "below" });
const notice = html("p", { class: "notice", role: "status" });
const table = new NodeTable((name) => choose(name));
const heard = html("p", { class: "heard", "aria-live": "polite" });
const KEYS =
  "Arrow keys follow the connections; Enter goes to the text or opens a group, Backspace closes it; " +
  "+ - 0 zoom; Escape leaves.";

let graph: Graph | undefined;
let picture: Picture | undefined;
let selected: string | undefined;
/** The group that was opened last and is not drawn yet. */
let opening: string | undefined;

const send = connect<ToView, FromView>(hear);
const camera = new Camera(surface, scene, whole);

view.append(
  html(
    "header",
    {},
    title,
    figures,
    html(
      "div",
      { class: "tools", role: "toolbar", "aria-label": "Picture" },
      button("−", "Zoom out (-)", () => camera.zoom(1 / STEP), "Zoom out"),
      button("+", "Zoom in (+)", () => camera.zoom(STEP), "Zoom in"),
      button("Fit", "Show the whole network (0)", () => camera.fit()),
      button("SVG", "Save as SVG", () => save("svg")),
      button("PNG", "Save as PNG", () => void save("png")),
    ),
  ),
  notice,
  surface,
  below,
  table.element,
  html("p", { class: "keys" }, KEYS),
  heard,
);
surface.addEventListener("keydown", pressed);
send({ type: "ready" });

function hear(message: ToView): void {
  switch (message.type) {
    case "graph":
      show(message.title, message.graph);
      break;
    case "cursor":
      select(message.layer ?? undefined, true);
      break;
    case "weights":
      table.fill(message.weights);
      break;
    case "stale":
      view.classList.add("stale");
      notice.textContent = message.message;
      break;
  }
}

function show(name: string, shown: Graph): void {
  const first = graph === undefined || graph.uri !== shown.uri;
  const focused = document.activeElement?.classList.contains("layer") === true;
  graph = shown;
  picture = draw(shown);
  scene.replaceChildren(picture.root);
  view.classList.remove("stale");
  const none = shown.lines === undefined ? "There is no layer yet." : "This file has no network.";
  notice.textContent = shown.layers.length === 0 ? none : "";
  table.show(shown);
  title.textContent = name;
  figures.replaceChildren(...totals(shown));
  below.replaceChildren(legend(shown));
  shown.layers.forEach(listen);
  shown.frames?.forEach(({ key }) => listenToFrame(key));
  const inside = shown.layers.filter((each) => each.within === opening);
  if (opening !== undefined && inside.length > 0) {
    selected = inside.reduce((one, other) => (other.position.y < one.position.y ? other : one)).name;
    opening = undefined;
  }
  select(selected, false);
  if (first) {
    camera.open();
  } else {
    camera.keep();
  }
  if (focused) {
    focus(selected);
  }
}

function listen(layer: GraphLayer): void {
  const box = picture?.boxes.get(layer.name);
  box?.addEventListener("click", (event) => {
    select(layer.name, false);
    focus(layer.name);
    if (layer.group !== undefined) {
      fold(layer.group.key, true);
      return;
    }
    send({ type: "reveal", layer: layer.name, focus: event.detail > 1 });
  });
  box?.addEventListener("focus", () => select(layer.name, true));
  picture?.edges.get(layer.name)?.forEach((edge, index) => {
    edge.addEventListener("click", () => send({ type: "revealBundle", layer: layer.name, index }));
  });
}

function listenToFrame(key: string): void {
  const frame = picture?.frames.get(key);
  frame?.addEventListener("click", () => fold(key, false));
  frame?.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      event.stopPropagation();
      fold(key, false);
    }
  });
}

/** Asks for a group to be opened or closed; the box that stands for it then is selected. */
function fold(key: string, open: boolean): void {
  opening = open ? key : undefined;
  selected = key;
  send({ type: "fold", key, open });
}

/** Marks one layer and what is joined to it. */
function select(name: string | undefined, follow: boolean): void {
  selected = name !== undefined && picture?.boxes.has(name) === true ? name : undefined;
  const layer = graph?.layers.find((each) => each.name === selected);
  for (const [other, box] of picture?.boxes ?? []) {
    box.classList.toggle("selected", other === selected);
    box.setAttribute("tabindex", other === (selected ?? graph?.layers[0]?.name) ? "0" : "-1");
    box.setAttribute("aria-pressed", String(other === selected));
  }
  for (const each of graph?.layers ?? []) {
    picture?.edges.get(each.name)?.forEach((edge, index) => {
      const joined = each.name === selected || each.bundles[index]?.source === selected;
      edge.classList.toggle("joined", selected !== undefined && joined);
    });
  }
  view.classList.toggle("chosen", layer !== undefined);
  table.mark(selected);
  if (layer !== undefined && graph !== undefined) {
    heard.textContent = spoken(graph, layer);
    if (follow) {
      camera.show(layer.position);
    }
  }
}

/** Shows the box of a node that was chosen in the table; a parameter has none of its own. */
function choose(name: string): void {
  if (picture?.boxes.has(name) === true) {
    select(name, true);
  } else {
    table.mark(name);
  }
}

function focus(name: string | undefined): void {
  if (name !== undefined) {
    picture?.boxes.get(name)?.focus({ preventScroll: true });
  }
}

function pressed(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || !act(event.key)) {
    return;
  }
  event.preventDefault();
}

/** Does what a key stands for; false where it stands for nothing. */
function act(key: string): boolean {
  const direction = ARROWS[key];
  if (direction !== undefined) {
    walk(direction);
  } else if ((key === "Enter" || key === " ") && chosen()?.group !== undefined) {
    fold(chosen()?.group?.key ?? "", true);
  } else if (key === "Backspace" && chosen()?.within) {
    fold(chosen()?.within ?? "", false);
  } else if ((key === "Enter" || key === " ") && selected !== undefined) {
    send({ type: "reveal", layer: selected, focus: key === "Enter" });
  } else if (key === "+" || key === "=") {
    camera.zoom(STEP);
  } else if (key === "-") {
    camera.zoom(1 / STEP);
  } else if (key === "0") {
    camera.fit();
  } else if (key === "Escape") {
    select(undefined, false);
    surface.focus({ preventScroll: true });
  } else {
    return false;
  }
  return true;
}

function chosen(): GraphLayer | undefined {
  return graph?.layers.find((each) => each.name === selected);
}

function walk(direction: Direction): void {
  if (graph === undefined) {
    return;
  }
  const name = selected === undefined ? graph.layers[0]?.name : next(graph, selected, direction);
  if (name !== undefined) {
    select(name, true);
    focus(name);
    send({ type: "reveal", layer: name, focus: false });
  }
}

async function save(format: "svg" | "png"): Promise<void> {
  const marked = selected;
  select(undefined, false);
  const text = standalone(scene, whole());
  select(marked, false);
  const base64 = format === "svg" ? encoded(text) : await rasterized(text, whole());
  send({ type: "save", format, base64 });
}

function whole(): Box {
  return { x: 0, y: 0, width: graph?.width || 1, height: graph?.height || 1 };
}
