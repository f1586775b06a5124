// The filters of the request list. They live in the address, so that a link shows the same rows to a colleague.
import { useEffect, useRef, useState } from 'react';
import { type RequestsSearch, type SinceWord, type StatusWord, sinceWords } from '../../app/search.ts';
import { Button } from '../../ui/button.tsx';
import { localMinute, utcMinute } from '../../ui/format/time.ts';
import type { Choices } from './use-requests.ts';

const statuses: readonly { value: StatusWord; name: string }[] = [
  { value: 'ok', name: 'ok' },
  { value: 'error', name: 'error' },
  { value: 'cancelled', name: 'cancelled' },
  { value: 'rejected', name: 'refused' },
];

const sinceNames: Readonly<Record<SinceWord, string>> = {
  '1h': 'Last hour',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
};
const RANGE = 'range';
const DAY_MS = 86_400_000;
const TYPING_MS = 250;

interface Props {
  readonly search: RequestsSearch;
  readonly choices: Choices;
  readonly onChange: (next: RequestsSearch) => void;
}
type Set = (change: { [K in keyof RequestsSearch]?: RequestsSearch[K] | '' | undefined }) => void;

/** One filter: a value, or all of them. */
export function Choice(props: {
  name: string;
  all: string;
  value: string | undefined;
  children: readonly { value: string; name: string }[];
  onChange: (to: string) => void;
}) {
  return (
    <select
      aria-label={props.name}
      className="input"
      value={props.value ?? ''}
      onChange={(event) => props.onChange(event.target.value)}
    >
      <option value="">{props.all}</option>
      {props.children.map(({ value, name }) => (
        <option value={value} key={value}>
          {name}
        </option>
      ))}
    </select>
  );
}

/** One end of a range. It counts when the field is left or Enter is pressed, since a year is typed digit by digit. */
export function Edge({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string | undefined;
  onChange: (to: string | undefined) => void;
}) {
  const text = value === undefined ? '' : localMinute(value);
  const take = (typed: string) => typed !== text && onChange(utcMinute(typed));
  return (
    <label className="filter-edge">
      {label}
      <input
        type="datetime-local"
        className="input"
        key={text}
        defaultValue={text}
        onBlur={(event) => take(event.target.value)}
        onKeyDown={(event) => event.key === 'Enter' && take(event.currentTarget.value)}
      />
    </label>
  );
}

/** The beginning of an id; asked for once typing rests. */
function IdStart({ value, onChange }: { value: string; onChange: (to: string) => void }) {
  const [text, setText] = useState(value);
  const taken = useRef(value);
  const latest = useRef(onChange);
  latest.current = onChange;
  // Cleared, or another link was opened.
  if (taken.current !== value) {
    taken.current = value;
    setText(value);
  }
  useEffect(() => {
    const typed = text.trim().toUpperCase();
    if (typed === taken.current) return;
    const timer = setTimeout(() => latest.current(typed), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <input
      className="input filter-id"
      aria-label="Id begins with"
      placeholder="Id begins with"
      autoComplete="off"
      spellCheck={false}
      value={text}
      onChange={(event) => setText(event.target.value)}
    />
  );
}

/** How far back, or between two times of the reader's clock. */
function TimeChoice({ search, set }: { search: RequestsSearch; set: Set }) {
  const { from, to } = search;
  const is_range = from !== undefined || to !== undefined;
  const choose = (value: string) =>
    value === RANGE
      ? set({ since: '', from: utcMinute(new Date(Date.now() - DAY_MS).toISOString()), to: '' })
      : set({ since: value as SinceWord | '', from: '', to: '' });
  return (
    <>
      <Choice name="Time" all="Any time" value={is_range ? RANGE : search.since} onChange={choose}>
        {[
          ...sinceWords.map((value) => ({ value, name: sinceNames[value] })),
          { value: RANGE, name: 'Between two times' },
        ]}
      </Choice>
      {is_range && (
        <>
          <Edge label="From" value={from} onChange={(to) => set({ from: to })} />
          <Edge label="to" value={to} onChange={(to) => set({ to })} />
        </>
      )}
    </>
  );
}

/** The filters that hold. A choice that is emptied holds no more; an empty filter of a link means calls without one. */
function changed(search: RequestsSearch, change: Parameters<Set>[0]): RequestsSearch {
  const members = Object.entries({ ...search, ...change });
  return Object.fromEntries(
    members.filter(([name, value]) => value !== undefined && !(value === '' && name in change)),
  );
}

/** Filters that links of other pages bring along, each to be taken away. */
const brought = { project: 'Project', app: 'App', user: 'End user', session: 'Session' } as const;

/** A filter as words with a cross that takes it away. */
export function Chip({ name, value, onRemove }: { name: string; value: string; onRemove: () => void }) {
  const text = value === '' ? 'none' : value;
  return (
    <span className="filter-chip">
      <span className="ellipsis" title={text}>
        {name}: {text}
      </span>
      <Button kind="quiet" icon="x" aria-label={`Without the filter ${name}`} onClick={onRemove} />
    </span>
  );
}

function Brought({ search, set }: { search: RequestsSearch; set: Set }) {
  const { tag, tag_value } = search;
  return (
    <>
      {Object.entries(brought).map(([member, name]) => {
        const value = search[member as keyof typeof brought];
        return value === undefined ? null : (
          <Chip key={member} {...{ name, value }} onRemove={() => set({ [member]: undefined })} />
        );
      })}
      {tag !== undefined && (
        <Chip
          name={tag_value === undefined ? 'Tag' : `Tag ${tag}`}
          value={tag_value ?? tag}
          onRemove={() => set({ tag: undefined, tag_value: undefined })}
        />
      )}
    </>
  );
}

export function FilterBar({ search, choices, onChange }: Props) {
  const set: Set = (change) => onChange(changed(search, change));
  const named = (names: readonly string[]) => names.map((name) => ({ value: name, name }));
  return (
    <search className="filters">
      <Choice
        name="Status"
        all="Every status"
        value={search.status}
        onChange={(to) => set({ status: to as StatusWord | '' })}
      >
        {statuses}
      </Choice>
      <Choice name="Model" all="Every model" value={search.model} onChange={(model) => set({ model })}>
        {named(choices.models)}
      </Choice>
      <Choice
        name="Provider"
        all="Every provider"
        value={search.provider}
        onChange={(provider) => set({ provider })}
      >
        {named(choices.providers)}
      </Choice>
      <Choice name="Key" all="Every key" value={search.key} onChange={(key) => set({ key })}>
        {[...choices.keys].map(([value, name]) => ({ value, name }))}
      </Choice>
      <TimeChoice search={search} set={set} />
      <IdStart value={search.id ?? ''} onChange={(id) => set({ id })} />
      <label className="check">
        <input
          type="checkbox"
          checked={search.moved === true}
          onChange={(event) => set({ moved: event.target.checked || undefined })}
        />
        Fallbacks only
      </label>
      <Brought {...{ search, set }} />
      {Object.keys(search).length > 0 && (
        <Button kind="quiet" icon="x" onClick={() => onChange({})}>
          Clear
        </Button>
      )}
    </search>
  );
}
