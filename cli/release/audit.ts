// Asks the registry of npm for known vulnerabilities of the packages that programs are made of. A registry without advisories
// (mirrors often have none) leaves the answer open.
import { isObject, type JsonObject } from '@svc/core/kernel/index.ts';
import { type Ran, ran } from './run.ts';

/** A vulnerability that does not reach our programs, until a day on which it is looked at again. */
interface Accepted {
  /** As in the address of the advisory: `GHSA-…`. */
  readonly advisory: string;
  /** `YYYY-MM-DD`. */
  readonly until: string;
  readonly why: string;
}
const ACCEPTED: readonly Accepted[] = [];

/** What counts: a low or moderate one is told by `npm audit` and fails nothing. */
const COUNTED = ['high', 'critical'];

export type Audit =
  | { readonly kind: 'answered'; readonly faults: readonly string[] }
  /** The registry did not answer, and why. */
  | { readonly kind: 'open'; readonly why: string };

function advisoriesOf(entry: JsonObject): JsonObject[] {
  // A text names another package of the report that brings the vulnerability in.
  return (Array.isArray(entry['via']) ? entry['via'] : []).filter(isObject);
}

function faultOf(name: string, { severity, title, url, range }: JsonObject): string {
  return `${name} ${range}: ${severity}, ${title} (${url})`;
}

/** What `npm audit --json` printed, read; on `today` (`YYYY-MM-DD`). */
export function readAudit({ stdout, stderr }: Ran, today: string, accepted = ACCEPTED): Audit {
  let report: unknown;
  try {
    report = JSON.parse(stdout);
  } catch {
    return { kind: 'open', why: (stderr || stdout).trim().split('\n')[0] ?? '' };
  }
  if (!isObject(report) || !isObject(report['vulnerabilities'])) {
    const said = isObject(report) ? (report['message'] ?? report['error']) : report;
    return { kind: 'open', why: typeof said === 'string' ? said : JSON.stringify(said) };
  }
  const open = new Set(accepted.filter(({ until }) => until > today).map(({ advisory }) => advisory));
  const faults = Object.entries(report['vulnerabilities']).flatMap(([name, entry]) =>
    advisoriesOf(entry as JsonObject)
      .filter(({ severity }) => COUNTED.includes(String(severity)))
      .filter(({ url }) => !open.has(String(url).split('/').at(-1) ?? ''))
      .map((advisory) => faultOf(name, advisory)),
  );
  return { kind: 'answered', faults: [...new Set(faults)].sort() };
}

/** Asks about what the programs of `root`, a clone, need at run time. */
export function askAudit(root: string, env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  return ran('npm', ['audit', '--omit=dev', '--package-lock-only', '--json'], { cwd: root, env });
}
