/** Which part of a picture is seen: zoom, pan, fit. Moves by itself only where motion is welcome. */

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const LEAST = 0.05;
const MOST = 4;
/** No picture opens smaller than this: the names of its layers can still be read. */
const READABLE = 0.6;
/** No picture opens larger than this. */
const COMFORTABLE = 1.25;
/** How much of the window a fitted picture leaves empty around itself, in pixels. */
const MARGIN = 24;
const GLIDE = "transform 160ms ease-out";

export class Camera {
  private scale = 1;
  private x = 0;
  private y = 0;
  /** The least scale at which the whole is shown; absent once somebody has moved or zoomed. */
  private least: number | undefined = READABLE;

  constructor(
    private readonly surface: SVGSVGElement,
    private readonly scene: SVGGElement,
    private readonly whole: () => Box,
  ) {
    this.scene.style.transformOrigin = "0 0";
    surface.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    surface.addEventListener("pointerdown", (event) => this.grab(event));
    new ResizeObserver(() => this.keep()).observe(surface);
  }

  /** Shows the whole picture, or its beginning where the whole would be too small to be read. */
  open(): void {
    this.frame(READABLE);
  }

  /** Shows the whole picture. */
  fit(): void {
    this.frame(LEAST);
  }

  /** Frames a picture or a window of another size as before, unless somebody has moved since. */
  keep(): void {
    if (this.least !== undefined) {
      this.frame(this.least);
    }
  }

  private frame(least: number): void {
    const { width, height } = this.size();
    const whole = this.whole();
    const room = Math.min((width - 2 * MARGIN) / whole.width, (height - 2 * MARGIN) / whole.height);
    this.scale = Math.min(Math.max(room, least), COMFORTABLE);
    this.x = (width - whole.width * this.scale) / 2;
    this.y = Math.max((height - whole.height * this.scale) / 2, MARGIN / 2);
    this.least = least;
    this.apply(false);
  }

  /** Zooms by a factor about a point of the window, its middle for none. */
  zoom(factor: number, at?: { readonly x: number; readonly y: number }): void {
    const { width, height } = this.size();
    const { x, y } = at ?? { x: width / 2, y: height / 2 };
    const scale = Math.min(Math.max(this.scale * factor, LEAST), MOST);
    this.x = x - ((x - this.x) * scale) / this.scale;
    this.y = y - ((y - this.y) * scale) / this.scale;
    this.scale = scale;
    this.least = undefined;
    this.apply(false);
  }

  /** Moves so that a box of the picture is seen, if it is not seen already. */
  show(box: Box): void {
    const { width, height } = this.size();
    const left = box.x * this.scale + this.x;
    const top = box.y * this.scale + this.y;
    const right = left + box.width * this.scale;
    const bottom = top + box.height * this.scale;
    const dx = left < MARGIN ? MARGIN - left : Math.min(width - MARGIN - right, 0);
    const dy = top < MARGIN ? MARGIN - top : Math.min(height - MARGIN - bottom, 0);
    if (dx !== 0 || dy !== 0) {
      this.x += dx;
      this.y += dy;
      this.least = undefined;
      this.apply(true);
    }
  }

  private size(): { width: number; height: number } {
    const { clientWidth, clientHeight } = this.surface;
    return { width: clientWidth || 1, height: clientHeight || 1 };
  }

  private apply(glide: boolean): void {
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.scene.style.transition = glide && !still ? GLIDE : "none";
    this.scene.style.transform = `translate(${this.x}px, ${this.y}px) scale(${this.scale})`;
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    if (event.ctrlKey || event.metaKey) {
      this.zoom(Math.exp(-event.deltaY / 200), { x: event.offsetX, y: event.offsetY });
      return;
    }
    this.move(event.shiftKey ? -event.deltaY : -event.deltaX, event.shiftKey ? 0 : -event.deltaY);
  }

  private move(dx: number, dy: number): void {
    this.x += dx;
    this.y += dy;
    this.least = undefined;
    this.apply(false);
  }

  /** Drags the paper; what lies on it keeps its clicks. */
  private grab(start: PointerEvent): void {
    if (start.button !== 0 || (start.target as Element).closest(".layer, .edge, .group") !== null) {
      return;
    }
    const ended = new AbortController();
    const options = { signal: ended.signal };
    this.surface.setPointerCapture(start.pointerId);
    this.surface.classList.add("held");
    let [x, y] = [start.clientX, start.clientY];
    const drag = (event: PointerEvent) => {
      this.move(event.clientX - x, event.clientY - y);
      [x, y] = [event.clientX, event.clientY];
    };
    const release = () => {
      this.surface.classList.remove("held");
      ended.abort();
    };
    this.surface.addEventListener("pointermove", drag, options);
    this.surface.addEventListener("pointerup", release, options);
    this.surface.addEventListener("pointercancel", release, options);
  }
}
