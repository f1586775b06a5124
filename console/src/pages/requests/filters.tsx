// The filters of the request list. They live in the address, so that a link shows the same rows to a colleague.
import type { FeedRowFragment } from '../../api/gen/graphql.ts';
import { type RequestsSearch, type SinceWord, type StatusWord, sinceWords } from '../../app/search.ts';
import { Button } from '../../ui/button.tsx';

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

/** One filter: a value, or all of them. */
function Choice(props: {
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

export function FilterBar(props: {
  search: RequestsSearch;
  rows: readonly FeedRowFragment[];
  keys: ReadonlyMap<string, string>;
  onChange: (next: RequestsSearch) => void;
}) {
  const { search, rows, keys, onChange } = props;
  const models = new Set(rows.map(({ model }) => model));
  if (search.model !== undefined) models.add(search.model);
  const providers = new Set(rows.map(({ provider }) => provider).filter(Boolean));
  if (search.provider !== undefined) providers.add(search.provider);
  /** `search` with one member set or, for an empty value, taken out. */
  const set = (name: keyof RequestsSearch, value: string | true | undefined) => {
    const { [name]: _before, ...rest } = search;
    onChange(value === undefined || value === '' ? rest : ({ ...rest, [name]: value } as RequestsSearch));
  };
  return (
    <search className="filters">
      <Choice name="Status" all="Every status" value={search.status} onChange={(to) => set('status', to)}>
        {statuses}
      </Choice>
      <Choice name="Model" all="Every model" value={search.model} onChange={(to) => set('model', to)}>
        {[...models].sort().map((model) => ({ value: model, name: model }))}
      </Choice>
      <Choice
        name="Provider"
        all="Every provider"
        value={search.provider}
        onChange={(to) => set('provider', to)}
      >
        {[...providers].sort().map((provider) => ({ value: provider, name: provider }))}
      </Choice>
      <Choice name="Time" all="Any time" value={search.since} onChange={(to) => set('since', to)}>
        {sinceWords.map((value) => ({ value, name: sinceNames[value] }))}
      </Choice>
      <Choice name="Key" all="Every key" value={search.key} onChange={(to) => set('key', to)}>
        {[...keys].map(([value, name]) => ({ value, name }))}
      </Choice>
      <label className="check">
        <input
          type="checkbox"
          checked={search.moved === true}
          onChange={(e) => set('moved', e.target.checked ? true : undefined)}
        />
        Fallbacks only
      </label>
      {Object.keys(search).length > 0 && (
        <Button kind="quiet" icon="x" onClick={() => onChange({})}>
          Clear
        </Button>
      )}
    </search>
  );
}
