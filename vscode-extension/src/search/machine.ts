/** What the search for a server asks of the world: a platform, variables, files, programs. */

export interface Outcome {
  /** The exit status; null where the program could not be started or was stopped. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
}

/** What a program reads: the content of a file that is compressed with Brotli. */
export interface Input {
  readonly file: string;
  /** Hears how many bytes the program has been given so far. */
  readonly onBytes: (given: number) => void;
}

export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether there is a file (not a folder) at a path; never throws. */
  isFile(path: string): Promise<boolean>;
  /** Whether there is a folder at a path; never throws. */
  isFolder(path: string): Promise<boolean>;
  /**
   * Runs a program to its end, or until `limit` milliseconds have passed; never throws.  It reads
   * `input`, or nothing at all.
   */
  run(command: readonly string[], limit: number, input?: Input): Promise<Outcome>;
}
