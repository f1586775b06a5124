// The trace of a route (docs/routing.md#the-trace) taken apart again, so that a page can draw it. The line is written
// by core/routing and is stable; what does not fit its grammar answers null and is shown as text.

export interface RouteTry {
  readonly outcome: string;
  readonly http_status: number;
  readonly ms: number;
}

export interface RouteEndpoint {
  readonly endpoint: string;
  /** Place in the plan, from 1; null when excluded. */
  readonly planned_at: number | null;
  readonly score: number | null;
  readonly excluded_by: string | null;
  readonly tries: readonly RouteTry[];
}

export interface Route {
  readonly policy: string;
  /** null for the built-in policy. */
  readonly version: string | null;
  readonly rule: string;
  readonly sort: string;
  readonly candidates: number;
  /** Planned ones in order of the plan, then excluded ones in order of the filters. */
  readonly endpoints: readonly RouteEndpoint[];
  /** Planned or excluded endpoints that the line had no room for. */
  readonly hidden: number;
  readonly winner: string | null;
  readonly reserve_micro: number;
}

interface List {
  readonly items: readonly string[][];
  readonly hidden: number;
}

function listOf(text: string | undefined): List {
  if (text === undefined || text === '-' || text === '') return { items: [], hidden: 0 };
  const parts = text.split(',');
  const last = parts.at(-1) as string;
  const hidden = last.startsWith('+') ? Number(last.slice(1)) : 0;
  const items = (hidden > 0 ? parts.slice(0, -1) : parts).map((part) => part.split(':'));
  return { items, hidden };
}

function triesOf(list: List): Map<string, RouteTry[]> {
  const by_endpoint = new Map<string, RouteTry[]>();
  for (const [endpoint = '', outcome = '', status = '', ms = ''] of list.items) {
    const tries = by_endpoint.get(endpoint) ?? [];
    tries.push({ outcome, http_status: Number(status), ms: Number(ms) });
    by_endpoint.set(endpoint, tries);
  }
  return by_endpoint;
}

/** The parts of a trace; null when `trace` is none. */
export function readRoute(trace: unknown): Route | null {
  if (typeof trace !== 'string' || !trace.startsWith('v1; ')) return null;
  const members = new Map(
    trace
      .split('; ')
      .slice(1)
      .map((part) => {
        const at = part.indexOf('=');
        return [part.slice(0, at), part.slice(at + 1)] as const;
      }),
  );
  const policy = members.get('policy');
  if (policy === undefined) return null;
  const slash = policy.lastIndexOf('/');
  const plan = listOf(members.get('plan'));
  const drop = listOf(members.get('drop'));
  const tries = triesOf(listOf(members.get('try')));
  const winner = members.get('win') ?? '-';
  return {
    policy: slash < 0 ? policy : policy.slice(0, slash),
    version: slash < 0 ? null : policy.slice(slash + 1),
    rule: members.get('rule') ?? '-',
    sort: members.get('sort') ?? '-',
    candidates: Number(members.get('cand') ?? 0),
    endpoints: [
      ...plan.items.map(([endpoint = '', score = ''], at) => ({
        endpoint,
        planned_at: at + 1,
        score: Number(score),
        excluded_by: null,
        tries: tries.get(endpoint) ?? [],
      })),
      ...drop.items.map(([endpoint = '', reason = '']) => ({
        endpoint,
        planned_at: null,
        score: null,
        excluded_by: reason,
        tries: [],
      })),
    ],
    hidden: plan.hidden + drop.hidden,
    winner: winner === '-' ? null : winner,
    reserve_micro: Number(members.get('reserve') ?? 0),
  };
}
