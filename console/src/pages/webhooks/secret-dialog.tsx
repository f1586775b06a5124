// The dialog in which a secret is made: a form until it is, then the secret, shown once and held in this dialog alone.
import { type ReactNode, useEffect, useRef } from 'react';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';

function Secret({ secret, note, onClose }: { secret: string; note: string; onClose: () => void }) {
  const copy = useRef<HTMLButtonElement>(null);
  useEffect(() => copy.current?.focus(), []);
  return (
    <>
      <div className="secret webhook-secret">
        <code>{secret}</code>
        <CopyButton ref={copy} text={secret} what="the secret" primary />
      </div>
      <p className="sub">{note}</p>
      <div className="dialog-foot">
        <Button onClick={onClose}>I have stored it</Button>
      </div>
    </>
  );
}

export function SecretDialog(props: {
  secret: string | null;
  title: string;
  note: string;
  /** What is said below the secret. */
  afterwards: string;
  onClose: () => void;
  children: ReactNode;
}) {
  const { secret, title, note, afterwards, onClose, children } = props;
  return (
    <Dialog
      title={secret === null ? title : 'Copy the secret now'}
      note={secret === null ? note : 'It is stored encrypted, and cannot be shown again.'}
      size={560}
      // A press outside or Escape does not lose what can be seen only once; the button below it closes.
      onClose={() => (secret === null ? onClose() : undefined)}
    >
      {secret === null ? children : <Secret secret={secret} note={afterwards} onClose={onClose} />}
    </Dialog>
  );
}
