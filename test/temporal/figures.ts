// Figures of a worker, read from its metrics listener.
const WORKFLOW = 'temporal_workflow_task_schedule_to_start_latency_seconds';
const TASK = 'temporal_workflow_task_execution_latency_seconds';
const ACTIVITY = 'temporal_activity_schedule_to_start_latency_seconds';

/** Upper bound of a bucket in seconds → how many were in it or below. */
type Buckets = ReadonlyMap<number, number>;

interface Figures {
  readonly activities: number;
  readonly rss_bytes: number;
  readonly peak_bytes: number;
  readonly latencies: Readonly<Record<string, Buckets>>;
}

let peak_bytes = 0;

function sum(text: string, line: RegExp): number {
  return [...text.matchAll(line)].reduce((total, [, value]) => total + Number(value), 0);
}

function bucketsOf(text: string, name: string): Buckets {
  const found = new Map<number, number>();
  for (const [, labels, value] of text.matchAll(new RegExp(`^${name}_bucket\\{(.*)\\} (\\S+)$`, 'gm'))) {
    const le = /le="([^"]+)"/.exec(labels as string)?.[1] ?? '+Inf';
    const bound = le === '+Inf' ? Infinity : Number(le);
    found.set(bound, (found.get(bound) ?? 0) + Number(value));
  }
  return found;
}

/** What the worker at `url` says of itself now. */
export async function readFigures(url: string): Promise<Figures> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const rss_bytes = sum(text, /^process_resident_memory_bytes(?:\{.*\})? (\S+)$/gm);
  peak_bytes = Math.max(peak_bytes, rss_bytes);
  const latencies = Object.fromEntries(
    [WORKFLOW, TASK, ACTIVITY].map((name) => [name, bucketsOf(text, name)]),
  );
  const activities = sum(text, /^svc_activities_total\{.*outcome="done".*\} (\S+)$/gm);
  return { activities, rss_bytes, peak_bytes, latencies };
}

/** The value below which `part` of what came between two readings was, at most. */
function quantile(before: Buckets | undefined, after: Buckets, part: number): string {
  const counts = [...after]
    .sort(([a], [b]) => a - b)
    .map(([le, n]) => [le, n - (before?.get(le) ?? 0)] as const);
  const total = counts.at(-1)?.[1] ?? 0;
  const found = counts.find(([, n]) => n >= part * total);
  return total === 0 || found === undefined ? 'none' : `≤ ${found[0] * 1_000} ms`;
}

/** Latencies between two readings, in words. */
export function spanOf(before: Figures | null, after: Figures): string {
  const names = { [WORKFLOW]: 'workflow tasks wait', [TASK]: 'take', [ACTIVITY]: 'activities wait' };
  return Object.entries(names)
    .map(([name, words]) => {
      const [from, to] = [before?.latencies[name], after.latencies[name] as Buckets];
      return `${words} p50 ${quantile(from, to, 0.5)}, p99 ${quantile(from, to, 0.99)}`;
    })
    .join('; ');
}
