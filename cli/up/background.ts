// What `make up` starts once the gateway answers: payment rail, workflow server, admin program and console, worker.
// No call waits for any of it. When a part cannot be started, a message says what to do, and everything else
// continues.
import { join } from 'node:path';
import { alone } from '../tools/lock.ts';
import { resolveTool } from '../tools/tools.ts';
import { localAddress } from './addresses.ts';
import { type ChildStart, logTail, startChild } from './child.ts';
import { lookAtConsole } from './console.ts';
import { Interrupted } from './interruption.ts';
import { Keeper, type Program, StartFailed } from './keeper.ts';
import {
  adminProgram,
  type Facts,
  portalProgram,
  railProgram,
  temporalProgram,
  workerProgram,
} from './programs.ts';
import { quietStep, say } from './progress.ts';
import { root, type Start } from './start.ts';

/** A part that cannot run. The message is printed and kept in up.json. */
class Lacking extends Error {}

const PREPARATION_STOP_MS = 2_000;

class Background {
  private readonly start: Start;
  private readonly facts: Facts;
  private readonly aborted = new AbortController();
  private readonly begun = performance.now();

  constructor(start: Start, facts: Facts) {
    this.start = start;
    this.facts = facts;
  }

  /** Starts nothing more, and ends whatever is only being prepared. */
  abort(): void {
    this.aborted.abort();
  }

  async run(): Promise<void> {
    const packages = this.packages();
    // Each part that waits for the packages reports what their failure means for it.
    packages.catch(() => {});
    const rails = this.rails();
    const portal = this.portal();
    const temporal = this.temporal();
    await Promise.all([rails, portal, temporal, this.admin(packages), this.worker(packages, temporal)]);
    if (!this.aborted.signal.aborted) this.conclude();
  }

  private check(): void {
    if (this.aborted.signal.aborted) throw new Interrupted();
  }

  private conclude(): void {
    const lacking = this.start.board.lacking();
    const seconds = ((performance.now() - this.begun) / 1000).toFixed(1);
    if (lacking.length === 0)
      say('all', `everything runs, ${seconds} s after the gateway; npx svcctl status`);
    else say('all', `without ${lacking.join(', ')}; npx svcctl status says why`);
  }

  /** Runs one part. When it fails for a known reason, that is printed, and nothing else ends. */
  private async part(name: string, address: string, work: () => Promise<void>): Promise<boolean> {
    const state = { name, address, pid: null, health_url: null };
    this.start.board.set({ ...state, state: 'starting', detail: 'waits for what it needs' });
    try {
      await work();
      return true;
    } catch (error) {
      if (this.aborted.signal.aborted || error instanceof Interrupted) return false;
      const detail = error instanceof Lacking ? error.message : ((error as Error).stack ?? String(error));
      say(name, `NOT RUNNING: ${detail}`);
      this.start.board.set({ ...state, state: 'missing', detail });
      return false;
    }
  }

  /** Starts a program and keeps it running, even when its first start fails. */
  private async launch(program: Program, words: string): Promise<void> {
    this.check();
    const keeper = new Keeper(program, this.start);
    this.start.stops.push({ name: program.name, run: () => keeper.stop() });
    try {
      await quietStep(program.name, 'starting', async () => {
        await keeper.start();
        return { done: `ready: ${words}` };
      });
    } catch (error) {
      if (!(error instanceof StartFailed)) throw error;
      this.check();
      say(program.name, error.message);
    }
    keeper.keep();
  }

  /** Runs something until it ends, at a low priority. @throws Lacking with the end of its output. */
  private async runToEnd(
    name: string,
    start: Omit<ChildStart, 'cwd' | 'nice'>,
    advice: string,
  ): Promise<void> {
    const { board } = this.start;
    this.check();
    const child = await startChild(name, { ...start, cwd: root, nice: 10 });
    board.started(name, child.pid);
    let limit: NodeJS.Timeout | undefined;
    const end = () => {
      child.signal('SIGTERM');
      limit = setTimeout(() => child.signal('SIGKILL'), PREPARATION_STOP_MS);
    };
    this.aborted.signal.addEventListener('abort', end);
    const how = await child.ended;
    clearTimeout(limit);
    this.aborted.signal.removeEventListener('abort', end);
    board.ended(name);
    // Its children may have reacted to the first signal more slowly.
    if (this.aborted.signal.aborted) child.signal('SIGKILL');
    this.check();
    if (how !== 'exit code 0')
      throw new Lacking(
        `${advice} (${how}); start again once that is mended. The end of ${start.log}:\n${logTail(start.log, 8)}`,
      );
  }

  /** Adds the packages of the further programs to those that are installed; changes no package that is there. */
  private async packages(): Promise<void> {
    const install = join(root, 'cli/bin/install.mjs');
    const env = { ...process.env };
    await quietStepUnlessShort('packages', 'adding those of admin, console and worker', () =>
      this.runToEnd(
        'npm',
        { args: [install, 'programs', '--add'], env, log: join(this.facts.dataDir, 'log/packages.log') },
        'their packages could not be installed',
      ),
    );
  }

  private rails(): Promise<boolean> {
    const program = railProgram(this.facts);
    if (program === null) {
      say('rails', 'those of SVC_RAIL_A_* and SVC_RAIL_B_*');
      return Promise.resolve(true);
    }
    return this.part('rails', program.address, () =>
      this.launch(program, `http://${program.address} (simulated payments)`),
    );
  }

  private portal(): Promise<boolean> {
    const program = portalProgram(this.facts);
    if (program === null) return Promise.resolve(true);
    return this.part('portal', program.address, () =>
      this.launch(program, `http://${program.address} (simulated registration of documents)`),
    );
  }

  private temporal(): Promise<boolean> {
    const { temporal, temporal_ui } = this.facts.addresses;
    if (!temporal.is_own) {
      say('temporal', `the one of SVC_TEMPORAL_ADDRESS, ${temporal.address}`);
      const state = { name: 'temporal', state: 'ready', pid: null, health_url: null, detail: null } as const;
      this.start.board.set({ ...state, address: temporal.address }, { temporal_address: temporal.address });
      return Promise.resolve(true);
    }
    return this.part('temporal', temporal.address, async () => {
      const { path } = await resolveTool(
        'temporal',
        (line) => say('temporal', line),
        this.aborted.signal,
      ).catch((error: Error) => {
        throw new Lacking(
          `${error.message}\n           Workflows wait; calls and payments do not. Run \`make tools\` and start ` +
            'again, or name a\n           program with SVC_TEMPORAL_BIN or a server with SVC_TEMPORAL_ADDRESS.',
        );
      });
      this.check();
      const words = `${temporal.address}, pages http://127.0.0.1:${temporal_ui}`;
      await this.launch(temporalProgram(this.facts, path), words);
    });
  }

  private admin(packages: Promise<void>): Promise<boolean> {
    const { config, addresses } = this.facts;
    return this.part('admin', `${config.host}:${addresses.admin}`, async () => {
      const taken = addresses.taken['admin'];
      if (taken !== undefined) throw new Lacking(taken);
      await packages;
      await this.console();
      const [console_url, staff_url] = [addresses.admin, addresses.staff].map((port) =>
        localAddress(config, port),
      );
      const words = `${console_url} (console), ${staff_url} (staff)`;
      await this.launch(await adminProgram(this.facts), words);
    });
  }

  /** Builds the console when needed. The admin program also runs without one. */
  private async console(): Promise<void> {
    try {
      if (lookAtConsole() === 'current') return;
      await quietStep('console', 'building', async () => {
        const turn = {
          onWait: () => say('console', 'another build of it runs; waiting'),
          signal: this.aborted.signal,
        };
        await alone(`console ${root}`, turn, async () => {
          if (lookAtConsole() === 'current') return;
          const log = join(this.facts.dataDir, 'log/console.log');
          const args = [join(root, 'console/build.ts'), '--quiet'];
          await this.runToEnd('console', { args, env: { ...process.env }, log }, 'it could not be built');
        });
        return { done: 'built' };
      });
    } catch (error) {
      if (!(error instanceof Lacking)) throw error;
      say('console', error.message);
    }
  }

  private worker(packages: Promise<void>, temporal: Promise<boolean>): Promise<boolean> {
    const { address } = workerProgram(this.facts, true);
    return this.part('worker', address, async () => {
      const has_temporal = (await Promise.all([temporal, packages]))[0];
      const words = has_temporal ? 'runs workflows and jobs' : 'runs jobs; workflows wait for Temporal';
      await this.launch(workerProgram(this.facts, has_temporal), `${words}, health http://${address}/readyz`);
    });
  }
}

/** Like `quietStep`, but prints nothing when the step took at most a second. */
async function quietStepUnlessShort(name: string, doing: string, work: () => Promise<void>): Promise<void> {
  const began = performance.now();
  const first = setTimeout(() => say(name, doing), 1_000);
  const ticker = setInterval(
    () => say(name, `${doing}, ${Math.round((performance.now() - began) / 1000)} s`),
    10_000,
  );
  try {
    await work();
    const seconds = (performance.now() - began) / 1000;
    if (seconds > 1) say(name, `there (${seconds.toFixed(1)} s)`);
  } finally {
    clearTimeout(first);
    clearInterval(ticker);
  }
}

/** Starts the further programs. A failure of theirs never fails the start. */
export function startBackground(start: Start, facts: Facts): { abort(): void } {
  const background = new Background(start, facts);
  const { promise: parts, resolve } = Promise.withResolvers<void>();
  // Pushed before the parts push theirs, so it runs after them: stopping waits until all preparation has ended.
  start.stops.push({ name: 'preparations', quiet: true, run: () => parts });
  background
    .run()
    .catch((error: Error) => say('all', error.stack ?? String(error)))
    .finally(resolve);
  return background;
}
