/** The server's own requests and notifications, as their JSON; imports nothing. */

export interface Position {
  readonly line: number;
  readonly character: number;
}

export interface Range {
  readonly start: Position;
  readonly end: Position;
}

export interface GraphBundle {
  readonly source: string;
  readonly kind: string;
  readonly output: readonly number[] | null;
  readonly kernels: number | null;
  readonly weights_per_kernel: number | null;
  readonly parameters: number | null;
  /** Absent where a language does not count them. */
  readonly connections?: number | null;
  readonly multiply_adds: number | null;
  readonly shared_with: string | null;
  /** Empty where the source is no layer. */
  readonly points: readonly (readonly [number, number])[];
  readonly range: Range | null;
}

export interface GraphLayer {
  readonly name: string;
  readonly kind: "input" | "hidden" | "output";
  readonly shape: readonly number[] | null;
  readonly nodes: number | null;
  readonly activation: string | null;
  readonly parameters: number | null;
  readonly shared_with: string | null;
  readonly bundles: readonly GraphBundle[];
  /** What it is called where that is not its whole name. */
  readonly label?: string;
  /** The open group around it, by its key; empty for none. */
  readonly within?: string;
  /** What it stands for, where it is a closed group. */
  readonly group?: { readonly key: string; readonly boxes: number };
  readonly position: Place;
  readonly range: Range | null;
  readonly selectionRange: Range | null;
}

export interface Place {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A group that stands open: a frame around its boxes. */
export interface GraphFrame {
  readonly key: string;
  readonly label: string;
  readonly within: string;
  readonly boxes: number;
  readonly position: Place;
}

/** Groups that a person has opened or closed, by their keys. */
export type Folds = Readonly<Record<string, boolean>>;

/** The answer to `netsharp/graph`. */
export interface Graph {
  readonly layers: readonly GraphLayer[];
  /** Open groups, each behind the one around it. */
  readonly frames?: readonly GraphFrame[];
  /** All nodes of a network of CNTK, those in closed groups, too. */
  readonly nodes?: readonly ModelNode[];
  /** What builds a network of CNTK, whose boxes are nodes; absent for Net#. */
  readonly builder?: string;
  readonly parameters: number | null;
  readonly connections: number | null;
  readonly multiply_adds: number | null;
  readonly memory_bytes: number | null;
  readonly width: number;
  readonly height: number;
  readonly version: number | null;
  readonly uri: string;
  /** What is said of a model file above its table; absent for a text. */
  readonly lines?: readonly string[];
}

/** A node of a network of CNTK, as tables have it. */
export interface ModelNode {
  readonly name: string;
  readonly operation: string;
  readonly inputs: readonly string[];
  readonly shape: readonly number[] | null;
  readonly axis: string | null;
  readonly groups: readonly string[];
  readonly parameters: number | null;
}

/** What the numbers of a parameter are like; nothing is null but where none of them is finite. */
export interface Weights {
  readonly name: string;
  readonly shape: readonly number[];
  readonly size: number;
  readonly zeros: number;
  readonly not_finite: number;
  readonly least: number | null;
  readonly greatest: number | null;
  readonly mean: number | null;
  readonly deviation: number | null;
  readonly norm: number | null;
  /** How many of the finite numbers lie in each part of equal width, from the least on. */
  readonly bars: readonly number[];
}

/** The answer to `netsharp/modelWeights`: some parameters, and where to go on. */
export interface SomeWeights {
  readonly weights: readonly Weights[];
  readonly next: number | null;
}

export const GRAPH = "netsharp/graph";
export const MODEL = "netsharp/model";
export const MODEL_WEIGHTS = "netsharp/modelWeights";
export const RUN = "netsharp/run";
export const STOP = "netsharp/stop";
export const PROGRESS = "netsharp/runProgress";
export const TRUST = "netsharp/trust";

/** One line of a run's log, and what the server adds about its process. */
export interface RunEvent {
  readonly id: string | number;
  readonly event: string;
  readonly epoch?: number;
  readonly step?: number;
  readonly samples?: number;
  readonly loss?: number;
  readonly metrics?: Readonly<Record<string, number>>;
  /** Numbers by measure, where a configuration is run with the evaluation of its nodes. */
  readonly validation?: Readonly<Record<string, number | Readonly<Record<string, number>>>>;
  /** What a configuration is judged by beside the loss, by node. */
  readonly evaluation?: Readonly<Record<string, number>>;
  /** Which command of a configuration it is about. */
  readonly command?: string;
  readonly rate?: number;
  readonly seconds?: number;
  /** How it ended; with the last event `end` alone: a test of a configuration ends, too. */
  readonly status?: "finished" | "stopped" | "failed";
  /** Why it has failed, as a sentence. */
  readonly error?: string;
  /** Where the model file lies. */
  readonly model?: string;
}
