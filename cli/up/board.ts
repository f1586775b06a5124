// The state of each program, kept where others can read it: up.json for scripts and `svcctl status`, children.json
// for whatever has to end the programs that a killed `make up` left behind.
import { recordChildren } from './child.ts';
import { type ProgramState, type UpBase, type UpFields, writeUpFile } from './up-file.ts';

export class Board {
  private readonly dataDir: string;
  private readonly programs = new Map<string, ProgramState>();
  /** Everything that runs, ready or not, including helpers such as npm. */
  private readonly running = new Map<string, number>();
  private base: UpBase | null = null;
  private fields: UpFields = {};

  constructor(dataDir: string) {
    this.dataDir = dataDir;
  }

  /** Records that a program with this pid runs. */
  started(name: string, pid: number): void {
    this.running.set(name, pid);
    recordChildren(
      this.dataDir,
      [...this.running].map(([name, pid]) => ({ name, pid })),
    );
  }

  /** Records that it has ended. */
  ended(name: string): void {
    this.running.delete(name);
  }

  /** Records the state of a program; `fields` are added to up.json. */
  set(state: ProgramState, fields: UpFields = {}): void {
    this.programs.set(state.name, state);
    this.fields = { ...this.fields, ...fields };
    this.write();
  }

  /** Called when the gateway can be called: from then on up.json exists. */
  announce(base: UpBase): void {
    this.base = base;
    this.write();
  }

  /** Removes up.json; later changes do not write it again. */
  withdraw(): void {
    this.base = null;
  }

  /** Names of the programs that are not ready. */
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
