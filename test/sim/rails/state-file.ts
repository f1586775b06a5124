// What the rail knows, in a file: a simulator that `make up` starts again still has the sessions that the service waits
// for.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';

type Maps = Readonly<Record<string, Map<string, unknown>>>;

/** Fills `maps` with what the file has; nothing where there is no file yet. @throws Error when it cannot be read. */
export function readState(file: string, maps: Maps): void {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return;
    throw error;
  }
  const kept = JSON.parse(text) as Record<string, [string, unknown][]>;
  for (const [name, map] of Object.entries(maps))
    for (const [key, value] of kept[name] ?? []) map.set(key, value);
}

/** Replaces the file; a reader sees the old one or the new one. */
export function writeState(file: string, maps: Maps): void {
  const kept = Object.fromEntries(Object.entries(maps).map(([name, map]) => [name, [...map]]));
  writeFileSync(`${file}.new`, JSON.stringify(kept));
  renameSync(`${file}.new`, file);
}
