// What is asked: time, grouping, days and filters. All of it is in the address.
import { Button } from '../../ui/button.tsx';
import { ownZone } from '../../ui/format/buckets.ts';
import { utcMinute } from '../../ui/format/time.ts';
import { Chip, Choice, Edge } from '../requests/filters.tsx';
import { allowsHours, type Grouping, groupings, type UsageSearch, wholeOf } from './wanted.ts';

const DAY_MS = 86_400_000;
const rangeNames: readonly { value: NonNullable<UsageSearch['range']>; name: string }[] = [
  { value: '24h', name: 'Last 24 hours' },
  { value: '7d', name: 'Last 7 days' },
  { value: '30d', name: 'Last 30 days' },
  { value: '90d', name: 'Last 90 days' },
  { value: 'custom', name: 'Between two times' },
];
export const groupNames: Readonly<Record<Grouping, string>> = {
  ...{ model: 'Model', provider: 'Provider', project: 'Project', key: 'Key', user: 'End user' },
  ...{ session: 'Session', app: 'App', tag: 'Tag', byok: 'Provider key' },
};
const filterNames = {
  ...{ project_id: 'Project', key_id: 'Key', model: 'Model', provider: 'Provider', app: 'App' },
  ...{ user: 'End user', session: 'Session' },
} as const;

type Change = { readonly [K in keyof UsageSearch]?: UsageSearch[K] | undefined };
export type Ask = (change: Change) => void;
interface Props {
  readonly search: UsageSearch;
  readonly names: ReadonlyMap<string, string>;
  readonly ask: Ask;
}

function Times({ search, ask }: Omit<Props, 'names'>) {
  const { range } = wholeOf(search);
  const choose = (to: string) => {
    if (to !== 'custom')
      return ask({ range: to as '7d', from: undefined, to: undefined, granularity: undefined });
    const at = (ms: number) => utcMinute(new Date(ms).toISOString());
    ask({ range: 'custom', from: at(Date.now() - DAY_MS), to: at(Date.now()) });
  };
  return (
    <>
      <Choice name="Time" all="" value={range} onChange={choose}>
        {rangeNames}
      </Choice>
      {range === 'custom' && (
        <>
          <Edge label="From" value={search.from} onChange={(from) => ask({ from })} />
          <Edge label="to" value={search.to} onChange={(to) => ask({ to })} />
        </>
      )}
    </>
  );
}

/** The name of the tag that is grouped by; taken when it is left or Enter is pressed. */
function TagName({ value, ask }: { value: string; ask: Ask }) {
  const take = (typed: string) => {
    const tag = typed.trim();
    if (tag !== '' && tag !== value) ask({ group_by: 'tag', tag, tag_value: undefined });
  };
  return (
    <label className="filter-edge">
      Tag
      <input
        className="input"
        key={value}
        defaultValue={value}
        maxLength={64}
        autoComplete="off"
        onBlur={(event) => take(event.target.value)}
        onKeyDown={(event) => event.key === 'Enter' && take(event.currentTarget.value)}
      />
    </label>
  );
}

function Grouped({ search, ask, tagging, onTag }: Omit<Props, 'names'> & TagProps) {
  const { group_by } = wholeOf(search);
  const choose = (to: string) => {
    // A tag has a name first.
    onTag(to === 'tag');
    if (to !== 'tag') ask({ group_by: to as Grouping, ...(group_by === 'tag' ? { tag: undefined } : {}) });
  };
  const by_tag = tagging || group_by === 'tag';
  return (
    <>
      <Choice name="Group by" all="" value={by_tag ? 'tag' : group_by} onChange={choose}>
        {groupings.map((value) => ({ value, name: `By ${groupNames[value].toLowerCase()}` }))}
      </Choice>
      {by_tag && <TagName value={group_by === 'tag' ? (search.tag ?? '') : ''} ask={ask} />}
    </>
  );
}
interface TagProps {
  /** The grouping by a tag is chosen, and its name is not given yet. */
  readonly tagging: boolean;
  readonly onTag: (tagging: boolean) => void;
}

function Days({ search, ask }: Omit<Props, 'names'>) {
  const { timezone } = wholeOf(search);
  const zones = [...new Set(['UTC', ownZone(), timezone])];
  return (
    <Choice name="Days of" all="" value={timezone} onChange={(to) => ask({ timezone: to })}>
      {zones.map((value) => ({ value, name: `Days of ${value}` }))}
    </Choice>
  );
}

function Bars({ search, ask }: Omit<Props, 'names'>) {
  const { granularity } = wholeOf(search);
  if (!allowsHours(search)) return null;
  return (
    <Choice
      name="Bars"
      all=""
      value={granularity}
      onChange={(to) => ask({ granularity: to as 'hour' | 'day' })}
    >
      {[
        { value: 'hour', name: 'Bar per hour' },
        { value: 'day', name: 'Bar per day' },
      ]}
    </Choice>
  );
}

function Chips({ search, names, ask }: Props) {
  const { group_by } = wholeOf(search);
  const { tag, tag_value } = search;
  return (
    <>
      {Object.entries(filterNames).map(([member, name]) => {
        const value = search[member as keyof typeof filterNames];
        return value === undefined ? null : (
          <Chip
            key={member}
            {...{ name, value: names.get(value) ?? value }}
            onRemove={() => ask({ [member]: undefined })}
          />
        );
      })}
      {tag !== undefined && (tag_value !== undefined || group_by !== 'tag') && (
        <Chip
          name={tag_value === undefined ? 'Tag' : `Tag ${tag}`}
          value={tag_value ?? tag}
          onRemove={() => ask({ tag_value: undefined, ...(group_by === 'tag' ? {} : { tag: undefined }) })}
        />
      )}
    </>
  );
}

export function UsageFilters({ search, names, ask, ...tag }: Props & TagProps) {
  return (
    <search className="filters">
      <Times {...{ search, ask }} />
      <Grouped {...{ search, ask, ...tag }} />
      <Bars {...{ search, ask }} />
      <Days {...{ search, ask }} />
      <label className="check">
        <input
          type="checkbox"
          checked={search.compare === true}
          onChange={(event) => ask({ compare: event.target.checked || undefined })}
        />
        Compare with the time before
      </label>
      <Chips {...{ search, names, ask }} />
      {Object.keys(search).length > 0 && (
        <Button
          kind="quiet"
          icon="x"
          onClick={() => ask(Object.fromEntries(Object.keys(search).map((name) => [name, undefined])))}
        >
          Clear
        </Button>
      )}
    </search>
  );
}
