// Sets what an organization may use beyond its plan.
import { faultOfForm } from '../../../api/errors.ts';
import { OverrideLimitsDocument, type StaffOrgMoneyQuery } from '../../../api/gen/staff/graphql.ts';
import { useMutate } from '../../../api/send.ts';
import { limitOf } from '../../../pages/budgets/limits.ts';
import { TextField } from '../../../ui/field.tsx';
import { DecideDialog } from '../decide-dialog.tsx';
import { limitLabels, limitNames } from '../limit-names.ts';

type Org = NonNullable<StaffOrgMoneyQuery['staffOrg']>;

export function LimitsDialog(props: { org: Org; onClose: () => void; onDone: () => void }) {
  const { org, onClose, onDone } = props;
  const mutate = useMutate();
  const send = async (form: FormData, reason: string) => {
    const typed = limitNames.map((name) => [name, limitOf(String(form.get(name) ?? ''))] as const);
    const wrong = typed.find(([, value]) => value === undefined);
    if (wrong !== undefined) {
      const fault = faultOfForm(`${limitLabels[wrong[0]]}: a whole number from 1 on, or nothing.`);
      return { ok: false, fault } as const;
    }
    return mutate(OverrideLimitsDocument, { orgId: org.id, reason, ...Object.fromEntries(typed) });
  };
  return (
    <DecideDialog
      title={`Limits of ${org.name}`}
      note="What is granted beyond the plan, for the organization as a whole and as the most of each key. Empty: as the plan says. It holds within a second."
      words={{ label: 'Reason', hint: 'Stands in the audit log of the organization.', needed: true }}
      verb="Set the limits"
      send={send}
      onClose={onClose}
      onDone={onDone}
    >
      {limitNames.map((name) => (
        <TextField
          key={name}
          label={limitLabels[name]}
          name={name}
          inputMode="numeric"
          defaultValue={org.budgets?.overrides[name] ?? ''}
          placeholder={String(org.budgets?.limits[name] ?? 'no limit')}
          autoComplete="off"
        />
      ))}
    </DecideDialog>
  );
}
