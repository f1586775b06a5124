// Processes that a run of the tests has left behind. They are known by a variable that each inherits from the run.
import { readdirSync, readFileSync } from 'node:fs';

const MARK = 'MAKE_TEST_RUN';

/** The variable, with a value of its own for the run of this process. */
export const mark: Readonly<Record<string, string>> = { [MARK]: String(process.pid) };

function find(): string[] {
  let pids: string[];
  try {
    pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    // Only Linux shows another process's variables.
    return [];
  }
  return pids.flatMap((pid) => {
    try {
      const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
      if (!variables.includes(`${MARK}=${mark[MARK]}`)) return [];
      return [`${pid} ${readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()}`];
    } catch {
      // It has ended, or it is another user's and none of ours.
      return [];
    }
  });
}

/** Number and command line of each process of the run that is still there when it should have ended, after 3 s at most. */
export async function leftovers(): Promise<string[]> {
  const deadline = performance.now() + 3_000;
  for (;;) {
    const found = find();
    if (found.length === 0 || performance.now() > deadline) return found;
    await new Promise((done) => setTimeout(done, 50));
  }
}
