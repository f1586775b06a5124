// Finds processes that a test run has left behind. They are recognised by an environment variable that each inherits
// from the run.
import { readdirSync, readFileSync } from 'node:fs';

const MARK = 'MAKE_TEST_RUN';

/** The variable, with a value that is unique to this run. */
export const mark: Readonly<Record<string, string>> = { [MARK]: String(process.pid) };

function find(): string[] {
  let pids: string[];
  try {
    pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    // Only on Linux can another process's environment be read.
    return [];
  }
  return pids.flatMap((pid) => {
    try {
      const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
      if (!variables.includes(`${MARK}=${mark[MARK]}`)) return [];
      return [`${pid} ${readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()}`];
    } catch {
      // It has ended, or belongs to another user.
      return [];
    }
  });
}

/** Pid and command line of each process of the run that has not ended yet; waits up to 3 s for them. */
export async function leftovers(): Promise<string[]> {
  const deadline = performance.now() + 3_000;
  for (;;) {
    const found = find();
    if (found.length === 0 || performance.now() > deadline) return found;
    await new Promise((done) => setTimeout(done, 50));
  }
}
