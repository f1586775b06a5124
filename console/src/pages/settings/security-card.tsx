// The rules for everybody's sign-in, and when keys end that nobody gave an end.
import { type FormEvent, useState } from 'react';
import { type OrgSettingsFragment, UpdateOrgSettingsDocument } from '../../api/gen/graphql.ts';
import { useSend } from '../../api/send.ts';
import { Card } from '../../ui/card.tsx';
import { AreaField, TextField } from '../../ui/field.tsx';
import { FormFault } from '../../ui/states.tsx';
import { SaveFoot } from './save-foot.tsx';
import { readSecurity, type SecurityFaults } from './security.ts';

type Security = OrgSettingsFragment['settings']['security'];

function useSecurity(id: string) {
  const { send, busy, fault } = useSend();
  const [faults, setFaults] = useState<SecurityFaults>({});
  const [said, setSaid] = useState('');
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string) => String(form.get(name) ?? '');
    const read = readSecurity({
      ...{ require_2fa: form.get('factor') !== null, sso_counts: form.get('sso') !== null },
      ...{ session_hours: text('hours'), networks: text('networks'), key_days: text('days') },
    });
    setFaults(read.faults);
    setSaid('');
    const { asked } = read;
    if (asked === null) return;
    const input = { id, settings: { security: asked } };
    const done = await send(UpdateOrgSettingsDocument, input);
    if (done !== null) setSaid('Saved. It counts from the next request of everybody.');
  };
  return { submit, busy, fault, faults, said };
}

function Factors({ security, locked }: { security: Security; locked: boolean }) {
  return (
    <>
      <label className="check">
        <input type="checkbox" name="factor" defaultChecked={security.require2fa} disabled={locked} />
        <span>
          Everybody needs a second factor <span className="faint">whoever has none can only set one up</span>
        </span>
      </label>
      <label className="check">
        <input type="checkbox" name="sso" defaultChecked={security.ssoCountsAs2fa} disabled={locked} />
        <span>
          Single sign-on counts as one{' '}
          <span className="faint">otherwise only where the provider says that one was given</span>
        </span>
      </label>
    </>
  );
}

export function SecurityCard({ org, locked }: { org: OrgSettingsFragment; locked: boolean }) {
  const { submit, busy, fault, faults, said } = useSecurity(org.id);
  const { security } = org.settings;
  return (
    <Card title="Security" note="for everybody in this organisation">
      <form className="settings-form" onSubmit={(event) => void submit(event)} noValidate>
        <Factors security={security} locked={locked} />
        <TextField
          label="Sessions end after, hours"
          name="hours"
          inputMode="numeric"
          defaultValue={security.sessionHours}
          readOnly={locked}
          fault={faults.session_hours ?? null}
          hint="Counted from the sign-in; open sessions that are older end at once."
        />
        <AreaField
          label="Networks that sessions may come from"
          name="networks"
          rows={3}
          spellCheck={false}
          defaultValue={security.consoleIpAllow.join('\n')}
          readOnly={locked}
          hint="One a line, such as 203.0.113.0/24. Empty: all. Keys are not bound to them."
        />
        <TextField
          label="Keys without an end expire after, days"
          name="days"
          inputMode="numeric"
          defaultValue={security.keyDefaultExpiryDays}
          readOnly={locked}
          fault={faults.key_days ?? null}
          hint="0: they do not expire by themselves. Counts for keys made from now on."
        />
        <FormFault fault={fault} />
        {!locked && <SaveFoot verb="Save the rules" busy={busy} said={said} />}
      </form>
    </Card>
  );
}
