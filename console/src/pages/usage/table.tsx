// The groups as a table that says the same as the chart, each with the way to narrow to it and to its calls.
import { Link } from '@tanstack/react-router';
import type { UsagePageQuery } from '../../api/gen/tools/graphql.ts';
import { useOrg } from '../../app/org.tsx';
import { countText, shareText } from '../../ui/format/numbers.ts';
import { Money } from '../../ui/money.tsx';
import { BoneRows } from '../../ui/states.tsx';
import { Columns, Table } from '../../ui/table.tsx';
import { groupNames } from './filters.tsx';
import { callsOf, type UsageSearch, wholeOf, within } from './wanted.ts';

type Usage = NonNullable<UsagePageQuery['usage']>;
type Group = Usage['groups'][number];

interface RowProps {
  readonly group: Group;
  readonly usage: Usage;
  readonly search: UsageSearch;
  readonly name: string;
  readonly onNarrow: (to: UsageSearch) => void;
}

function Row({ group, usage, search, name, onNarrow }: RowProps) {
  const { slug, env } = useOrg();
  const total = Number(usage.totals.costMicro);
  const share = total === 0 ? 0 : Number(group.costMicro) / total;
  const narrowed = within(search, group.key);
  const { from, to } = usage.range;
  const calls = narrowed && callsOf(narrowed, { from, to: search.range === 'custom' ? to : null });
  return (
    <tr>
      <td className="usage-name">
        {narrowed ? (
          <button
            type="button"
            className="link"
            aria-label={`Narrow to ${name}`}
            onClick={() => onNarrow(narrowed)}
          >
            {name}
          </button>
        ) : (
          name
        )}
      </td>
      <td className="n" data-label="Cost">
        <Money micro={group.costMicro} />
      </td>
      <td data-label="Share" className="usage-share">
        <span className="meter" aria-hidden="true">
          <span style={{ width: `${share * 100}%`, background: 'var(--c1)' }} />
        </span>
        <span className="sub num">{shareText(share)}</span>
      </td>
      <td className="n" data-label="Calls">
        {calls ? (
          <Link
            className="link"
            to="/$org/$env/requests"
            params={{ org: slug, env }}
            search={calls}
            aria-label={`${countText(group.requests)} calls of ${name}`}
          >
            {countText(group.requests)}
          </Link>
        ) : (
          countText(group.requests)
        )}
      </td>
      <td className="n soft" data-label="Errors">
        {countText(group.errors)}
      </td>
      <td className="n soft" data-label="Tokens in / out">
        <span>
          {countText(group.inputTokens)} <span className="faint">/ {countText(group.outputTokens)}</span>
        </span>
      </td>
    </tr>
  );
}

export function GroupsTable(props: {
  usage: Usage | undefined;
  search: UsageSearch;
  nameOfKey: (key: string) => string;
  onNarrow: (to: UsageSearch) => void;
}) {
  const { usage, search, nameOfKey, onNarrow } = props;
  return (
    <Table name="Groups" busy={usage === undefined} stacks>
      <Columns
        of={[
          groupNames[wholeOf(search).group_by],
          { name: 'Cost', className: 'n' },
          'Share',
          { name: 'Calls', className: 'n' },
          { name: 'Errors', className: 'n' },
          { name: 'Tokens in / out', className: 'n' },
        ]}
      />
      <tbody>
        {usage === undefined ? (
          <BoneRows rows={4} columns={6} />
        ) : (
          usage.groups.map((group) => (
            <Row key={group.key} {...{ group, usage, search, onNarrow }} name={nameOfKey(group.key)} />
          ))
        )}
      </tbody>
    </Table>
  );
}
