// Giving a top-up back: how much of what is unused, and then what the rail does with it.
import { type FormEvent, useState } from 'react';
import { RefundTopupDocument, type TopupRowFragment } from '../../api/gen/graphql.ts';
import { useSend } from '../../api/send.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogFoot } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { currencyText } from '../../ui/format/money.ts';
import { FormFault } from '../../ui/states.tsx';
import { minorOf, typedText } from './amount.ts';
import { type MadeRefund, refundSentence } from './topup-words.ts';

/** What is wrong with a typed amount; null when nothing is, or when it is left empty. */
function faultOf(text: string, minor: string | undefined, row: TopupRowFragment): string | null {
  if (text.trim() === '') return null;
  if (minor === undefined) return `An amount like ${typedText(row.amountMinor, row.currency)}.`;
  const most = currencyText(row.amountMinor, row.currency);
  return BigInt(minor) > BigInt(row.amountMinor) ? `At most the price, ${most}.` : null;
}

/** Asks for a refund of `minor`; of all that is unused where it is undefined. */
function useRefund({ id }: TopupRowFragment) {
  const { busy, fault, sendOnce } = useSend();
  const refund = async (minor: string | undefined, reason: string): Promise<MadeRefund | null> => {
    const given = { ...(minor && { amountMinor: minor }), ...(reason && { reason }) };
    const answer = await sendOnce(RefundTopupDocument, { id, ...given });
    return answer?.refund ?? null;
  };
  return { busy, fault, refund };
}

function Made({ refund, onClose }: { refund: MadeRefund; onClose: () => void }) {
  return (
    <Dialog title="Refund" size={440} onClose={onClose}>
      <p role="status">{refundSentence(refund)}</p>
      <div className="dialog-foot">
        <Button kind="primary" onClick={onClose} data-autofocus>
          Done
        </Button>
      </div>
    </Dialog>
  );
}

interface Props {
  readonly row: TopupRowFragment;
  readonly onRefunded: () => void;
  readonly onClose: () => void;
}

/** `onRefunded` is called as soon as the refund is there; the dialog stays and says what becomes of it. */
export function RefundDialog({ row, onRefunded, onClose }: Props) {
  const [text, setText] = useState('');
  const [reason, setReason] = useState('');
  const [made, setMade] = useState<MadeRefund | null>(null);
  const { busy, fault, refund } = useRefund(row);
  const minor = minorOf(text, row.currency);
  const amount_fault = faultOf(text, minor, row);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (amount_fault !== null || busy) return;
    const answer = await refund(minor, reason.trim());
    if (answer === null) return;
    setMade(answer);
    onRefunded();
  };
  if (made !== null) return <Made refund={made} onClose={onClose} />;
  return (
    <Dialog
      title="Refund unused credit"
      note="The credit goes at once; the rail sends the money, with its tax, to where it came from."
      onClose={onClose}
      size={440}
    >
      <form className="add-form" noValidate onSubmit={(event) => void submit(event)}>
        <TextField
          label={`Amount in ${row.currency}, without tax`}
          hint="Leave empty for all that is unused. Credit that was spent or given away cannot go back."
          inputMode="decimal"
          autoComplete="off"
          value={text}
          onChange={(event) => setText(event.target.value)}
          fault={amount_fault}
          data-autofocus
        />
        <TextField
          label="Reason"
          hint="It stands with the refund in the list."
          autoComplete="off"
          maxLength={500}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
        <FormFault fault={fault} />
        <DialogFoot onClose={onClose} kind="danger" busy={busy} disabled={amount_fault !== null}>
          {minor === undefined ? 'Refund what is unused' : `Refund ${currencyText(minor, row.currency)}`}
        </DialogFoot>
      </form>
    </Dialog>
  );
}
