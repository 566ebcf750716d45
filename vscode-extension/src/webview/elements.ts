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

/**
 * A button with words, a longer explanation and what it does.  It is called by its words, which is
 * what somebody says to press it; `name` stands for those that cannot be spoken.
 */
export function button(
  words: string,
  title: string,
  act: () => void,
  name?: string,
): HTMLButtonElement {
  const label = name === undefined ? {} : { "aria-label": name };
  const made = html("button", { type: "button", title, ...label }, words);
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
