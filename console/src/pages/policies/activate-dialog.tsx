// Activating a version: for which scope, and what that changes.
import { type FormEvent, useState } from 'react';
import { useQuery } from 'urql';
import { ActivatePolicyDocument, PoliciesDocument } from '../../api/gen/tools/graphql.ts';
import { useSend } from '../../api/send.ts';
import { useOrg } from '../../app/org.tsx';
import { Dialog, DialogFoot } from '../../ui/dialog.tsx';
import { SelectField } from '../../ui/field.tsx';
import { FormFault } from '../../ui/states.tsx';
import type { PolicyShown } from './policy-page.tsx';
import { changeText } from './words.ts';

/** The organisation as a choice; an id of a project is never empty. */
const WHOLE = '';

interface Choice {
  readonly id: string;
  readonly name: string;
}

/** The scopes that can be chosen. The sandbox rules test projects alone: everything else routes live calls too. */
function useChoices({ projects }: PolicyShown): readonly Choice[] {
  const { env, environment, name } = useOrg();
  const own = projects.filter((each) => each.environment === environment && each.status === 'ACTIVE');
  return env === 'sandbox' ? own : [{ id: WHOLE, name: `${name}, the whole organisation` }, ...own];
}

export function ActivateDialog(props: { shown: PolicyShown; version: number; onClose: () => void }) {
  const { shown, version, onClose } = props;
  const { name } = shown.row;
  const choices = useChoices(shown);
  const [scope, setScope] = useState(choices[0]?.id);
  const [{ data }] = useQuery({ query: PoliciesDocument, requestPolicy: 'network-only' });
  const { busy, fault, send } = useSend();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (scope === undefined) return;
    const input = { name, version, scope: { projectId: scope === WHOLE ? null : scope } };
    const done = await send(ActivatePolicyDocument, input);
    if (done === null) return;
    shown.reread();
    onClose();
  };
  return (
    <Dialog title={`Activate version ${version} of ${name}`} onClose={onClose} size={480}>
      <form className="policy-form" onSubmit={(event) => void submit(event)}>
        {scope === undefined ? (
          <p className="soft">
            There is no sandbox project. A policy of the organisation routes live calls too: activate it in
            Live.
          </p>
        ) : (
          <SelectField
            label="Scope"
            value={scope}
            onChange={({ target }) => setScope(target.value)}
            data-autofocus
          >
            {choices.map((choice) => (
              <option key={choice.id} value={choice.id}>
                {choice.name}
              </option>
            ))}
          </SelectField>
        )}
        <p className="soft policy-change" role="status">
          {scope !== undefined && data?.policies
            ? changeText({ name, version, project_id: scope === WHOLE ? null : scope }, data.policies)
            : ''}
        </p>
        <FormFault fault={fault} />
        <DialogFoot onClose={onClose} busy={busy} disabled={scope === undefined}>
          Activate
        </DialogFoot>
      </form>
    </Dialog>
  );
}
