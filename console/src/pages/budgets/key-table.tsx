// The table of keys: what each spent today, its budget of the day, and whether that has stopped it.
import type { BudgetKeyFragment } from '../../api/gen/graphql.ts';
import { Button } from '../../ui/button.tsx';
import { Money } from '../../ui/money.tsx';
import { BoneRows } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Columns, Table } from '../../ui/table.tsx';
import { percentOf } from './forecast.ts';

function toneOf(percent: number): 'ok' | 'warn' | 'bad' {
  if (percent >= 100) return 'bad';
  return percent >= 80 ? 'warn' : 'ok';
}

function BudgetCell({ row, spent }: { row: BudgetKeyFragment; spent: string }) {
  const { dailyMicro, hard } = row.budget;
  if (dailyMicro === null || dailyMicro === undefined) return <span className="faint">no budget</span>;
  const percent = percentOf(BigInt(spent), BigInt(dailyMicro));
  return (
    <div className="budget-cell">
      <div className="budget-figures">
        <span>
          <Money micro={dailyMicro} as="spend" /> <span className="soft">{hard ? 'hard' : 'soft'}</span>
        </span>
        <span className="num">{percent} %</span>
      </div>
      <div className={`budget-bar ${toneOf(percent)}`} aria-hidden="true">
        <i style={{ width: `${Math.min(100, percent)}%` }} />
      </div>
      <div className="sub">
        {row.alerts.length === 0 ? 'no warnings' : `warns at ${row.alerts.join(', ')} %`}
      </div>
    </div>
  );
}

interface Acts {
  readonly allowed: boolean;
  readonly onEdit: (row: BudgetKeyFragment) => void;
  readonly onResume: (row: BudgetKeyFragment) => void;
}

function Row({ row, spent, acts }: { row: BudgetKeyFragment; spent: string; acts: Acts }) {
  return (
    <tr>
      <td className="budget-name">
        {row.name}
        <div className="sub mono">{row.hint}</div>
      </td>
      <td data-label="Calls">
        {row.paused ? <Status tone="bad">paused</Status> : <Status tone="ok">active</Status>}
        {row.paused && <div className="sub">until 00:00 UTC</div>}
      </td>
      <td className="n" data-label="Today">
        <Money micro={spent} as="spend" />
      </td>
      <td data-label="Daily budget">
        <BudgetCell row={row} spent={spent} />
      </td>
      <td className="n">
        <span className="budget-acts">
          {acts.allowed && row.paused && (
            <Button onClick={() => acts.onResume(row)} aria-label={`Resume ${row.name}`}>
              Resume
            </Button>
          )}
          {acts.allowed && (
            <Button onClick={() => acts.onEdit(row)} aria-label={`Edit the budget of ${row.name}`}>
              Edit
            </Button>
          )}
        </span>
      </td>
    </tr>
  );
}

/** `rows` undefined: they are being read; `spent` by key id. */
export function KeyBudgetTable({
  rows,
  spent,
  ...acts
}: {
  rows: readonly BudgetKeyFragment[] | undefined;
  spent: ReadonlyMap<string, string>;
} & Acts) {
  return (
    <Table name="Budgets of keys" stacks busy={rows === undefined}>
      <Columns
        of={[
          'Key',
          'Calls',
          { name: 'Today', className: 'n' },
          'Daily budget',
          { name: 'Actions', hidden: true },
        ]}
      />
      <tbody>
        {rows === undefined ? (
          <BoneRows rows={2} columns={5} />
        ) : (
          rows.map((row) => <Row key={row.id} row={row} spent={spent.get(row.id) ?? '0'} acts={acts} />)
        )}
      </tbody>
    </Table>
  );
}
