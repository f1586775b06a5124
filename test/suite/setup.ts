// Runs before every test file. When the file ends, everything it opened is closed, and the clock, timers and
// environment of the process are restored for the next file. The answers that gateways gave are checked against the
// OpenAPI document. The reporter learns how much processor time the file took.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { shiftClock } from '@svc/core/kernel/clock.ts';
import { afterAll, inject, vi } from 'vitest';
import { askForFaults } from '../answers/host.ts';
import { recordAnswers, VARIABLE } from '../answers/record.ts';
import { endFile } from '../support/ends.ts';
import type {} from '../support/shared-gateway.ts';
import './durations.ts';

const MS_PER_TICK = 10;

declare global {
  /** Processor time of this process that earlier files have used. */
  var reported_cpu_ms: number | undefined;
}

/** Processor time of a process and of its children that have ended; 0 where /proc is not available. */
function spentBy_ms(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The fields after the command name, which may contain spaces: state is the first, user time the twelfth, then
    // system time and the two times of the children.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * MS_PER_TICK;
  } catch {
    return 0;
  }
}

/** Of this process, and of those that serve gateways to the files that share it. */
function spent_ms(): number {
  const hosts = [...(globalThis.gateway_hosts ?? [])].flatMap(({ child: { pid } }) => pid ?? []);
  return [process.pid, ...hosts].reduce((sum, pid) => sum + spentBy_ms(pid), 0);
}

const answers = mkdtempSync(join(tmpdir(), 'svc-answers-'));
process.env[VARIABLE] = answers;
recordAnswers();
const variables = { ...process.env };

/** @throws Error when an answer does not match /openapi.json. */
async function checkAnswers(): Promise<void> {
  try {
    const faults = readdirSync(answers).length === 0 ? [] : await askForFaults(inject('answers'), answers);
    if (faults.length > 0) throw new Error(`answers against the document:\n${faults.join('\n')}`);
  } finally {
    rmSync(answers, { recursive: true, force: true });
  }
}

// Hooks run in reverse order of registration, so the file's own hooks have already stopped what they started.
// biome-ignore lint/correctness/noEmptyPattern: vitest reads the pattern to learn which fixtures the hook wants.
afterAll(async ({}, file) => {
  try {
    await endFile();
  } finally {
    vi.useRealTimers();
    shiftClock(0);
    for (const name of Object.keys(process.env)) if (!(name in variables)) delete process.env[name];
    Object.assign(process.env, variables);
    const spent = spent_ms();
    file.meta.cpu_ms = spent - (globalThis.reported_cpu_ms ?? 0);
    globalThis.reported_cpu_ms = spent;
  }
  await checkAnswers();
});
