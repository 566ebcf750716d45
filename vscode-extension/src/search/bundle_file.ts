/** Reads what the extension package says about the server inside it. */

import { readFile } from "node:fs/promises";
import * as path from "node:path";
import type { Bundle } from "./bundle";

/** The bundle in a folder; undefined where the package was built without one. */
export async function readBundle(folder: string): Promise<Bundle | undefined> {
  try {
    const text = await readFile(path.join(folder, "bundle.json"), "utf8");
    return { ...(JSON.parse(text) as Omit<Bundle, "folder">), folder };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") {
      return undefined;
    }
    throw error;
  }
}
