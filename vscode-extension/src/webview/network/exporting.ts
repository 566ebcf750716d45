/** Turns the picture on the page into a file of its own: styles written out, nothing referred to. */

import { svg } from "../elements";
import type { Box } from "./camera";

/** What a style sheet may have said of an element, under the names of SVG. */
const STYLED = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "font-size",
  "font-weight",
  "text-anchor",
  "opacity",
  "paint-order",
];
const DRAWN = "rect, path, text";
/** How many pixels of a PNG stand for one of the picture. */
const SHARPNESS = 2;

/** The picture as SVG text, on paper of the theme's colour. */
export function standalone(scene: SVGGElement, whole: Box): string {
  const copy = scene.cloneNode(true) as SVGGElement;
  const originals = scene.querySelectorAll<SVGElement>(DRAWN);
  copy.querySelectorAll<SVGElement>(DRAWN).forEach((element, index) => {
    const original = originals[index];
    if (original !== undefined) {
      writeOut(getComputedStyle(original), element);
    }
  });
  copy.removeAttribute("style");
  copy.querySelectorAll(".reach").forEach((element) => element.remove());
  for (const group of copy.querySelectorAll("g")) {
    // What is of use on the page alone; the label stays for those who hear the picture.
    ["class", "tabindex", "aria-pressed"].forEach((name) => group.removeAttribute(name));
    if (group.getAttribute("role") === "button") {
      group.setAttribute("role", "img");
    }
  }
  const { width, height } = whole;
  const paper = { width, height, fill: getComputedStyle(document.body).backgroundColor };
  const font = getComputedStyle(document.body).fontFamily;
  const root = svg(
    "svg",
    { width, height, viewBox: `0 0 ${width} ${height}`, "font-family": font },
    svg("rect", paper),
    copy,
  );
  return new XMLSerializer().serializeToString(root);
}

/** A PNG of SVG text, as base64. */
export async function rasterized(text: string, whole: Box): Promise<string> {
  const image = new Image();
  image.src = `data:image/svg+xml;base64,${encoded(text)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = Math.ceil(whole.width * SHARPNESS);
  canvas.height = Math.ceil(whole.height * SHARPNESS);
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL("image/png").split(",")[1] ?? "";
}

/** Text as base64 of its UTF-8. */
export function encoded(text: string): string {
  const bytes = new TextEncoder().encode(text);
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

function writeOut(style: CSSStyleDeclaration, element: SVGElement): void {
  for (const name of STYLED) {
    const value = style.getPropertyValue(name);
    if (value !== "" && value !== "normal") {
      element.setAttribute(name, value);
    }
  }
  element.removeAttribute("style");
  element.removeAttribute("class");
}
