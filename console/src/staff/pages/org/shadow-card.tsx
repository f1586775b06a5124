// What the platform pays for an organization's shadows: the allowance of a day, what came of it, and the form that sets it.
import { useState } from 'react';
import { faultOfForm } from '../../../api/errors.ts';
import { SetShadowAllowanceDocument, type StaffOrgMoneyQuery } from '../../../api/gen/staff/graphql.ts';
import { useMutate } from '../../../api/send.ts';
import { microOf } from '../../../pages/keys/budget.ts';
import { dollarsOf } from '../../../pages/keys/changes.ts';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { TextField } from '../../../ui/field.tsx';
import { countText } from '../../../ui/format/numbers.ts';
import { Money } from '../../../ui/money.tsx';
import { Bone } from '../../../ui/states.tsx';
import { useMay } from '../../realm.ts';
import { DecideDialog } from '../decide-dialog.tsx';
import { NotYours } from './not-yours.tsx';

type Org = NonNullable<StaffOrgMoneyQuery['staffOrg']>;
type Allowance = NonNullable<Org['shadowAllowance']>;

/** What a day may cost at most, as `svcctl policy shadow-allowance` and the API have it. */
const MOST_MICRO = 1_000_000_000n;

/** The allowance that was typed: micro-USD, null for none; undefined when it is no amount that can be given. */
export function allowanceOf(text: string): string | null | undefined {
  if (text.trim() === '') return null;
  const micro = microOf(text);
  if (micro === undefined || BigInt(micro) < 1n || BigInt(micro) > MOST_MICRO) return undefined;
  return micro;
}

function Facts({ allowance }: { allowance: Allowance }) {
  const { dailyMicroUsd, todayMicroUsd, monthMicroUsd, monthRuns } = allowance;
  return (
    <dl className="topup-facts plan-facts num">
      <div>
        <dt>A day</dt>
        <dd>{dailyMicroUsd ? <Money micro={dailyMicroUsd} as="spend" /> : 'nothing'}</dd>
      </div>
      <div>
        <dt>Spent today</dt>
        <dd>
          <Money micro={todayMicroUsd} as="spend" />
        </dd>
      </div>
      <div>
        <dt>In thirty days</dt>
        <dd>
          <Money micro={monthMicroUsd} as="spend" />
        </dd>
      </div>
      <div>
        <dt>Copies in these days</dt>
        <dd>{countText(monthRuns)}</dd>
      </div>
    </dl>
  );
}

function AllowanceDialog(props: { org: Org; allowance: Allowance; onClose: () => void; onDone: () => void }) {
  const { org, allowance, onClose, onDone } = props;
  const mutate = useMutate();
  const send = async (form: FormData, reason: string) => {
    const dailyMicroUsd = allowanceOf(String(form.get('allowance') ?? ''));
    if (dailyMicroUsd === undefined) {
      const fault = faultOfForm('A day: dollars from 0.000001 to 1,000, or nothing.');
      return { ok: false, fault } as const;
    }
    return mutate(SetShadowAllowanceDocument, { orgId: org.id, dailyMicroUsd, reason });
  };
  return (
    <DecideDialog
      title={`Shadows of ${org.name}`}
      note="What the platform pays for copies of calls in a day (UTC). Without an allowance policies that ask for it are refused, and those that are active make no such copies."
      words={{ label: 'Reason', hint: 'Stands in the audit log of the organization.', needed: true }}
      verb="Set the allowance"
      send={send}
      onClose={onClose}
      onDone={onDone}
    >
      <TextField
        label="Dollars a day"
        name="allowance"
        inputMode="decimal"
        defaultValue={dollarsOf(allowance.dailyMicroUsd)}
        placeholder="none"
        autoComplete="off"
      />
    </DecideDialog>
  );
}

export function ShadowCard({ org, onChanged }: { org: Org | undefined; onChanged: () => void }) {
  const may = useMay('finance');
  const [open, setOpen] = useState(false);
  const allowance = org?.shadowAllowance;
  const button = may && allowance && org?.status !== 'CLOSED' && (
    <Button onClick={() => setOpen(true)}>Change allowance…</Button>
  );
  return (
    <Card title="Shadows that the platform pays for" more={button || undefined} flush>
      {org === undefined && <Bone width={240} />}
      {org && !allowance && <NotYours what="Allowances" />}
      {allowance && <Facts allowance={allowance} />}
      {open && org && allowance && (
        <AllowanceDialog
          {...{ org, allowance }}
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
