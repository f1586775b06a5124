// The sheet of plans: what each costs and allows, how many are on it, what comes, and the way to change it.
import './plans.css';
import { useState } from 'react';
import { useQuery } from 'urql';
import { faultOfQuery } from '../../../api/errors.ts';
import { PlanSheetDocument, type SheetPlanFragment } from '../../../api/gen/staff/graphql.ts';
import { Button } from '../../../ui/button.tsx';
import { Card, PageHead } from '../../../ui/card.tsx';
import { currencyText, spendText } from '../../../ui/format/money.ts';
import { countText, plural } from '../../../ui/format/numbers.ts';
import { dateText } from '../../../ui/format/time.ts';
import { BoneRows, ErrorBox } from '../../../ui/states.tsx';
import { Columns, Table } from '../../../ui/table.tsx';
import { useMay } from '../../realm.ts';
import { NotYours } from '../org/not-yours.tsx';
import { ChangePlanDialog } from './change-dialog.tsx';
import { limitFields, type Sheet } from './form.ts';

function feeText({ monthlyMinor }: Pick<SheetPlanFragment, 'monthlyMinor'>): string {
  return monthlyMinor == null ? 'by agreement' : currencyText(monthlyMinor, 'USD');
}

function limitsText({ limits }: SheetPlanFragment): string {
  const names = Object.keys(limitFields) as (keyof typeof limitFields)[];
  const bounds = names
    .filter((name) => limits[name] != null)
    .map((name) => `${countText(limits[name])} ${limitFields[name].toLowerCase()}`);
  return bounds.length === 0 ? 'no limit' : bounds.join(', ');
}

function Line({
  plan,
  sheet,
  onChange,
}: {
  plan: SheetPlanFragment;
  sheet: Sheet;
  onChange: (() => void) | null;
}) {
  const orgs = sheet.onPlans.find(({ planId }) => planId === plan.id)?.orgs ?? 0;
  return (
    <tr>
      <td className="plan-name">
        <b>{plan.name}</b>
        {!plan.public && <span className="sub"> not public</span>}
        <div className="sub">{plan.description}</div>
      </td>
      <td className="n" data-label="Fee of a month">
        {feeText(plan)}
      </td>
      <td className="n" data-label="Included credit">
        {plan.includedMicro == null ? '–' : spendText(plan.includedMicro)}
      </td>
      <td className="n" data-label="Days of grace">
        {plan.graceDays}
      </td>
      <td className="plan-bounds soft" data-label="Limits">
        {limitsText(plan)}
      </td>
      <td className="n" data-label="Organizations">
        {countText(orgs)}
      </td>
      <td className="n">
        {onChange && (
          <Button onClick={onChange} aria-label={`Change ${plan.name}`}>
            Change…
          </Button>
        )}
      </td>
    </tr>
  );
}

function Plans({
  sheet,
  onChange,
}: {
  sheet: Sheet | undefined;
  onChange: ((plan: SheetPlanFragment) => void) | null;
}) {
  return (
    <Table name="List of plans" stacks busy={sheet === undefined}>
      <Columns
        of={[
          'Plan',
          { name: 'Fee of a month', className: 'n' },
          { name: 'Included credit', className: 'n' },
          { name: 'Days of grace', className: 'n' },
          'Limits',
          { name: 'Organizations', className: 'n' },
          { name: 'Actions', hidden: true },
        ]}
      />
      <tbody>
        {sheet === undefined ? (
          <BoneRows rows={4} columns={7} />
        ) : (
          sheet.plans.map((plan) => (
            <Line key={plan.id} plan={plan} sheet={sheet} onChange={onChange && (() => onChange(plan))} />
          ))
        )}
      </tbody>
    </Table>
  );
}

function comingText(change: Sheet['coming'][number]): string {
  return [
    change.monthlyMinor == null ? '' : `fee ${feeText(change)}`,
    change.includedMicro == null ? '' : `included credit ${spendText(change.includedMicro)}`,
    change.graceDays == null ? '' : plural(change.graceDays, 'day of grace', 'days of grace'),
  ]
    .filter(Boolean)
    .join(', ');
}

function Coming({ sheet }: { sheet: Sheet }) {
  const nameOf = (id: string) => sheet.plans.find((plan) => plan.id === id)?.name ?? id.toLowerCase();
  return (
    <Card
      title="What comes"
      note="A fee that rises holds for who has the plan once they were told 30 days before."
    >
      {sheet.coming.length === 0 && <p className="soft">Nothing changes with a coming month.</p>}
      <ul className="plan-effects">
        {sheet.coming.map((change) => (
          <li key={`${change.from} ${change.planId} ${comingText(change)}`}>
            {dateText(change.from)}: {nameOf(change.planId)}, {comingText(change)}
          </li>
        ))}
      </ul>
    </Card>
  );
}

export function PlansPage() {
  const may = useMay('finance');
  const [{ data, error }, again] = useQuery({ query: PlanSheetDocument });
  const [changing, setChanging] = useState<SheetPlanFragment | null>(null);
  const [said, setSaid] = useState('');
  const sheet = data?.planSheet ?? undefined;
  const reread = () => again({ requestPolicy: 'network-only' });
  const onDone = (words: string) => {
    setChanging(null);
    setSaid(words);
    reread();
  };
  return (
    <>
      <PageHead title="Plans">
        <p role="status">{said || 'What plans cost and allow, for everybody on them.'}</p>
      </PageHead>
      <div className="stack">
        <Card title="Plans" flush>
          {error && !sheet && <ErrorBox fault={faultOfQuery(error)} onRetry={reread} />}
          {data && !sheet && !error && <NotYours what="Plans" />}
          {!error && (data === undefined || sheet) && (
            <Plans sheet={sheet} onChange={may ? setChanging : null} />
          )}
        </Card>
        {sheet && <Coming sheet={sheet} />}
      </div>
      {changing && sheet && (
        <ChangePlanDialog sheet={sheet} plan={changing} onClose={() => setChanging(null)} onDone={onDone} />
      )}
    </>
  );
}
