// Which program is in which state, kept where others read it: up.json for scripts and `svcctl status`, children.json
// for whoever has to end what a killed `make up` left behind.
import { recordChildren } from './child.ts';
import { type ProgramState, type UpBase, type UpFields, writeUpFile } from './up-file.ts';

export class Board {
  private readonly dataDir: string;
  private readonly programs = new Map<string, ProgramState>();
  /** Everything that runs, ready or not, helpers such as npm included. */
  private readonly running = new Map<string, number>();
  private base: UpBase | null = null;
  private fields: UpFields = {};

  constructor(dataDir: string) {
    this.dataDir = dataDir;
  }

  /** Something with this pid runs. */
  started(name: string, pid: number): void {
    this.running.set(name, pid);
    recordChildren(
      this.dataDir,
      [...this.running].map(([name, pid]) => ({ name, pid })),
    );
  }

  /** It has ended. */
  ended(name: string): void {
    this.running.delete(name);
  }

  /** Says how it is with a program; `fields` are added to up.json. */
  set(state: ProgramState, fields: UpFields = {}): void {
    this.programs.set(state.name, state);
    this.fields = { ...this.fields, ...fields };
    this.write();
  }

  /** From here on there is an up.json: the gateway can be called. */
  announce(base: UpBase): void {
    this.base = base;
    this.write();
  }

  /** No up.json any more, whatever still changes. */
  withdraw(): void {
    this.base = null;
  }

  /** Names of programs that are not as they should be. */
  lacking(): string[] {
    return [...this.programs.values()].filter(({ state }) => state !== 'ready').map(({ name }) => name);
  }

  private write(): void {
    if (this.base === null) return;
    const programs = [...this.programs.values()];
    const processes = programs.flatMap(({ name, pid, address, state }) =>
      state === 'ready' && pid !== null ? [{ name, pid, address }] : [],
    );
    writeUpFile(this.dataDir, { ...this.base, ...this.fields, processes, programs });
  }
}
