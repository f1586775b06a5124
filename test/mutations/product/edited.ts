// The program CRASH_ENTRY with one place of its sources changed as they are loaded: CRASH_EDIT is a `SourceEdit`.
import { registerHooks } from 'node:module';
import type { SourceEdit } from '../../crash/world.ts';

const { file, from, to } = JSON.parse(process.env['CRASH_EDIT'] ?? '') as SourceEdit;
let edited = false;

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    if (!url.endsWith(`/${file}`)) return loaded;
    const source = String(loaded.source);
    // An edit that changes nothing, or more than is meant, proves nothing.
    if (source.split(from).length !== 2) throw new Error(`${file} does not hold this once: ${from}`);
    edited = true;
    return { ...loaded, source: source.replace(from, () => to) };
  },
});

await import(process.env['CRASH_ENTRY'] ?? '');
process.once('exit', () => {
  if (!edited) process.stderr.write(`${file} was never loaded\n`);
});
