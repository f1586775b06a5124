// The files that the tidy rules read, and what the rules report.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));

/** A file of the repository: its path from the top, with forward slashes, and its text. */
export interface Source {
  readonly path: string;
  readonly text: string;
}

/** A place that breaks a rule. */
export interface Fault {
  readonly path: string;
  readonly line: number;
  readonly message: string;
}

/** A rule reads sources and returns the places that break it. */
export type Rule = (sources: readonly Source[]) => Fault[];

const SKIPPED = new Set(['node_modules', '.git', '.svc', '.cache', 'coverage', 'dist', 'dist-staff']);
/** Written by tools and kept out of git. */
const GENERATED = new Set(['console/src/api/gen']);
const TEXT = /\.(ts|tsx|js|mjs|sql|md|json|graphql|ya?ml|sh)$|(^|\/)(Makefile|\.gitignore|\.npmrc|run)$/;

function walk(folder: string, prefix: string, into: Source[]): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = prefix + entry.name;
    if (entry.isDirectory()) {
      if (!SKIPPED.has(entry.name) && !GENERATED.has(path)) walk(join(folder, entry.name), `${path}/`, into);
    } else if (TEXT.test(path) && entry.name !== 'package-lock.json') {
      into.push({ path, text: readFileSync(join(folder, entry.name), 'utf8') });
    }
  }
}

/** Every text file of the repository that people write. */
export function readSources(): Source[] {
  const sources: Source[] = [];
  walk(root, '', sources);
  return sources;
}

/** Whether `path` is TypeScript that runs in production: not a test, not a simulator, not a tool of tests. */
export function isProduction(path: string): boolean {
  return (
    path.endsWith('.ts') && !/(\.test|(^|\/)(testing|test-kit))\.ts$/.test(path) && !path.startsWith('test/')
  );
}

/** The line, from 1, that offset `at` of `text` is on. */
export function lineAt(text: string, at: number): number {
  let line = 1;
  for (let i = text.indexOf('\n'); i !== -1 && i < at; i = text.indexOf('\n', i + 1)) line++;
  return line;
}

/** A fault for every match of `pattern` (with the g flag) in `text`, which may be the file's text made blank in parts. */
export function faultsOf(source: Source, text: string, pattern: RegExp, message: string): Fault[] {
  return [...text.matchAll(pattern)].map((match) => ({
    path: source.path,
    line: lineAt(text, match.index),
    message: `${message}: ${match[0].trim().split('\n')[0]?.slice(0, 60)}`,
  }));
}

/** One fault a line, as a failing test shows them. */
export function shown(faults: readonly Fault[]): string[] {
  return faults.map((fault) => `${fault.path}:${fault.line} ${fault.message}`);
}
