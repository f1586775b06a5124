// What legal texts say of whoever runs this, and whether acceptances are insisted on.
import type { FormEvent } from 'react';
import { SetLegalDocument, type StaffLegalQuery } from '../../../api/gen/staff/graphql.ts';
import { useSend } from '../../../api/send.ts';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { TextField } from '../../../ui/field.tsx';
import { FormFault } from '../../../ui/states.tsx';

type Setting = NonNullable<StaffLegalQuery['legalSetting']>;

export function SettingCard({ setting, onDone }: { setting: Setting; onDone: (said: string) => void }) {
  const { send, busy, fault } = useSend();
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string) => String(form.get(name) ?? '').trim();
    const [officer, dpo] = [text('officer'), text('dpo')];
    const done = await send(SetLegalDocument, {
      ...(officer === '' ? {} : { grievanceOfficer: officer }),
      ...(dpo === '' ? {} : { dpoEmail: dpo }),
      enforced: form.get('enforced') !== null,
    });
    if (done !== null) onDone('Saved.');
  };
  return (
    <Card title="What texts say, and whether they bind">
      <form className="settings-form" onSubmit={(event) => void submit(event)} noValidate>
        <TextField
          label="Grievance officer"
          name="officer"
          maxLength={200}
          defaultValue={setting.grievanceOfficer ?? ''}
        />
        <TextField
          label="Address for data protection"
          name="dpo"
          maxLength={254}
          defaultValue={setting.dpoEmail ?? ''}
        />
        <label className="check">
          <input type="checkbox" name="enforced" defaultChecked={setting.enforcedAt != null} />
          <span>
            Insist on acceptances{' '}
            <span className="faint">what waits for long stops purchases, new keys and calls</span>
          </span>
        </label>
        {setting.missing.length > 0 && <p className="sub">Not set: {setting.missing.join(', ')}.</p>}
        <FormFault fault={fault} />
        <div className="settings-foot">
          <Button type="submit" kind="primary" busy={busy}>
            Save
          </Button>
        </div>
      </form>
    </Card>
  );
}
