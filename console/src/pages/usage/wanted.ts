// The question that the page asks: in the address, to the API, and as the text of a saved view. The names of its members are
// those of GET /v1/usage, so that an address, a view and a command ask the same. Pure.
import { chosen, minute, type RequestsSearch } from '../../app/search.ts';
import { line } from '../requests/said.ts';

const ranges = ['24h', '7d', '30d', '90d', 'custom'] as const;
const granularities = ['hour', 'day'] as const;
export const groupings = [
  ...(['model', 'provider', 'project', 'key', 'user', 'session'] as const),
  ...(['app', 'tag', 'byok'] as const),
] as const;
export type Grouping = (typeof groupings)[number];
const filters = [
  ...(['project_id', 'key_id', 'model', 'provider', 'app', 'user', 'session'] as const),
  ...(['tag', 'tag_value'] as const),
] as const;
type Filter = (typeof filters)[number];

export interface UsageSearch extends Partial<Readonly<Record<Filter, string>>> {
  readonly range?: (typeof ranges)[number];
  readonly from?: string;
  readonly to?: string;
  readonly granularity?: (typeof granularities)[number];
  readonly timezone?: string;
  readonly group_by?: Grouping;
  readonly compare?: true;
}

type Raw = Readonly<Record<string, unknown>>;

/** What is valid of the parameters of an address. */
export function readUsageSearch(raw: Raw): UsageSearch {
  const [from, to] = [minute(raw['from']), minute(raw['to'])];
  const is_range = from !== undefined && to !== undefined && from < to;
  const range = ranges.find((one) => one === raw['range']);
  const group_by = groupings.find((one) => one === raw['group_by']);
  const [tag, zone] = [line(raw['tag']), line(raw['timezone'])];
  const nameless = group_by === 'tag' && (tag ?? '') === '';
  return chosen<UsageSearch>({
    range: range === 'custom' && !is_range ? undefined : range,
    from: range === 'custom' && is_range ? from : undefined,
    to: range === 'custom' && is_range ? to : undefined,
    granularity: granularities.find((one) => one === raw['granularity']),
    timezone: zone !== undefined && /^[A-Za-z][\w+/-]{0,63}$/.test(zone) ? zone : undefined,
    group_by: nameless ? undefined : group_by,
    compare: [true, 'true', 1, '1'].includes(raw['compare'] as string) ? true : undefined,
    ...Object.fromEntries(filters.map((name) => [name, line(raw[name])])),
    tag_value: tag === undefined ? undefined : line(raw['tag_value']),
  });
}

/** Beyond two days bars of hours are not what is shown unasked. */
const HOURS_UNTIL_MS = 48 * 3_600_000;
const WEEK_MS = 7 * 86_400_000;

/** Whether bars of hours can be asked for: those of more than a week are too many to be told apart. */
export function allowsHours({ range, from = '', to = '' }: UsageSearch): boolean {
  return (
    range === '24h' || range === '7d' || (range === 'custom' && Date.parse(to) - Date.parse(from) <= WEEK_MS)
  );
}

/** The question with everything that it leaves open. */
export function wholeOf(search: UsageSearch) {
  const { range = '30d', group_by = 'model', timezone = 'UTC', from = '', to = '' } = search;
  const short =
    range === '24h' || (range === 'custom' && Date.parse(to) - Date.parse(from) <= HOURS_UNTIL_MS);
  const { granularity = short ? 'hour' : 'day' } = search;
  return { ...search, range, group_by, timezone, granularity } as const;
}

const instant = (text: string | undefined) => (text === undefined ? null : new Date(text).toISOString());

const rangeNames = { '24h': 'H24', '7d': 'D7', '30d': 'D30', '90d': 'D90', custom: 'CUSTOM' } as const;

/** The variables of the query. */
export function variablesOf(search: UsageSearch) {
  const { range, group_by, timezone, granularity, compare } = wholeOf(search);
  return {
    range: rangeNames[range],
    from: instant(search.from),
    to: instant(search.to),
    granularity: granularity.toUpperCase() as 'DAY' | 'HOUR',
    timezone,
    groupBy: group_by.toUpperCase() as Uppercase<Grouping>,
    compare: compare ?? null,
    projectId: search.project_id ?? null,
    keyId: search.key_id ?? null,
    model: search.model ?? null,
    provider: search.provider ?? null,
    app: search.app ?? null,
    user: search.user ?? null,
    session: search.session ?? null,
    tag: search.tag ?? null,
    tagValue: search.tag_value ?? null,
  };
}

/** The question as a query of GET /v1/usage, whole, so that it stays the same when what is left open changes. */
export function queryOf(search: UsageSearch): string {
  const members = { ...wholeOf(search), from: instant(search.from), to: instant(search.to) };
  const given = Object.entries(members).filter(([, value]) => value !== undefined && value !== null);
  const sorted = given.map(([name, value]) => [name, String(value)]).sort();
  return new URLSearchParams(sorted).toString();
}

/** The question of a query; its times to the minute. */
export function searchOf(query: string): UsageSearch {
  const raw = Object.fromEntries(new URLSearchParams(query));
  const short = (text: string | undefined) => (text === undefined ? undefined : `${text.slice(0, 16)}Z`);
  return readUsageSearch({ ...raw, from: short(raw['from']), to: short(raw['to']) });
}

/** `search` with the filter that is the group `key`. Null: a group that stands for several, or that no filter is for. */
export function within(search: UsageSearch, key: string): UsageSearch | null {
  const { group_by } = wholeOf(search);
  if (key === '__other' || group_by === 'byok') return null;
  if (group_by === 'tag') return { ...search, tag_value: key };
  const name = { project: 'project_id', key: 'key_id' }[group_by as string] ?? group_by;
  return { ...search, [name]: key };
}

/** The calls of `search` between two times, as the address of the list of calls has them. */
export function callsOf(
  search: UsageSearch,
  { from, to }: { from: string; to: string | null },
): RequestsSearch {
  const short = (text: string) => `${text.slice(0, 16)}Z`;
  const names = wholeOf(search);
  return chosen<RequestsSearch>({
    ...{ status: undefined, moved: undefined, since: undefined, id: undefined },
    from: short(from),
    to: to === null ? undefined : short(to),
    project: search.project_id,
    key: search.key_id,
    model: search.model,
    provider: search.provider,
    app: search.app,
    user: search.user,
    session: search.session,
    // The tag of a grouping is no filter by itself.
    tag: names.group_by === 'tag' && search.tag_value === undefined ? undefined : search.tag,
    tag_value: search.tag_value,
  });
}
