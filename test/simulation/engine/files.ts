// The disk of a run, in memory: every operation on a path below /sim/ is an event, and a process that dies may leave the
// last line that it wrote torn. Other paths are the machine's.
import { promises } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { type Actor, currentLoop, type Loop } from './loop.ts';

interface File {
  text: string;
  mtime_ms: number;
  readonly ino: number;
}

const PLACE = '/sim/';
const DISK_MS_MAX = 2;

function missing(path: string): Error {
  return Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT' });
}

/** The files of a run. */
export class Disk {
  readonly #loop: Loop;
  readonly #disk: Actor;
  readonly #files = new Map<string, File>();
  #inodes = 0;

  constructor(loop: Loop, disk: Actor) {
    this.#loop = loop;
    this.#disk = disk;
  }

  /** Does `work` in a moment; who asked and is dead by then hears nothing of it. */
  #later<T>(what: string, work: (is_alive: boolean) => T): Promise<T> {
    const { actor } = this.#loop;
    return new Promise((resolve, reject) => {
      const run = () => {
        try {
          const result = work(actor.alive);
          if (actor.alive) resolve(result);
        } catch (error) {
          if (actor.alive) reject(error);
        }
      };
      this.#loop.later(`${actor.name} ${what}`, this.#loop.draw.unit() * DISK_MS_MAX, run, this.#disk);
    });
  }

  #get(path: string): File {
    const file = this.#files.get(path);
    if (file === undefined) throw missing(path);
    return file;
  }

  #append(file: File, text: string, is_alive: boolean): void {
    file.text += is_alive ? text : text.slice(0, this.#loop.draw.int(0, text.length));
    file.mtime_ms = this.#loop.now_ms;
  }

  open(path: string): Promise<unknown> {
    return this.#later('open', () => {
      if (!this.#files.has(path) && path.includes('.'))
        this.#files.set(path, { text: '', mtime_ms: this.#loop.now_ms, ino: ++this.#inodes });
      const file = this.#files.get(path);
      return {
        appendFile: (text: string) =>
          this.#later('append', (is_alive) => this.#append(this.#get(path), text, is_alive)),
        datasync: () => this.#later('datasync', () => {}),
        sync: () => this.#later('sync', () => {}),
        stat: async () => ({ ino: file?.ino ?? 0, mtimeMs: file?.mtime_ms ?? 0 }),
        close: async () => {},
      };
    });
  }

  readdir(path: string): Promise<string[]> {
    return this.#later('readdir', () =>
      [...this.#files.keys()]
        .filter((name) => name.startsWith(`${path}/`))
        .map((name) => name.slice(path.length + 1)),
    );
  }
  readFile(path: string): Promise<string> {
    return this.#later('read', () => this.#get(path).text);
  }
  rename(from: string, to: string): Promise<void> {
    return this.#later('rename', () => this.move(from, to));
  }
  unlink(path: string): Promise<void> {
    return this.#later('unlink', () => {
      if (!this.#files.delete(path)) throw missing(path);
    });
  }
  stat(path: string): Promise<{ ino: number; mtimeMs: number }> {
    return this.#later('stat', () => {
      const { ino, mtime_ms } = this.#get(path);
      return { ino, mtimeMs: mtime_ms };
    });
  }
  utimes(path: string): Promise<void> {
    return this.#later('utimes', () => {
      this.#get(path).mtime_ms = this.#loop.now_ms;
    });
  }

  move(from: string, to: string): void {
    const file = this.#get(from);
    this.#files.delete(from);
    this.#files.set(to, file);
  }

  /** Paths of all files. */
  get paths(): readonly string[] {
    return [...this.#files.keys()];
  }

  /** Removes everything below `path`. */
  wipe(path: string): void {
    for (const name of this.paths) if (name.startsWith(path)) this.#files.delete(name);
  }
}

let mounted: Disk | null = null;

/** Lets paths below /sim/ lead to `disk`. */
export function mount(disk: Disk | null): void {
  mounted = disk;
}

/** Puts the disk of runs in front of the machine's, once. */
export function installFiles(): void {
  const named = ['open', 'readdir', 'readFile', 'rename', 'unlink', 'stat', 'utimes'] as const;
  for (const name of named) {
    const real = promises[name] as (...args: unknown[]) => unknown;
    const ours = (path: unknown, ...rest: unknown[]): unknown => {
      if (currentLoop() === null || mounted === null || !String(path).startsWith(PLACE))
        return real(path, ...rest);
      const found = mounted[name] as (...args: unknown[]) => unknown;
      return found.call(mounted, path, ...rest);
    };
    Object.assign(promises, { [name]: ours });
  }
  const realMkdir = promises.mkdir as (...args: unknown[]) => unknown;
  Object.assign(promises, {
    mkdir: (path: unknown, ...rest: unknown[]) =>
      String(path).startsWith(PLACE) ? Promise.resolve() : realMkdir(path, ...rest),
  });
  syncBuiltinESMExports();
}
