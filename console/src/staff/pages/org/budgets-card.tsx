// What an organization may call and spend: limits with what was granted, and budgets of projects and keys.
import type { StaffOrgMoneyQuery } from '../../../api/gen/staff/graphql.ts';
import { Card } from '../../../ui/card.tsx';
import { countText } from '../../../ui/format/numbers.ts';
import { Money } from '../../../ui/money.tsx';
import { Empty } from '../../../ui/states.tsx';
import { Status } from '../../../ui/status.tsx';
import { Table } from '../../../ui/table.tsx';
import { Time } from '../../../ui/time.tsx';
import { NotYours } from './not-yours.tsx';

type Budgets = NonNullable<NonNullable<StaffOrgMoneyQuery['staffOrg']>['budgets']>;
type Limits = Omit<Budgets['limits'], '__typename'>;

function limitsText({ rpm, tpm, concurrency }: Limits): string {
  const of = (limit: number | null | undefined, unit: string) =>
    limit === null || limit === undefined ? [] : [`${countText(limit)} ${unit}`];
  return [...of(rpm, 'calls a minute'), ...of(tpm, 'tokens a minute'), ...of(concurrency, 'at once')].join(
    ', ',
  );
}

function Line({ row }: { row: Budgets['lines'][number] }) {
  const { scope, name, budgetMicro, hard, spendMicro, pausedUntil, limits } = row;
  return (
    <tr>
      <td>{name}</td>
      <td className="soft">{scope === 'PROJECT' ? 'project, a month' : 'key, a day'}</td>
      <td className="n">
        {budgetMicro ? <Money micro={budgetMicro} as="spend" /> : <span className="faint">none</span>}
        {budgetMicro && <span className="soft"> {hard ? 'hard' : 'soft'}</span>}
      </td>
      <td className="n">{spendMicro ? <Money micro={spendMicro} as="spend" /> : '–'}</td>
      <td>
        {pausedUntil ? (
          <Status tone="bad">
            paused until <Time at={pausedUntil} />
          </Status>
        ) : (
          <Status tone="ok">active</Status>
        )}
      </td>
      <td className="soft">{limitsText(limits) || '–'}</td>
    </tr>
  );
}

export function BudgetsCard({ org }: { org: StaffOrgMoneyQuery['staffOrg'] | undefined }) {
  const budgets = org?.budgets;
  const granted = budgets ? limitsText(budgets.overrides) : '';
  return (
    <Card title="Limits and budgets" flush>
      {org && !budgets && <NotYours what="Budgets" />}
      {budgets && (
        <p className="org-limits">
          {limitsText(budgets.limits) || 'No limits'}
          {granted !== '' && <span className="soft">, of which granted beyond the plan: {granted}</span>}
        </p>
      )}
      {budgets?.lines.length === 0 && (
        <Empty title="No project yet">Budgets belong to projects and keys.</Empty>
      )}
      {budgets && budgets.lines.length > 0 && (
        <Table name="Budgets of the organization">
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Of</th>
              <th scope="col" className="n">
                Budget
              </th>
              <th scope="col" className="n">
                Spent
              </th>
              <th scope="col">Calls</th>
              <th scope="col">Own limits</th>
            </tr>
          </thead>
          <tbody>
            {budgets.lines.map((row) => (
              <Line key={row.id} row={row} />
            ))}
          </tbody>
        </Table>
      )}
    </Card>
  );
}
