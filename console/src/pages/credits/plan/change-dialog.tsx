// A change of plan before it is made: what it costs today and what follows.
import { ChangePlanDocument, type PlanFactsFragment } from '../../../api/gen/graphql.ts';
import { useSend } from '../../../api/send.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Money } from '../../../ui/money.tsx';
import { FormFault } from '../../../ui/states.tsx';
import { type Change, sentencesOf, verbOf } from './words.ts';

interface Props {
  readonly org_id: string;
  readonly present: PlanFactsFragment;
  readonly change: Change;
  /** The change was made, or is to be read anew. */
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** The exact amounts, where anything moves today. */
function Today({ change }: { change: Change }) {
  if (BigInt(change.feeMicro) === 0n) return null;
  return (
    <div className="quote num">
      <dl>
        <div>
          <dt>Fee, taken from credits today</dt>
          <dd>
            <Money micro={change.feeMicro} />
          </dd>
        </div>
        <div>
          <dt>Credit that comes with it</dt>
          <dd>
            <Money micro={change.includedMicro} />
          </dd>
        </div>
      </dl>
    </div>
  );
}

export function ChangeDialog({ org_id, present, change, onDone, onClose }: Props) {
  const { busy, fault, send } = useSend();
  const press = async () => {
    const input = { id: org_id, planId: change.plan.id };
    const made = await send(ChangePlanDocument, input);
    onDone();
    if (made !== null) onClose();
  };
  const title = change.kind === 'KEEP' ? `Stay on ${change.plan.name}` : `Change to ${change.plan.name}`;
  return (
    <Dialog title={title} onClose={onClose} size={480}>
      <div className="add-form">
        <Today change={change} />
        {sentencesOf(present, change).map((sentence) => (
          <p key={sentence} className="plan-sentence">
            {sentence}
          </p>
        ))}
        <FormFault fault={fault} />
        <div className="dialog-foot">
          <Button onClick={onClose}>Not now</Button>
          <Button kind="primary" busy={busy} data-autofocus onClick={() => void press()}>
            {verbOf(change)}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
