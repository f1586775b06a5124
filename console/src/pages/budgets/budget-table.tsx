// The table of projects: what each spent, its budget, and when that is used up.
import type { BudgetRowFragment } from '../../api/gen/graphql.ts';
import { Button } from '../../ui/button.tsx';
import { dayText } from '../../ui/format/time.ts';
import { Money } from '../../ui/money.tsx';
import { BoneRows } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Columns, Table } from '../../ui/table.tsx';
import { type Forecast, forecastOf, percentOf } from './forecast.ts';

/** `paused`: calls are refused now. */
function forecastWords(forecast: Forecast, paused: boolean): string {
  if (paused) return 'no room left: calls are refused';
  switch (forecast.kind) {
    case 'spent':
      return 'used up: calls go on';
    case 'ends':
      return `at this pace used up on ${dayText(forecast.at.toISOString().slice(0, 10))}`;
    case 'enough':
      return 'at this pace it lasts the month';
    case 'unknown':
      return 'no pace yet';
  }
}

function toneOf(percent: number): 'ok' | 'warn' | 'bad' {
  if (percent >= 100) return 'bad';
  return percent >= 80 ? 'warn' : 'ok';
}

function BudgetCell({ row, now }: { row: BudgetRowFragment; now: Date }) {
  const { monthlyMicro, hard } = row.budget;
  if (monthlyMicro === null || monthlyMicro === undefined) return <span className="faint">no budget</span>;
  const [spend_micro, budget_micro] = [BigInt(row.spendMonthMicro), BigInt(monthlyMicro)];
  const percent = percentOf(spend_micro, budget_micro);
  const forecast = forecastOf({ spend_micro, budget_micro }, now);
  return (
    <div className="budget-cell">
      <div className="budget-figures">
        <span>
          <Money micro={monthlyMicro} as="spend" /> <span className="soft">{hard ? 'hard' : 'soft'}</span>
        </span>
        <span className="num">{percent} %</span>
      </div>
      <div className={`budget-bar ${toneOf(percent)}`} aria-hidden="true">
        <i style={{ width: `${Math.min(100, percent)}%` }} />
      </div>
      <div className="sub">{forecastWords(forecast, Boolean(row.paused))}</div>
    </div>
  );
}

function State({ row }: { row: BudgetRowFragment }) {
  if (!row.paused) return <Status tone="ok">active</Status>;
  return (
    <>
      <Status tone="bad">paused</Status>
      <div className="sub">until {dayText(row.paused.resumesAt.slice(0, 10))}, 00:00 UTC</div>
    </>
  );
}

interface Acts {
  readonly allowed: boolean;
  readonly onEdit: (row: BudgetRowFragment) => void;
  readonly onResume: (row: BudgetRowFragment) => void;
  /** Null for who may not archive. */
  readonly onArchive: ((row: BudgetRowFragment) => void) | null;
}

function Row({ row, now, acts }: { row: BudgetRowFragment; now: Date; acts: Acts }) {
  return (
    <tr>
      <td className="budget-name">
        {row.name}
        <div className="sub mono">{row.slug}</div>
      </td>
      <td data-label="Calls">
        <State row={row} />
      </td>
      <td className="n" data-label="Today">
        <Money micro={row.spendTodayMicro} as="spend" />
      </td>
      <td className="n" data-label="This month">
        <Money micro={row.spendMonthMicro} as="spend" />
      </td>
      <td data-label="Monthly budget">
        <BudgetCell row={row} now={now} />
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
          {acts.onArchive && (
            <Button onClick={() => acts.onArchive?.(row)} aria-label={`Archive ${row.name}`}>
              Archive
            </Button>
          )}
        </span>
      </td>
    </tr>
  );
}

/** `rows` undefined: they are being read. */
export function BudgetTable({
  rows,
  now,
  ...acts
}: { rows: readonly BudgetRowFragment[] | undefined; now: Date } & Acts) {
  return (
    <Table name="Budgets of projects" stacks busy={rows === undefined}>
      <Columns
        of={[
          'Project',
          'Calls',
          { name: 'Today', className: 'n' },
          { name: 'This month', className: 'n' },
          'Monthly budget',
          { name: 'Actions', hidden: true },
        ]}
      />
      <tbody>
        {rows === undefined ? (
          <BoneRows rows={2} columns={6} />
        ) : (
          rows.map((row) => <Row key={row.id} row={row} now={now} acts={acts} />)
        )}
      </tbody>
    </Table>
  );
}
