// The filters of the request list. They live in the address, so that a link shows the same rows to a colleague.
import type { FeedRowFragment } from '../../api/gen/graphql.ts';
import type { RequestsSearch, StatusWord } from '../../app/search.ts';
import { Button } from '../../ui/button.tsx';

const statuses: readonly { value: StatusWord; name: string }[] = [
  { value: 'ok', name: 'ok' },
  { value: 'error', name: 'error' },
  { value: 'cancelled', name: 'cancelled' },
  { value: 'rejected', name: 'refused' },
];
export function FilterBar(props: {
  search: RequestsSearch;
  rows: readonly FeedRowFragment[];
  keys: ReadonlyMap<string, string>;
  onChange: (next: RequestsSearch) => void;
}) {
  const { search, rows, keys, onChange } = props;
  const models = new Set(rows.map(({ model }) => model));
  if (search.model !== undefined) models.add(search.model);
  /** `search` with one member set or, for an empty value, taken out. */
  const set = (name: keyof RequestsSearch, value: string | true | undefined) => {
    const { [name]: _before, ...rest } = search;
    onChange(value === undefined || value === '' ? rest : ({ ...rest, [name]: value } as RequestsSearch));
  };
  return (
    <search className="filters">
      <select
        aria-label="Status"
        className="input"
        value={search.status ?? ''}
        onChange={(e) => set('status', e.target.value)}
      >
        <option value="">Every status</option>
        {statuses.map(({ value, name }) => (
          <option value={value} key={value}>
            {name}
          </option>
        ))}
      </select>
      <select
        aria-label="Model"
        className="input"
        value={search.model ?? ''}
        onChange={(e) => set('model', e.target.value)}
      >
        <option value="">Every model</option>
        {[...models].sort().map((model) => (
          <option key={model}>{model}</option>
        ))}
      </select>
      <select
        aria-label="Key"
        className="input"
        value={search.key ?? ''}
        onChange={(e) => set('key', e.target.value)}
      >
        <option value="">Every key</option>
        {[...keys].map(([id, name]) => (
          <option value={id} key={id}>
            {name}
          </option>
        ))}
      </select>
      <label className="check">
        <input
          type="checkbox"
          checked={search.moved === true}
          onChange={(e) => set('moved', e.target.checked ? true : undefined)}
        />
        Moved on only
      </label>
      {Object.keys(search).length > 0 && (
        <Button kind="quiet" icon="x" onClick={() => onChange({})}>
          Clear
        </Button>
      )}
    </search>
  );
}
