// Many open top-ups and mandates, and what they cost: histories, latency of tasks, Temporal's database, memory of a worker.
// `make workflows-many COUNT=…` does it with as many as the machine takes; here with a few, to hold what is promised of them.
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { machineMs } from '@svc/core/kernel/index.ts';
import proto from '@temporalio/proto';
import { expect, test } from 'vitest';
import { atFileEnd } from '../support/ends.ts';
import { startTemporal } from '../support/temporal.ts';
import { events } from '../topups/world.ts';
import { readHistory } from '../workflows/history.ts';
import { connect, startWorkflowWorld, until } from '../workflows/world.ts';
import { readFigures, spanOf } from './figures.ts';
import { seedPending } from './seed.ts';

const COUNT = Number(process.env['WORKFLOWS'] ?? 60);
const PATIENCE_MS = Number(process.env['WORKFLOWS_SECONDS'] ?? 60) * 1_000;
const ENCRYPT = process.env['WORKFLOWS_ENCRYPT'] === '1' ? { SVC_TEMPORAL_ENCRYPT: '1' } : {};
/** Beyond this Temporal would ask for a history to begin anew. */
const EVENTS_MAX = 4_096;
const PAID = Math.min(200, Math.ceil(COUNT / 6));
const { History } = proto.temporal.api.history.v1;

const say = (text: string) => process.stdout.write(`${text}\n`);
const dir = mkdtempSync(join(tmpdir(), 'svc-many-'));
atFileEnd(async () => rmSync(dir, { recursive: true, force: true }));
/** Bytes of Temporal's database; the files beside it, SQLite's journal for one, come and go meanwhile. */
const sizeOf = () =>
  readdirSync(dir).reduce(
    (sum, name) =>
      sum + (name.endsWith('-shm') ? 0 : (statSync(join(dir, name), { throwIfNoEntry: false })?.size ?? 0)),
    0,
  );

test('the history of each way to the end is far below what Temporal allows', () => {
  const home = new URL('../../workflows/', import.meta.url).pathname;
  const folders = readdirSync(home, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  for (const { name } of folders) {
    const path = join(home, name, 'histories');
    const files = readdirSync(join(home, name)).includes('histories') ? readdirSync(path) : [];
    for (const file of files) {
      const history = readHistory(join(path, file));
      const bytes = History.encode(history).finish().length;
      say(`history ${name}/${file}: ${history.events?.length} events, ${bytes} bytes`);
      expect(history.events?.length).toBeLessThan(EVENTS_MAX);
    }
  }
});

test(
  'open top-ups and mandates are opened, followed and ended, each once',
  async () => {
    const world = await startWorkflowWorld();
    const temporal = await startTemporal({ db_file: join(dir, 'temporal.db'), unsynced: true });
    atFileEnd(() => temporal.stop());
    const client = await connect(temporal);
    const mandates = Math.floor(COUNT / 4);
    const made = await seedPending(world, { topups: COUNT - mandates, mandates });
    const all = COUNT + 2;
    const bytes_before = sizeOf();
    const began_ms = machineMs();
    const worker = await world.worker(temporal.address, ENCRYPT);
    const [, url] = /"url":"([^"]+)"/.exec(worker.output()) as RegExpExecArray;
    const figures = () => readFigures(url as string);
    const open = async () => (await client.workflow.count(`ExecutionStatus = 'Running'`)).count;
    let looked_ms = 0;
    let shown_ms = machineMs();
    // A top-up is read and asked for at the rail, a mandate is read and, when it is old enough, asked for.
    const done = await until(
      'every run waits',
      async () => {
        // A look is work for the worker too.
        if (machineMs() - looked_ms < 1_000) return null;
        looked_ms = machineMs();
        const now = await figures();
        const opened = await open();
        if (looked_ms - shown_ms > 20_000) {
          shown_ms = looked_ms;
          say(
            `${opened} of ${all} open, ${now.activities} steps done, ${Math.round(now.rss_bytes / 1e6)} MB`,
          );
        }
        return now.activities >= 2 * (all - mandates) - 2 && opened >= all ? now : null;
      },
      PATIENCE_MS,
    );
    const opened_s = (machineMs() - began_ms) / 1_000;
    const bytes_open = sizeOf();
    say(`${all} opened in ${opened_s.toFixed(0)} s: ${(all / opened_s).toFixed(0)} runs a second`);
    say(`while opening: ${spanOf(null, done)}`);
    say(`database of Temporal: ${Math.round((bytes_open - bytes_before) / all)} bytes an open run`);

    const paid = made.topups.slice(0, PAID);
    const sent_ms = machineMs();
    for (const id of paid) {
      const topup = await world.read(id);
      await world.deliver(events.completed(topup, { payment: world.pay(topup) }));
    }
    const ended = () =>
      client.workflow
        .count(`ExecutionStatus = 'Completed' AND WorkflowType = 'topUp'`)
        .then(({ count }) => count);
    await until('the paid ones ended', async () => (await ended()) >= PAID, PATIENCE_MS);
    const after = await figures();
    say(`${PAID} of them paid and ended in ${((machineMs() - sent_ms) / 1_000).toFixed(1)} s`);
    say(`meanwhile: ${spanOf(done, after)}`);
    say(
      `worker: ${Math.round(after.rss_bytes / 1e6)} MB resident, at most ${Math.round(after.peak_bytes / 1e6)} MB`,
    );
    for (const [name, id] of [
      ['a top-up that waits', `topup-${made.topups.at(-1)}`],
      ['a mandate that waits', `mandate-${made.mandates.at(-1)}`],
      ['a top-up that was paid', `topup-${paid[0]}`],
    ] as const) {
      const { historyLength, historySize } = await client.workflow
        .getHandle(id)
        .describe()
        .catch(() => ({
          ...{ historyLength: 0, historySize: 0 },
        }));
      say(`${name}: ${historyLength} events, ${historySize} bytes`);
    }
    expect(await open()).toBe(all - PAID);
    const failed = await client.workflow.count(`ExecutionStatus = 'Failed'`);
    expect(failed.count).toBe(0);
    const rows = await world.rows<{ n: number }>(
      `select count(*)::int as n from topup where status = 'paid'`,
    );
    expect(rows).toEqual([{ n: PAID }]);
    expect(statSync(join(dir, 'temporal.db')).size).toBeGreaterThan(0);
    await worker.stop();
  },
  2 * PATIENCE_MS + 120_000,
);
