// What an organization may call and spend: limits with what was granted, and budgets of projects and keys.
import { useState } from 'react';
import type { StaffOrgMoneyQuery } from '../../../api/gen/staff/graphql.ts';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { countText } from '../../../ui/format/numbers.ts';
import { Money } from '../../../ui/money.tsx';
import { Empty } from '../../../ui/states.tsx';
import { Status } from '../../../ui/status.tsx';
import { Columns, Table } from '../../../ui/table.tsx';
import { Time } from '../../../ui/time.tsx';
import { useMay } from '../../realm.ts';
import { LimitsDialog } from './limits-dialog.tsx';
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
      <td className="soft" data-label="Of">
        {scope === 'PROJECT' ? 'project, a month' : 'key, a day'}
      </td>
      <td className="n" data-label="Budget">
        {budgetMicro ? <Money micro={budgetMicro} as="spend" /> : <span className="faint">none</span>}
        {budgetMicro && <span className="soft"> {hard ? 'hard' : 'soft'}</span>}
      </td>
      <td className="n" data-label="Spent">
        {spendMicro ? <Money micro={spendMicro} as="spend" /> : '–'}
      </td>
      <td data-label="Calls">
        {pausedUntil ? (
          <Status tone="bad">
            paused until <Time at={pausedUntil} />
          </Status>
        ) : (
          <Status tone="ok">active</Status>
        )}
      </td>
      <td className="soft" data-label="Own limits">
        {limitsText(limits) || '–'}
      </td>
    </tr>
  );
}

function Lines({ lines }: { lines: Budgets['lines'] }) {
  return (
    <Table name="Budgets of the organization" stacks>
      <Columns
        of={[
          'Name',
          'Of',
          { name: 'Budget', className: 'n' },
          { name: 'Spent', className: 'n' },
          'Calls',
          'Own limits',
        ]}
      />
      <tbody>
        {lines.map((row) => (
          <Line key={row.id} row={row} />
        ))}
      </tbody>
    </Table>
  );
}

export function BudgetsCard(props: {
  org: StaffOrgMoneyQuery['staffOrg'] | undefined;
  onChanged: () => void;
}) {
  const { org, onChanged } = props;
  const may = useMay('support', 'finance');
  const [open, setOpen] = useState(false);
  const budgets = org?.budgets;
  const granted = budgets ? limitsText(budgets.overrides) : '';
  return (
    <Card
      title="Limits and budgets"
      more={may && budgets ? <Button onClick={() => setOpen(true)}>Change limits…</Button> : undefined}
      flush
    >
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
      {budgets && budgets.lines.length > 0 && <Lines lines={budgets.lines} />}
      {open && org && (
        <LimitsDialog
          org={org}
          onClose={() => setOpen(false)}
          onDone={() => {
            setOpen(false);
            onChanged();
          }}
        />
      )}
    </Card>
  );
}
