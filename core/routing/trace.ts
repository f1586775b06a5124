// The route in one line (docs/routing.md#the-trace): stable fields in a stable order, at most 1,024 bytes, so that it
// fits a header.
import type { RoutePlan } from './types.ts';

const BYTES_MAX = 1_024;
/** More items than this never fit: each has at least 8 bytes. */
const ITEMS_MAX = 128;

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

/** A list that can be cut from its end; tells how many items are not shown. */
class Cut {
  shown: number;
  private readonly total: number;
  private readonly items: readonly string[];
  /** Bytes of the first n items with their commas. */
  private readonly bytes: number[] = [0];

  constructor(items: readonly string[], total: number) {
    this.items = items;
    this.total = total;
    this.shown = items.length;
    for (const item of items) this.bytes.push((this.bytes.at(-1) as number) + item.length + 1);
  }

  get length(): number {
    if (this.total === 0) return 1;
    const shown = this.bytes[this.shown] as number;
    const hidden = this.total - this.shown;
    return hidden === 0 ? shown - 1 : shown + 1 + String(hidden).length;
  }

  text(): string {
    if (this.total === 0) return '-';
    const shown = this.items.slice(0, this.shown).join(',');
    const hidden = this.total - this.shown;
    if (hidden === 0) return shown;
    return shown === '' ? `+${hidden}` : `${shown},+${hidden}`;
  }
}

/** Makes an item of each of the first of `list`; the others are only counted. */
function cut<T>(list: readonly T[], item: (one: T) => string): Cut {
  const first = list.length > ITEMS_MAX ? list.slice(0, ITEMS_MAX) : list;
  return new Cut(first.map(item), list.length);
}

const CLEAN = /^[A-Za-z0-9._/-]{1,100}$/;

/** Only what cannot be taken for a separator; policy and rule names are short by their grammar. */
function word(value: string): string {
  if (CLEAN.test(value)) return value;
  const clean = value.replaceAll(/[^A-Za-z0-9._/-]/g, '_').slice(0, 100);
  return clean === '' ? '-' : clean;
}

const NO_TRIES: readonly TraceTry[] = [];

function tryText({ endpoint_id, outcome, http_status, ms }: TraceTry): string {
  return `${endpoint_id}:${word(outcome)}:${http_status}:${Math.round(ms)}`;
}

/** The trace of `route`; ASCII, at most 1,024 bytes: the longest list is cut first and ends `+N`. */
export function traceLine(
  route: Pick<RoutePlan, 'plan' | 'spare' | 'excluded' | 'sort' | 'affinity'>,
  facts: TraceFacts,
): string {
  const drop = cut(route.excluded, (item) => `${item.endpoint_id}:${item.reason}`);
  const plan = cut(route.plan, (item) => `${item.endpoint.id}:${item.score.toFixed(3)}`);
  const tries = cut(facts.tries ?? NO_TRIES, tryText);
  const candidates = route.plan.length + route.spare.length + route.excluded.length;
  const head =
    `v1; policy=${word(facts.policy)}; rule=${word(facts.rule)}; sort=${route.sort}; arm=-; canary=0; ` +
    `aff=${route.affinity?.state ?? '-'}; cand=${candidates}; drop=`;
  const win = facts.tries === null ? '' : `; win=${facts.win ?? '-'}`;
  const tail = `${win}; reserve=${facts.reserve_micro_usd}`;
  const fixed = head.length + '; plan='.length + (facts.tries === null ? 0 : '; try='.length) + tail.length;
  const tooLong = () =>
    fixed + drop.length + plan.length + (facts.tries === null ? 0 : tries.length) > BYTES_MAX;
  while (tooLong()) {
    const longest = [drop, plan, tries].reduce((a, b) => (b.shown > a.shown ? b : a));
    if (longest.shown === 0) break;
    longest.shown--;
  }
  const tried = facts.tries === null ? '' : `; try=${tries.text()}`;
  return `${head}${drop.text()}; plan=${plan.text()}${tried}${tail}`;
}
