// The plan of an organization as staff see it, and the form that changes it.
import { useState } from 'react';
import {
  type PlanId,
  type PlanTime,
  SetOrgPlanDocument,
  type StaffOrgMoneyQuery,
} from '../../../api/gen/staff/graphql.ts';
import { useMutate } from '../../../api/send.ts';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { SelectField } from '../../../ui/field.tsx';
import { currencyText, spendText } from '../../../ui/format/money.ts';
import { dayText } from '../../../ui/format/time.ts';
import { Bone } from '../../../ui/states.tsx';
import { Status } from '../../../ui/status.tsx';
import { Time } from '../../../ui/time.tsx';
import { useMay } from '../../realm.ts';
import { DecideDialog } from '../decide-dialog.tsx';
import { NotYours } from './not-yours.tsx';

type Org = NonNullable<StaffOrgMoneyQuery['staffOrg']>;
type Plan = NonNullable<Org['plan']>;
const plans: readonly PlanId[] = ['PAYG', 'TEAM', 'SCALE', 'ENTERPRISE'];
const MONTHS = [0, 1, 2, 3, 6, 12, 24] as const;

const dayOf = (time: string) => dayText(time.slice(0, 10));

function feeText({ monthlyMinor }: Plan['plan']): string {
  if (monthlyMinor === null || monthlyMinor === undefined) return 'by agreement';
  return BigInt(monthlyMinor) === 0n ? 'no fee' : `${currencyText(monthlyMinor, 'USD')} a month`;
}

/** What happens when the month ends. */
function nextText(plan: Plan): string {
  const name = plan.nextPlanId?.toLowerCase() ?? plan.plan.id.toLowerCase();
  const fee = BigInt(plan.nextChargeMicro) === 0n ? 'no fee' : spendText(plan.nextChargeMicro);
  return `${dayOf(plan.periodEnd)}: ${name}, ${fee}`;
}

function Facts({ plan }: { plan: Plan }) {
  return (
    <dl className="topup-facts plan-facts num">
      <div>
        <dt>Fee</dt>
        <dd>{feeText(plan.plan)}</dd>
      </div>
      <div>
        <dt>Next month</dt>
        <dd>{nextText(plan)}</dd>
      </div>
      <div>
        <dt>Given</dt>
        <dd>{plan.freeUntil ? `no fee before ${dayOf(plan.freeUntil)}` : 'nothing'}</dd>
      </div>
      <div>
        <dt>Since</dt>
        <dd>
          <Time at={plan.since} />
        </dd>
      </div>
    </dl>
  );
}

function PlanFields({ plan }: { plan: Plan }) {
  return (
    <>
      <SelectField label="Plan" name="plan" defaultValue={plan.plan.id} data-autofocus>
        {plans.map((id) => (
          <option key={id} value={id}>
            {id.toLowerCase()}
          </option>
        ))}
      </SelectField>
      <SelectField
        label="From"
        name="applies"
        defaultValue="NOW"
        hint="At once, the rest of this month costs nothing and brings no credit."
      >
        <option value="NOW">now</option>
        <option value="MONTH_END">{dayOf(plan.periodEnd)}, when the month ends</option>
      </SelectField>
      <SelectField
        label="Months without fee"
        name="months"
        defaultValue="0"
        hint="After this month, of a plan that applies now. No credit comes with them."
      >
        {MONTHS.map((months) => (
          <option key={months} value={months}>
            {months === 0 ? 'none' : months}
          </option>
        ))}
      </SelectField>
    </>
  );
}

function PlanDialog(props: { org: Org; plan: Plan; onClose: () => void; onDone: () => void }) {
  const { org, plan, onClose, onDone } = props;
  const mutate = useMutate();
  const send = (form: FormData, reason: string) =>
    mutate(SetOrgPlanDocument, {
      orgId: org.id,
      planId: form.get('plan') as PlanId,
      applies: form.get('applies') as PlanTime,
      freeMonths: Number(form.get('months')),
      reason,
    });
  return (
    <DecideDialog
      title={`Plan of ${org.name}`}
      note={
        plan.grace
          ? `The fee of this month, ${spendText(plan.grace.feeMicro)}, is not paid. A plan that applies now ends that: it is not asked for any more.`
          : 'Its limits apply within a second. A mail says so to the billing address.'
      }
      words={{ label: 'Reason', hint: 'Stands in the audit log of the organization.', needed: true }}
      verb="Set the plan"
      send={send}
      onClose={onClose}
      onDone={onDone}
    >
      <PlanFields plan={plan} />
    </DecideDialog>
  );
}

export function PlanCard({ org, onChanged }: { org: Org | undefined; onChanged: () => void }) {
  const may = useMay('finance');
  const [open, setOpen] = useState(false);
  const plan = org?.plan;
  const button = may && plan && org?.status !== 'CLOSED' && (
    <Button onClick={() => setOpen(true)}>Change plan…</Button>
  );
  return (
    <Card title={plan ? `Plan ${plan.plan.name}` : 'Plan'} more={button || undefined} flush>
      {org === undefined && <Bone width={240} />}
      {org && !plan && <NotYours what="Plans" />}
      {plan?.grace && (
        <div className="note" role="status">
          <Status tone="warn">fee not paid</Status> {spendText(plan.grace.feeMicro)} could not be taken; the
          plan ends <Time at={plan.grace.until} />.
        </div>
      )}
      {plan && <Facts plan={plan} />}
      {open && org && plan && (
        <PlanDialog
          org={org}
          plan={plan}
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
