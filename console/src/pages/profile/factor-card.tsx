// The second factor: setting it up, new recovery codes, taking it away.
import { useState } from 'react';
import { disableFactor, newRecoveryCodes } from '../../api/account.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Status } from '../../ui/status.tsx';
import { CodeForm, EnrolDialog, RecoveryCodes } from './enrol-dialog.tsx';
import { useProof } from './proof.tsx';

type Doing = 'enrol' | 'codes' | 'disable';

/** New recovery codes, for a code of the factor in force. */
function CodesDialog({ onClose }: { onClose: () => void }) {
  const proof = useProof();
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  return (
    <Dialog
      title="New recovery codes"
      note="The codes that you have now stop working."
      size={460}
      onClose={onClose}
    >
      {codes === null ? (
        <CodeForm
          label="Code of your second factor"
          button="Make new codes"
          onClose={onClose}
          send={(code) => proof.run(() => newRecoveryCodes(code))}
          onDone={({ recovery_codes }) => setCodes(recovery_codes)}
        />
      ) : (
        <RecoveryCodes codes={codes} onClose={onClose} />
      )}
      {proof.dialog}
    </Dialog>
  );
}

function DisableDialog({ onClose }: { onClose: () => void }) {
  const proof = useProof();
  return (
    <Dialog
      title="Take the second factor away?"
      note="Your password alone will then be enough to sign in."
      size={460}
      onClose={onClose}
    >
      <CodeForm
        label="Code of your second factor"
        button="Take it away"
        danger
        onClose={onClose}
        send={(code) => proof.run(() => disableFactor(code))}
        onDone={onClose}
      />
      {proof.dialog}
    </Dialog>
  );
}

export function FactorCard({ has_factor }: { has_factor: boolean }) {
  const [doing, setDoing] = useState<Doing | null>(null);
  const close = () => setDoing(null);
  return (
    <Card
      title="Second factor"
      note={
        <Status tone={has_factor ? 'ok' : 'warn'} plain>
          {has_factor ? 'in force' : 'not set up'}
        </Status>
      }
    >
      <p className="soft profile-text">
        {has_factor
          ? 'Each sign-in asks for a code of your authenticator app, or for one of your recovery codes.'
          : 'With a code from an authenticator app a stolen password alone is not enough to sign in.'}
      </p>
      <div className="profile-foot">
        {has_factor ? (
          <>
            <Button onClick={() => setDoing('enrol')}>Use another app…</Button>
            <Button onClick={() => setDoing('codes')}>New recovery codes…</Button>
            <Button onClick={() => setDoing('disable')}>Take it away…</Button>
          </>
        ) : (
          <Button kind="primary" onClick={() => setDoing('enrol')}>
            Set up…
          </Button>
        )}
      </div>
      {doing === 'enrol' && <EnrolDialog has_factor={has_factor} onClose={close} />}
      {doing === 'codes' && <CodesDialog onClose={close} />}
      {doing === 'disable' && <DisableDialog onClose={close} />}
    </Card>
  );
}
