// Puts the thread pool behind the event loop. On few processors its threads otherwise take turns with the loop as equals: four
// large bodies being decompressed leave it a fifth of a processor, and every call waits. The engine's own threads stay equal:
// they compile, and a loop that starves its compiler runs at a third of its speed for minutes.
import { readdir, readFile } from 'node:fs/promises';
import { setPriority } from 'node:os';

/** As the threads of the pool call themselves. */
const POOL = 'libuv-worker';
/**
 * Beside a busy event loop a thread gets a tenth of what the loop gets. Where the loop waits for it, the processor is the
 * thread's.
 */
const BEHIND = 10;
const TASKS = '/proc/self/task';

/** The pool's threads. To list them is itself work of the pool, so that they exist. */
async function listPool(): Promise<number[]> {
  const found: number[] = [];
  for (const task of await readdir(TASKS)) {
    const name = await readFile(`${TASKS}/${task}/comm`, 'utf8');
    if (name.trim() === POOL) found.push(Number(task));
  }
  return found;
}

/** Lowers their priority; does nothing where the system has no such list, or allows no change. */
export async function lowerPoolPriority(): Promise<void> {
  const pool = await listPool().catch(() => []);
  for (const thread of pool) {
    try {
      setPriority(thread, BEHIND);
    } catch {
      // The calls are served as well without it.
    }
  }
}
