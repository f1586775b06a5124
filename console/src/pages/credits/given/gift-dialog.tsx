// Making a gift: the amount, a note for oneself, and then the code, which is shown once.
import { type FormEvent, useState } from 'react';
import { CreateGiftDocument } from '../../../api/gen/graphql.ts';
import { useSend } from '../../../api/send.ts';
import { Button } from '../../../ui/button.tsx';
import { CopyButton } from '../../../ui/copy.tsx';
import { Dialog, DialogFoot } from '../../../ui/dialog.tsx';
import { TextField } from '../../../ui/field.tsx';
import { spendText } from '../../../ui/format/money.ts';
import { FormFault } from '../../../ui/states.tsx';
import { minorOf } from '../amount.ts';

const MIN_MINOR = 100n;
const MAX_MINOR = 50_000n;
const MICRO_OF_MINOR = 10_000n;

/** What is wrong with an amount of cents; null when nothing is. */
function faultOf(text: string, minor: string | undefined): string | null {
  if (text.trim() === '') return null;
  if (minor === undefined) return 'An amount like 25 or 25.50.';
  return BigInt(minor) < MIN_MINOR || BigInt(minor) > MAX_MINOR ? 'From $1 to $500.' : null;
}

function MadeGift({ code, amount, onClose }: { code: string; amount: string; onClose: () => void }) {
  const [copied, setCopied] = useState(false);
  const [asking, setAsking] = useState(false);
  const close = () => (copied || asking ? onClose() : setAsking(true));
  return (
    <Dialog
      title="Copy the code now"
      note={`Whoever has it can redeem ${spendText(amount)} within 90 days. It is not shown again.`}
      onClose={close}
      size={440}
    >
      <div className="secret gift-code">
        <code>{code}</code>
        <CopyButton text={code} what="the code" primary onCopied={() => setCopied(true)} />
      </div>
      {asking && (
        <p role="alert" className="soft">
          The code can’t be shown again. If it is lost, cancel the gift; its credit comes back.
        </p>
      )}
      <div className="dialog-foot">
        <Button onClick={close}>{asking ? 'Close all the same' : 'Close'}</Button>
      </div>
    </Dialog>
  );
}

/** Makes the gift of an amount of cents; null where it was refused, which `fault` then says. */
function useMake() {
  const { busy, fault, sendOnce } = useSend();
  const make = async (minor: string, note: string) => {
    const amount = String(BigInt(minor) * MICRO_OF_MINOR);
    const answer = await sendOnce(CreateGiftDocument, { amountMicroUsd: amount, note: note.trim() });
    return answer && { code: answer.code, amount };
  };
  return { busy, fault, make };
}

/** `onMade` is called as soon as the gift is there; the dialog stays until its code was seen. */
export function GiftDialog({ onMade, onClose }: { onMade: () => void; onClose: () => void }) {
  const [text, setText] = useState('10');
  const [note, setNote] = useState('');
  const [made, setMade] = useState<{ code: string; amount: string } | null>(null);
  const { busy, fault, make } = useMake();
  const minor = minorOf(text, 'USD');
  const amount_fault = faultOf(text, minor);
  if (made !== null) return <MadeGift {...made} onClose={onClose} />;
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (minor === undefined || amount_fault !== null || busy) return;
    const gift = await make(minor, note);
    if (gift === null) return;
    setMade(gift);
    onMade();
  };
  return (
    <Dialog
      title="Make a gift"
      note="It is taken out of credit that was paid more than seven days ago."
      onClose={onClose}
      size={440}
    >
      <form className="add-form" noValidate onSubmit={(event) => void submit(event)}>
        <TextField
          label="Amount in USD"
          inputMode="decimal"
          autoComplete="off"
          value={text}
          onChange={(event) => setText(event.target.value)}
          fault={amount_fault}
          data-autofocus
        />
        <TextField
          label="Note"
          hint="For your list alone."
          autoComplete="off"
          maxLength={500}
          value={note}
          onChange={(event) => setNote(event.target.value)}
        />
        <FormFault fault={fault} />
        <DialogFoot onClose={onClose} busy={busy} disabled={minor === undefined || amount_fault !== null}>
          Make the gift
        </DialogFoot>
      </form>
    </Dialog>
  );
}
