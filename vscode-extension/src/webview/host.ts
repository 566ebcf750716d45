/** The door of a view to the extension. */

interface Host<Message> {
  postMessage(message: Message): void;
}

declare function acquireVsCodeApi<Message>(): Host<Message>;

/** Connects a view: `hear` gets what the extension says; the answer sends. */
export function connect<In, Out>(hear: (message: In) => void): (message: Out) => void {
  const host = acquireVsCodeApi<Out>();
  window.addEventListener("message", (event: MessageEvent<In>) => hear(event.data));
  return (message) => host.postMessage(message);
}
