/** Makes elements of HTML and SVG from names, attributes and children. */

const SVG = "http://www.w3.org/2000/svg";

type Attributes = Readonly<Record<string, string | number>>;

export function html<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  return fill(document.createElement(name), attributes, children);
}

export function svg<Name extends keyof SVGElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): SVGElementTagNameMap[Name] {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

/** A button with words, a longer explanation and what it does. */
export function button(words: string, title: string, act: () => void): HTMLButtonElement {
  const made = html("button", { type: "button", title, "aria-label": title }, words);
  made.addEventListener("click", act);
  return made;
}

function fill<Made extends Element>(
  element: Made,
  attributes: Attributes,
  children: readonly (Node | string)[],
): Made {
  for (const [name, value] of Object.entries(attributes)) {
    element.setAttribute(name, String(value));
  }
  element.append(...children);
  return element;
}
