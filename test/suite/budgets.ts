// The budgets of processor time in test/README.md, per part of the tests. A run that exceeds one prints a line, so
// that whoever adds to a part sees what it costs now. Exceeding a budget fails nothing, because a slow machine is no
// defect.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Durations } from './durations.ts';
import { root } from './parts.ts';

/** Processor seconds by folder; a file belongs to the longest folder that contains it. */
export type Budgets = ReadonlyMap<string, number>;

/** The rows of the table: "| `core/ledger` | 20 | … |". @throws Error where a part has two. */
export function parseBudgets(text: string): Budgets {
  const budgets = new Map<string, number>();
  for (const [, folder = '', seconds] of text.matchAll(/^\| `([\w/.-]+)` \| (\d+) \|/gm)) {
    if (budgets.has(folder)) throw new Error(`${folder} has two budgets`);
    budgets.set(folder, Number(seconds));
  }
  return budgets;
}

export function readBudgets(): Budgets {
  return parseBudgets(readFileSync(join(root, 'test/README.md'), 'utf8'));
}

/** The part that `file` belongs to; null when it belongs to none. */
export function partOf(file: string, budgets: Budgets): string | null {
  let longest: string | null = null;
  for (const folder of budgets.keys()) {
    if (file.startsWith(`${folder}/`) && folder.length > (longest?.length ?? 0)) longest = folder;
  }
  return longest;
}

/** A line for each part that took more than its budget. A part is skipped unless `files` holds every file of it. */
export function exceeded(
  budgets: Budgets,
  durations: Durations,
  every: readonly string[],
  files: readonly string[],
): string[] {
  const ran = new Set(files);
  const spent_ms = new Map<string, number>();
  const whole = new Set(budgets.keys());
  for (const file of every) {
    const part = partOf(file, budgets);
    if (part === null) continue;
    if (ran.has(file)) spent_ms.set(part, (spent_ms.get(part) ?? 0) + (durations[file]?.cpu_ms ?? 0));
    else whole.delete(part);
  }
  return [...whole].flatMap((part) => {
    const seconds = Math.round((spent_ms.get(part) ?? 0) / 1000);
    const budget = budgets.get(part) as number;
    if (seconds <= budget) return [];
    return [
      `${part} took ${seconds} s of processor time, ${seconds - budget} s more than its budget of ${budget} s`,
    ];
  });
}
