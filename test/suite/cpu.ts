// Setup of every test file: tells the reporter how much processor time the file has taken.
import { readFileSync } from 'node:fs';
import { afterAll } from 'vitest';
import './durations.ts';

const MS_PER_TICK = 10;

/** Processor time of this process so far, and of the children whose end it has seen; 0 where /proc does not tell. */
function spent_ms(): number {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    // After the name, which may hold spaces: state is the first, user time the twelfth, then system and both of children.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * MS_PER_TICK;
  } catch {
    return 0;
  }
}

// The hook that was made first runs last: the file's own have stopped by then what they had started.
// biome-ignore lint/correctness/noEmptyPattern: vitest reads the pattern to learn which fixtures the hook wants.
afterAll(({}, file) => {
  file.meta.cpu_ms = spent_ms();
});
