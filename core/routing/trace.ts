// The route in one line (4.9.5): stable fields in a stable order, at most 1,024 bytes, so that it fits a header.
import type { RoutePlan } from './types.ts';

const BYTES_MAX = 1_024;

export interface TraceTry {
  readonly endpoint_id: string;
  /** Outcome, or the class of the fault. */
  readonly outcome: string;
  readonly http_status: number;
  /** To the first event. */
  readonly ms: number;
}

export interface TraceFacts {
  /** `name/version`; `default` for the built-in policy. */
  readonly policy: string;
  readonly rule: string;
  /** null before the attempts (dry run): `try` and `win` are then left out. */
  readonly tries: readonly TraceTry[] | null;
  readonly win: string | null;
  readonly reserve_micro_usd: number;
}

/** A list that can be cut from its end; shows how many items are not shown. */
interface Cut {
  readonly items: readonly string[];
  shown: number;
}

function text(list: Cut): string {
  if (list.items.length === 0) return '-';
  const hidden = list.items.length - list.shown;
  if (hidden === 0 && list.shown === 1) return list.items[0] as string;
  const shown = list.items.slice(0, list.shown).join(',');
  if (hidden === 0) return shown;
  return shown === '' ? `+${hidden}` : `${shown},+${hidden}`;
}

const CLEAN = /^[A-Za-z0-9._/-]{1,100}$/;

/** Only what cannot be taken for a separator; policy and rule names are short by their grammar. */
function word(value: string): string {
  if (CLEAN.test(value)) return value;
  const clean = value.replaceAll(/[^A-Za-z0-9._/-]/g, '_').slice(0, 100);
  return clean === '' ? '-' : clean;
}

function cut(items: readonly string[]): Cut {
  return { items, shown: items.length };
}

function tryText({ endpoint_id, outcome, http_status, ms }: TraceTry): string {
  return `${endpoint_id}:${word(outcome)}:${http_status}:${Math.round(ms)}`;
}

/** The trace of `route`; ASCII, at most 1,024 bytes: the longest list is cut first and ends `+N`. */
export function traceLine(
  route: Pick<RoutePlan, 'plan' | 'spare' | 'excluded' | 'sort'>,
  facts: TraceFacts,
): string {
  const drop = cut(route.excluded.map((item) => `${item.endpoint_id}:${item.reason}`));
  const plan = cut(route.plan.map((item) => `${item.endpoint.id}:${item.score.toFixed(3)}`));
  const tries = cut(facts.tries === null ? [] : facts.tries.map(tryText));
  const candidates = route.plan.length + route.spare.length + route.excluded.length;
  const head =
    `v1; policy=${word(facts.policy)}; rule=${word(facts.rule)}; sort=${route.sort}; arm=-; canary=0; ` +
    `aff=-; cand=${candidates}`;
  const write = () => {
    const tried = facts.tries === null ? '' : `; try=${text(tries)}; win=${facts.win ?? '-'}`;
    return `${head}; drop=${text(drop)}; plan=${text(plan)}${tried}; reserve=${facts.reserve_micro_usd}`;
  };
  let line = write();
  while (line.length > BYTES_MAX) {
    const longest = [drop, plan, tries].reduce((a, b) => (b.shown > a.shown ? b : a));
    if (longest.shown === 0) break;
    longest.shown--;
    line = write();
  }
  return line;
}
